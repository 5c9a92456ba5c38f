import type { Context } from '../context.ts';
import { createReporter } from '../render/create-reporter.ts';
import type { OutputOptions } from '../render/output.ts';
import type { Reporter } from '../render/reporter.ts';
import { awaitEnd, type FollowOptions, type FollowPorts, type StatusEnding } from '../runs/await-end.ts';
import { defaults } from '../runs/defaults.ts';
import { type Ending, follow } from '../runs/follow.ts';
import type { FollowEvent } from '../runs/follow-event.ts';
import { createPace, jitter, type Pace } from '../runs/pace.ts';
import { isFinal, type Run, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { Connection } from './connect.ts';
import type { KnownRun } from './find-run.ts';
import { runOnFinal } from './on-final.ts';

export interface FollowFlags extends OutputOptions {
  intervalMs?: number;
  /** 0 for ever. */
  timeoutMs?: number;
  giveUpAfterMs?: number;
  /** A shell command. */
  onFinal?: string;
  bell?: boolean;
  /** How many runs were named together; 1. */
  runs?: number;
}

/** The limit of `--timeout` in milliseconds, for watching a run or waiting for a free slot; 0 means no limit. */
export function timeoutMsOf({ timeoutMs = defaults.timeoutMs }: { timeoutMs?: number }): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}

/**
 * Follows one run to its end, or until `leave` aborts before that: tells the reporter, journals what it learns, runs
 * `--on-final`.
 */
export async function followRun(
  { run, triggeredAtMs, known }: KnownRun & { known?: Execution },
  flags: FollowFlags,
  connection: Connection,
  { observe }: Pick<Reporter, 'observe'>,
  context: Context,
  leave?: AbortSignal,
): Promise<Ending> {
  const options = { ...optionsOf(run.target, flags, connection, context), triggeredAtMs, known };
  const tell = (event: FollowEvent) => {
    if (event.event === 'status' && event.changed)
      connection.journal.recordStatus(connection.baseUrl, run, event.execution);
    observe(event);
  };
  const ending = await follow(run, options, portsOf(run, connection, tell, context), leave);
  if (flags.onFinal && ending.execution && isFinal(run.target, ending.execution.status)) {
    await runOnFinal(flags.onFinal, ending, context);
  }
  return ending;
}

/**
 * Waits until a run that blocks ours is finished: progress is reported, the outcome is not. Only its final status is
 * journalled, because while it is running an unresolved trigger may still turn out to have started it.
 */
export async function awaitOther(
  run: Run,
  flags: FollowFlags,
  connection: Connection,
  { observe }: Pick<Reporter, 'observe'>,
  context: Context,
): Promise<StatusEnding> {
  const talk = (event: FollowEvent) => {
    const isEnd = event.event === 'status' && isFinal(run.target, event.execution.status);
    if (!isEnd && event.event !== 'problem') observe({ ...event, isOther: true });
  };
  const known = { executionId: run.executionId, status: 'RUNNING', document: {} };
  const options = { ...optionsOf(run.target, flags, connection, context), known };
  const ending = await awaitEnd(run, options, portsOf(run, connection, talk, context));
  if (!ending.problem && ending.execution) connection.journal.recordStatus(connection.baseUrl, run, ending.execution);
  return ending;
}

function optionsOf(target: Target, flags: FollowFlags, connection: Connection, { random }: Context): FollowOptions {
  return {
    pace: paceOf(target, flags, connection, random),
    isFixed: flags.intervalMs !== undefined,
    timeoutMs: timeoutMsOf(flags),
    giveUpAfterMs: flags.giveUpAfterMs ?? defaults.watchGiveUpAfterMs,
  };
}

function portsOf(
  run: Run,
  { service, budget, tempo, debug }: Connection,
  tell: Reporter['observe'],
  { clock, random, signal }: Context,
): FollowPorts {
  return {
    service,
    budget,
    tempo,
    clock,
    random,
    signal,
    observe(event) {
      if (event.event === 'waiting') debug?.(`next look at ${run.executionId} in ${Math.round(event.nextLookMs)} ms`);
      if (event.event === 'poll_failed') debug?.(`${event.fault.kind}: ${event.fault.message}`);
      tell(event);
    },
  };
}

function paceOf(
  target: Target,
  { intervalMs, runs }: FollowFlags,
  { history }: Connection,
  random: () => number,
): Pace {
  if (intervalMs !== undefined) return { gapMs: () => intervalMs };
  const pace = createPace({ durationsMs: history(target), runs });
  return { gapMs: (ageMs) => jitter(pace.gapMs(ageMs), random) };
}

/** Who tells of the runs while they are followed. */
export function reporterFor(
  { runs = 1, ...flags }: OutputOptions & Pick<FollowFlags, 'bell' | 'runs'>,
  { history }: Connection,
  context: Context,
): Promise<Reporter> {
  return createReporter({ ...flags, runs, history }, context);
}
