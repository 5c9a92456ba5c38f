import type { HowTriggered, LastConfirmed } from '../run/events.ts';
import { type ExitName, exitCodeOf } from '../run/exit-codes.ts';
import type { Problem } from '../run/problem.ts';
import type { Run, Target } from '../run/run.ts';
import type { Execution, RunResult } from '../run/service.ts';
import type { JsonObject } from '../system/json.ts';
import type { Started } from '../triggering/start-evidence.ts';
import type { WatchResult } from '../watching/watch-result.ts';

/** What a command found out about one of its arguments. Documents, summaries, hooks and the exit code are made of it. */
export interface Outcome {
  target?: Target; // of the run, if there is one; a command alone has none
  run?: Run;
  start?: Start; // if the command triggers
  /** May the same command line be repeated without a second run? Known when all arguments are. */
  safeToRepeat?: boolean;
  execution?: Execution; // the last status that is known
  result?: RunResult;
  watched?: WatchResult; // if the run was followed
  problem?: Problem;
  ended?: ExitName; // how the run or the trigger ended if there is no problem; `ok` by default
  exit?: ExitName; // how a command with this argument alone exits, if not as it ended
  argument?: string; // the run as an argument of a suggested command
  activeExecutionId?: string; // the run that stood in the way
  lastConfirmed?: Omit<LastConfirmed, 'run'>; // if the status is older than this command
  replayedFailure?: string; // says that the run is an older one with the same idempotency key
  report?: JsonObject; // fields of one command
}

/** The outcome of an argument that names an automation or a run. */
export interface ArgumentOutcome extends Outcome {
  target: Target;
}

/** What became of a trigger. */
export interface Start {
  how: HowTriggered;
  started: Started; // whether this command started a run
  idempotencyKey: string | null;
}

export const endOf = ({ problem, ended = 'ok' }: Outcome): ExitName => problem?.facts.name ?? ended;

export const exitOf = (outcome: Outcome): ExitName => outcome.exit ?? endOf(outcome);

export const isOk = (outcome: Outcome): boolean => exitCodeOf(exitOf(outcome)) === 0;
