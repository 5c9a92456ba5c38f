import type { Connection } from '../connection/connection.ts';
import { argumentOf } from '../connection/run-to-poll.ts';
import { type ExitName, exitCodeOf, exitNameOfRun, isInterruptName } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import { exitNameOfWatch } from '../problems/watch-problems.ts';
import { type DocumentFacts, documentOf } from '../render/document.ts';
import type { JsonObject } from '../runs/json.ts';
import type { Run, Target } from '../runs/run.ts';
import type { Started } from '../triggering/start-evidence.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import {
  type EarlierRun,
  executionOf,
  finishedExecutionOf,
  outcomeOfStart,
  type StartResult,
  startedOf,
  type TriggerOutcome,
  triggerFactsOf,
} from './start-result.ts';

/** How a run was followed, and the problem with which the watch ended, if any. */
export interface Followed {
  watched: WatchResult;
  problem?: Problem;
  /** The service no longer knows the run, which must have finished, and only `watch --all` asked for it. */
  isForgotten?: boolean;
  trigger?: TriggerOutcome;
}

/** What a command did with one of its arguments. */
export interface ArgumentResult {
  target: Target;
  run?: Run;
  watched?: WatchResult; // if the run was followed
  problem?: Problem;
  started?: Started; // whether the command started a run for it, if it triggers
  exitName: ExitName; // how a command with only this argument would exit
  replayedFailure?: string; // says that the run is an older one with the same idempotency key
  whenNoStatus: string; // shown instead of a status
  document(): JsonObject; // with the warnings so far
}

export const isOk = ({ exitName }: ArgumentResult): boolean => exitCodeOf(exitName) === 0;

export function resultOfFollow(followed: Followed, connection: Connection): ArgumentResult {
  const { watched, problem, trigger } = followed;
  const { run } = watched;
  const { started } = trigger ?? {};
  const exitName = exitNameOfFollow(followed);
  const document = () => documentOf(factsOfFollowed(followed, connection), connection.context);
  return { target: run.target, run, watched, problem, started, exitName, whenNoStatus: 'not polled', document };
}

const exitNameOfFollow = ({ watched, problem, isForgotten }: Followed): ExitName =>
  isForgotten ? 'ok' : exitNameOfWatch(watched, problem);

export function factsOfFollowed(followed: Followed, connection: Connection): DocumentFacts {
  const { watched, problem, trigger } = followed;
  return {
    ...watched,
    problem,
    outcome: exitNameOfWatch(watched, problem),
    exitName: exitNameOfFollow(followed),
    trigger: trigger && triggerFactsOf(trigger),
    argument: argumentOf(watched.run, connection),
    lastConfirmed: watched.kind === 'finished' ? undefined : watched,
  };
}

export function resultOfStart(
  start: StartResult,
  isSafeToRepeat: () => boolean,
  connection: Connection,
): ArgumentResult {
  const run = 'run' in start ? start.run : undefined;
  const target = 'run' in start ? start.run.target : start.target;
  const problem = problemOf(start);
  const exitName = problem?.facts.name ?? (start.kind === 'earlier' ? exitNameOfEarlier(start) : 'ok');
  const document = () =>
    documentOf(
      {
        run,
        target,
        problem,
        outcome: exitName,
        execution: executionOf(start),
        trigger: triggerFactsOf(outcomeOfStart(start, isSafeToRepeat)),
        argument: run && argumentOf(run, connection),
        activeExecutionId: start.kind === 'skipped' ? start.activeId : undefined,
      },
      connection.context,
    );
  return { target, run, problem, started: startedOf(start), exitName, whenNoStatus: withoutStatus(start), document };
}

function problemOf(start: StartResult): Problem | undefined {
  if (start.kind === 'failed') return start.problem;
  // A failed poll doesn't matter, because the run is known anyway. Only a signal ends the command.
  const problem = 'polled' in start && start.polled?.kind === 'failed' ? start.polled.problem : undefined;
  return problem && isInterruptName(problem.facts.name) ? problem : undefined;
}

/** How the run that was found ended. A repeated trigger must not turn a failed run into a success. */
function exitNameOfEarlier(earlier: EarlierRun): ExitName {
  const { status } = finishedExecutionOf(earlier) ?? {};
  return status === undefined ? 'ok' : exitNameOfRun(earlier.run, status);
}

function withoutStatus(start: StartResult): string {
  if (start.kind === 'skipped') return 'skipped';
  if (start.kind !== 'failed') return 'not polled';
  return start.problem.facts.started === 'unknown' ? 'in doubt' : 'not started';
}
