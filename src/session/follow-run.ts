import type { Problem } from '../problems/problem.ts';
import { watchProblem } from '../problems/watch-problems.ts';
import type { OutputOptions } from '../render/output.ts';
import { defaults } from '../runs/defaults.ts';
import type { Reporter, RunEvent } from '../runs/events.ts';
import { createPollSchedule, jitter, type PollSchedule } from '../runs/poll-schedule.ts';
import { pollUntilFinal, type WatchOptions, type WatchPorts } from '../runs/poll-until-final.ts';
import { isFinal, isKnownStatus, type Run, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { watch } from '../runs/watch.ts';
import type { WatchResult } from '../runs/watch-result.ts';
import type { KnownRun } from './find-run.ts';
import { runOnFinal } from './on-final.ts';
import type { Session } from './session.ts';

export interface FollowFlags extends OutputOptions {
  intervalMs?: number;
  /** 0 for ever. */
  timeoutMs?: number;
  giveUpAfterMs?: number;
  /** A shell command. */
  onFinal?: string;
  bell?: boolean;
}

/** The reason of the signal that ends the watches of other runs after one did not complete. */
export const failFastReason = '--fail-fast';

/** How a run was followed: `problem` where the watch ended with one. */
export interface Followed {
  watched: WatchResult;
  problem?: Problem;
}

export interface FollowOptions {
  /** Ends the watch, too, as long as the run has not finished. */
  leave?: AbortSignal;
  /** This command has started a run, which a problem of the watch does not undo. */
  hasStarted?: boolean;
}

/** The limit of `--timeout` in milliseconds, for watching a run or waiting for a free slot; 0 means no limit. */
export function timeoutMsOf({ timeoutMs = defaults.timeoutMs }: { timeoutMs?: number }): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}

/** Follows one run until it has finished: reports events, journals what it learns, runs `--on-final`. */
export async function followRun(
  { run, triggeredAtMs, known }: KnownRun & { known?: Execution },
  flags: FollowFlags,
  session: Session,
  { leave, hasStarted }: FollowOptions = {},
): Promise<Followed> {
  const { journal, baseUrl, reporter, context } = session;
  const observe = (event: RunEvent) => {
    if (event.event === 'status' && event.changed) journal.recordStatus(baseUrl, run, event.execution);
    reporter.observe(event);
    if (event.event === 'status' && event.changed) warnOfUnknownStatus(run, event.execution.status, reporter);
  };
  const options = { ...optionsOf(run.target, flags, session), triggeredAtMs, known };
  const watched = await watch(run, options, portsOf(run, flags, session, observe), leave);
  // A run that is left because of another has no problem of its own.
  if (isLeft(watched)) return { watched };
  const found = watchProblem(watched, context.signal);
  const problem = hasStarted ? found?.with({ started: 'yes' }) : found;
  if (flags.onFinal && watched.kind === 'finished') await runOnFinal(flags.onFinal, { watched, problem }, context);
  return { watched, problem };
}

function warnOfUnknownStatus(run: Run, status: string, reporter: Reporter): void {
  if (run.target.family === 'agent' || isKnownStatus(status)) return;
  const message = `${status} is a state this version does not know: following on`;
  reporter.observe({ event: 'warning', name: 'unknown_status', message, run });
}

/** Was the run left by `--fail-fast`? */
export function isLeft(watched: WatchResult): boolean {
  return watched.kind === 'interrupted' && watched.reason === failFastReason;
}

/**
 * Waits until a run that blocks ours is finished: progress is reported, the outcome is not. Only its final status is
 * journalled, because while it is running an unresolved trigger may still turn out to have started it.
 */
export async function waitForOther(run: Run, flags: FollowFlags, session: Session): Promise<WatchResult> {
  const { journal, baseUrl, reporter } = session;
  const observe = (event: RunEvent) => {
    const isEnd = event.event === 'status' && isFinal(run.target, event.execution.status);
    if (isEnd) return;
    reporter.observe({
      ...(event.event === 'waiting' && event.run ? { ...event, for: 'slot' } : event),
      isOther: true,
    });
  };
  const known = { executionId: run.executionId, status: 'RUNNING', document: {} };
  const options = { ...optionsOf(run.target, flags, session), known };
  const watched = await pollUntilFinal(run, options, portsOf(run, flags, session, observe));
  if (watched.kind === 'finished') journal.recordStatus(baseUrl, run, watched.execution);
  return watched;
}

function optionsOf(target: Target, flags: FollowFlags, session: Session): WatchOptions {
  return {
    schedule: scheduleOf(target, flags, session),
    isFixed: flags.intervalMs !== undefined,
    timeoutMs: timeoutMsOf(flags),
  };
}

function portsOf(
  run: Run,
  { giveUpAfterMs = defaults.watchGiveUpAfterMs }: FollowFlags,
  { service, limiter, debug, context }: Session,
  observe: (event: RunEvent) => void,
): WatchPorts {
  const { clock, random, signal } = context;
  return {
    service,
    limiter,
    clock,
    random,
    signal,
    giveUpAfterMs,
    observe(event) {
      if (event.event === 'waiting') debug?.(`next poll of ${run.executionId} in ${Math.round(event.nextMs)} ms`);
      if (event.event === 'attempt_failed') debug?.(`${event.fault.kind}: ${event.fault.message}`);
      observe(event);
    },
  };
}

function scheduleOf(target: Target, { intervalMs }: FollowFlags, { history, runs, context }: Session): PollSchedule {
  if (intervalMs !== undefined) return { gapMs: () => intervalMs };
  const schedule = createPollSchedule({ durationsMs: history(target), runs });
  return { gapMs: (ageMs) => jitter(schedule.gapMs(ageMs), context.random) };
}
