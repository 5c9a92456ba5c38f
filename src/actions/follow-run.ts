import { retryPortsOf } from '../connection/connection.ts';
import { argumentOf } from '../connection/followable.ts';
import { hasJournal } from '../connection/open-journal.ts';
import { isNowForgotten, recordedErrorOf } from '../connection/poll-once.ts';
import type { ArgumentOutcome, Start } from '../problems/outcome.ts';
import { exitNameOfWatch, watchFailedProblem, watchProblem, watchWarning } from '../problems/watch-problems.ts';
import type { Reporter, RunEvent } from '../run/events.ts';
import type { Run } from '../run/run.ts';
import { isKnownStatus } from '../run/statuses.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import { jitter, pollGapMs } from '../watching/poll-gap.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import {
  type Followable,
  pollUntilFinal,
  type WatchOptions,
  type WatchPorts,
  watchToEnd,
} from '../watching/watch-run.ts';
import { documentIn, type Following } from './following.ts';
import type { Plan } from './plan.ts';

/** The outcome of a run that was followed. */
export interface FollowedRun extends ArgumentOutcome {
  run: Run;
  watched: WatchResult;
}

const minuteMs = 60_000;
const roundMs = 10_000;

/** Follows one run until it has finished: reports events, records statuses, runs `--on-final`. */
export async function followRun(
  followable: Followable,
  plan: Plan,
  following: Following,
  start?: Start,
): Promise<FollowedRun> {
  const { journal, baseUrl, context } = following;
  const { run } = followable;
  const { reporter } = context;
  const observe = (event: RunEvent) => {
    if (event.event === 'status' && event.changed) journal.recordStatus(baseUrl, run, event.execution);
    reporter.observe(event);
    if (event.event === 'status' && event.changed) warnOfUnknownStatus(run, event.execution.status, reporter);
  };
  // The response to the trigger shows that the settings are right.
  if (followable.known) following.watches.answered();
  const options = pollingOf(plan, following);
  const watched = await watchToEnd(followable, options, portsOf(run, plan, following, observe));
  const isForgotten = watched.kind === 'refused' && (await isNowForgotten(run, watched.fault, following));
  const argument = argumentOf(run, following);
  const found = watchProblem(watched, context.signal, { argument, hasJournal: hasJournal(context), isForgotten });
  const problem = found && start ? watchFailedProblem(found) : found;
  const ended = exitNameOfWatch(watched, problem);
  const outcome = { run, target: run.target, start, watched, execution: watched.execution, problem, ended };
  if (watched.kind !== 'finished') return { ...outcome, lastConfirmed: watched };
  if (watched.result?.error)
    journal.recordStatus(baseUrl, run, watched.execution, recordedErrorOf(watched.result, context));
  const warning = watchWarning(watched);
  if (warning) reporter.observe({ event: 'warning', ...warning, run });
  const finished = { ...outcome, result: watched.result };
  following.hooks.start(run, documentIn(following, finished));
  return finished;
}

function warnOfUnknownStatus(run: Run, status: string, reporter: Reporter): void {
  if (isKnownStatus(status)) return;
  const message = `${status} is a status this version doesn't know; still watching`;
  reporter.observe({ event: 'warning', name: 'unknown_status', message, run });
}

/** Reports a wait that the service asked for, even with `--quiet`, because nothing else happens meanwhile. */
function warnOfLongWait(run: Run, event: RunEvent, reporter: Reporter): void {
  if (event.event !== 'waiting' || !('askedUntilMs' in event)) return;
  const { askedUntilMs, nextMs } = event;
  if (askedUntilMs === undefined || nextMs <= minuteMs) return;
  // Runs that get the same wait together are reported together.
  const rounded = (ms: number) => Math.ceil(ms / roundMs) * roundMs;
  const [wait, at] = [formatDuration(rounded(nextMs)), localTime(rounded(askedUntilMs))];
  const message = `the service asked for a wait; polling resumes in ${wait}, at ${at}`;
  reporter.observe({ event: 'warning', name: 'retry_after', message, run });
}

/** Waits for another run to finish. Records only its final status: an unresolved trigger may have started it. */
export async function waitForOther(followable: Followable, plan: Plan, following: Following): Promise<WatchResult> {
  const { run } = followable;
  const { journal, baseUrl, context } = following;
  const observe = (event: RunEvent) => {
    const isEnd = event.event === 'status' && event.execution.isFinal;
    if (isEnd) return;
    context.reporter.observe({
      ...(event.event === 'waiting' && event.run ? { ...event, for: 'slot' } : event),
      isActiveRun: true,
    });
  };
  const known = { executionId: run.executionId, status: 'RUNNING', isFinal: false, document: {} };
  const options = pollingOf(plan, following);
  const watched = await pollUntilFinal({ ...followable, known }, options, portsOf(run, plan, following, observe));
  if (watched.kind === 'finished') journal.recordStatus(baseUrl, run, watched.execution);
  return watched;
}

function portsOf(
  run: Run,
  { giveUpAfterMs }: Plan,
  following: Following,
  observe: (event: RunEvent) => void,
): WatchPorts {
  const { service, watches, renewApiKey, debug, context } = following;
  return {
    ...retryPortsOf(following, giveUpAfterMs),
    service,
    group: watches,
    renewApiKey,
    observe(event) {
      warnOfLongWait(run, event, context.reporter);
      if (event.event === 'waiting') debug?.(`next poll of ${run.executionId} in ${Math.round(event.nextMs)} ms`);
      if (event.event === 'attempt_failed') debug?.(`${event.fault.kind}: ${event.fault.message}`);
      observe(event);
    },
  };
}

function pollingOf({ intervalMs }: Plan, { context }: Following): WatchOptions {
  const gapMs = (ageMs: number) => intervalMs ?? jitter(pollGapMs(ageMs), context.random);
  return { gapMs, isFixed: intervalMs !== undefined };
}
