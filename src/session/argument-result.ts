import { type ExitName, exitNameOfStatus, isInterruptName } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import { exitNameOfWatch } from '../problems/watch-problems.ts';
import { documentOf, identityOf } from '../render/document.ts';
import type { About, RunEvent } from '../runs/events.ts';
import type { JsonObject } from '../runs/json.ts';
import { isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { FinishedWatch } from '../watching/watch-result.ts';
import { type Followed, isLeft } from './follow-run.ts';
import { argumentOf } from './known-run.ts';
import type { Session } from './session.ts';
import type { FoundRun, StartResult } from './start-run.ts';

/** What a command did with one of its arguments: it triggered a run, or followed one to the end of its watch. */
export type ArgumentResult = StartResult | FollowedArgument;

export interface FollowedArgument extends Followed {
  kind: 'followed';
  /** The run was there before the command. */
  found?: 'replayed' | 'attached';
}

export function targetOfResult(result: ArgumentResult): Target {
  const { run, target } = aboutOfResult(result);
  return target ?? run.target;
}

export function problemOf(result: ArgumentResult): Problem | undefined {
  switch (result.kind) {
    case 'started':
    case 'skipped':
      return undefined;
    case 'replayed':
    case 'attached': {
      // The run is known, whether or not it could be polled; only the user's own signal ends the command otherwise.
      const problem = result.polled?.kind === 'failed' ? result.polled.problem : undefined;
      return problem && isInterruptName(problem.facts.name) ? problem : undefined;
    }
    case 'followed':
    case 'failed':
      return result.problem;
  }
}

/** The watch, where the run was followed until it had finished. */
export function finishedWatchOf(result: ArgumentResult): FinishedWatch | undefined {
  return result.kind === 'followed' && result.watched.kind === 'finished' ? result.watched : undefined;
}

/** How a command with this argument alone would end. A run that `--fail-fast` left is not judged. */
export function exitNameOfResult(result: ArgumentResult): ExitName {
  const problem = problemOf(result);
  if (problem) return problem.facts.name;
  if (result.kind === 'replayed') return exitNameOfReplay(result);
  if (result.kind !== 'followed' || isLeft(result.watched)) return 'ok';
  return exitNameOfWatch(result.watched, undefined);
}

/** Whoever repeats a trigger that failed must not take it for a success. */
function exitNameOfReplay({ run, polled }: FoundRun): ExitName {
  const status = polled?.kind === 'ok' ? polled.value.status : 'RUNNING';
  return isFinal(run.target, status) ? exitNameOfStatus(status) : 'ok';
}

/** Did the user leave the run, which is still running? */
export function isInterruptedWatch(result: ArgumentResult): boolean {
  return result.kind === 'followed' && result.watched.kind === 'interrupted' && !isLeft(result.watched);
}

/** Does it end all of several together, as an interruption and the timeout do? */
export function endsAll({ facts }: Problem): boolean {
  return isInterruptName(facts.name) || facts.name === 'watch_timeout';
}

/** The run of a result, or the automation without one. */
export function aboutOfResult(result: ArgumentResult): About {
  if (result.kind === 'followed') return { run: result.watched.run };
  return 'run' in result ? { run: result.run } : { target: result.target };
}

/** The event that says what came of a trigger. */
export function triggeredEvent(start: StartResult, isWatched: boolean, session: Session): RunEvent {
  const event = 'triggered';
  switch (start.kind) {
    case 'skipped':
      return { event, how: 'skipped', target: start.target, isWatched };
    case 'failed': {
      const how = start.problem.facts.started === 'unknown' ? 'unknown' : 'not_started';
      return { event, how, target: start.target, isWatched };
    }
    default: {
      const how = start.kind === 'started' ? start.how : start.kind;
      const argument = argumentOf(start.run, session);
      return { event, how, run: start.run, execution: executionOf(start), argument, isWatched };
    }
  }
}

/** What is known of the run of a trigger. */
export function executionOf(start: Exclude<StartResult, { kind: 'skipped' | 'failed' }>): Execution | undefined {
  if (start.kind === 'started') return start.execution;
  return start.polled?.kind === 'ok' ? start.polled.value : undefined;
}

export function documentOfResult(result: ArgumentResult): JsonObject {
  const problem = problemOf(result);
  switch (result.kind) {
    case 'failed':
      return { ...identityOf(result.target), ...documentOf({ problem }) };
    case 'skipped':
      return { executionId: result.activeId ?? null, ...identityOf(result.target), skipped: true };
    case 'started':
      return documentOf(result);
    case 'replayed':
    case 'attached': {
      const execution = result.polled?.kind === 'ok' ? result.polled.value : undefined;
      return { ...documentOf({ run: result.run, execution, problem }), [result.kind]: true };
    }
    case 'followed':
      return { ...documentOf({ ...result.watched, problem }), ...(result.found && { [result.found]: true }) };
  }
}
