import { type ExitName, exitCodeOf, exitNameOfRun, isInterruptName } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import { exitNameOfWatch } from '../problems/watch-problems.ts';
import { type DocumentFacts, documentOf } from '../render/document.ts';
import type { RunEvent, RunOrTarget } from '../runs/events.ts';
import type { JsonObject } from '../runs/json.ts';
import { isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { argumentOf } from '../session/known-run.ts';
import type { Session } from '../session/session.ts';
import type { FinishedWatch, WatchResult } from '../watching/watch-result.ts';
import {
  type FoundRun,
  outcomeOfStart,
  type StartResult,
  type TriggerOutcome,
  triggerFactsOf,
} from './start-result.ts';

/** With `--fail-fast`, the abort reason that ends the watches of other runs after one did not complete. */
export const failFastReason = '--fail-fast';

/** How a run was followed, and the problem with which the watch ended, if any. */
export interface Followed {
  watched: WatchResult;
  problem?: Problem;
  /** The service no longer knows the run, which has surely finished, and only `watch --all` asked for it. */
  isForgotten?: boolean;
  trigger?: TriggerOutcome;
}

/** Was this run left unfinished by `--fail-fast`? */
export function isLeft(watched: WatchResult): boolean {
  return watched.kind === 'interrupted' && watched.reason === failFastReason;
}

export function factsOfFollowed({ watched, problem, trigger, isForgotten }: Followed, session: Session): DocumentFacts {
  const left = isLeft(watched);
  return {
    ...watched,
    problem,
    outcome: left ? 'still_running' : exitNameOfWatch(watched, problem),
    exitName: left || isForgotten ? 'ok' : undefined,
    trigger: trigger && triggerFactsOf(trigger, session),
    argument: argumentOf(watched.run, session),
    lastConfirmed: watched.kind === 'finished' ? undefined : watched,
  };
}

/** What a command did with one of its arguments. */
export type ArgumentResult = StartResult | FollowedArgument;

export type FollowedArgument = Followed & { kind: 'followed' };

export function targetOfResult(result: ArgumentResult): Target {
  const { run, target } = aboutOfResult(result);
  return target ?? run.target;
}

export function problemOf(result: ArgumentResult): Problem | undefined {
  if (result.kind === 'followed' || result.kind === 'failed') return result.problem;
  // A failed poll is no problem, as the run is known all the same; only a signal of the user ends the command.
  const problem = 'polled' in result && result.polled?.kind === 'failed' ? result.polled.problem : undefined;
  return problem && isInterruptName(problem.facts.name) ? problem : undefined;
}

export function finishedWatchOf(result: ArgumentResult): FinishedWatch | undefined {
  return result.kind === 'followed' && result.watched.kind === 'finished' ? result.watched : undefined;
}

/** How a command with this argument alone would end. A run that `--fail-fast` left counts as ok. */
export function exitNameOfResult(result: ArgumentResult): ExitName {
  const problem = problemOf(result);
  if (result.kind === 'followed' && result.isForgotten) return 'ok';
  if (problem) return problem.facts.name;
  if (result.kind === 'replayed') return exitNameOfReplay(result);
  if (result.kind !== 'followed' || isLeft(result.watched)) return 'ok';
  return exitNameOfWatch(result.watched, undefined);
}

export const isOk = (result: ArgumentResult): boolean => exitCodeOf(exitNameOfResult(result)) === 0;

/** The ending of the run that was found: a repeated trigger must not turn a failed run into a success. */
function exitNameOfReplay({ run, polled }: FoundRun): ExitName {
  const isFinished = polled?.kind === 'ok' && isFinal(run.target, polled.value.status);
  return isFinished ? exitNameOfRun(run, polled.value.status) : 'ok';
}

export function isInterruptedWatch(result: ArgumentResult): boolean {
  return result.kind === 'followed' && result.watched.kind === 'interrupted' && !isLeft(result.watched);
}

/** Does the problem end the watches of all runs together, as an interruption and the timeout do? */
export function endsAll({ facts }: Problem): boolean {
  return isInterruptName(facts.name) || facts.name === 'timeout';
}

export function aboutOfResult(result: ArgumentResult): RunOrTarget {
  if (result.kind === 'followed') return { run: result.watched.run };
  return 'run' in result ? { run: result.run } : { target: result.target };
}

export function triggeredEvent(start: StartResult, isWatched: boolean, session: Session): RunEvent {
  const { how } = outcomeOfStart(start);
  if (start.kind === 'skipped' || start.kind === 'failed') {
    return { event: 'triggered', how, target: start.target, isWatched };
  }
  const argument = argumentOf(start.run, session);
  return { event: 'triggered', how, run: start.run, execution: executionOf(start), argument, isWatched };
}

function executionOf(start: Exclude<StartResult, { kind: 'skipped' | 'failed' }>): Execution | undefined {
  if (start.kind === 'started') return start.execution;
  return start.polled?.kind === 'ok' ? start.polled.value : undefined;
}

export const documentOfResult = (result: ArgumentResult, session: Session): JsonObject =>
  documentOf(documentFactsOf(result, session), session.context);

function documentFactsOf(result: ArgumentResult, session: Session): DocumentFacts {
  if (result.kind === 'followed') return factsOfFollowed(result, session);
  const facts = {
    trigger: triggerFactsOf(outcomeOfStart(result), session),
    problem: problemOf(result),
    outcome: exitNameOfResult(result),
  };
  if (result.kind === 'failed') return { ...facts, target: result.target };
  if (result.kind === 'skipped') return { ...facts, target: result.target, activeExecutionId: result.activeId };
  return { ...facts, run: result.run, execution: executionOf(result), argument: argumentOf(result.run, session) };
}
