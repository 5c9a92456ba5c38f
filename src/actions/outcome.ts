import type { Connection } from '../connection/connection.ts';
import type { PolledOnce } from '../connection/poll-once.ts';
import { argumentOf, type RunToPoll } from '../connection/run-to-poll.ts';
import { type ExitName, exitCodeOf, exitNameOfRun, isInterruptName } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import { exitNameOfWatch } from '../problems/watch-problems.ts';
import { type DocumentFacts, documentOf, type TriggerFacts } from '../render/document.ts';
import type { RunEvent } from '../runs/events.ts';
import type { JsonObject } from '../runs/json.ts';
import type { Run, Target } from '../runs/run.ts';
import type { Execution, StartedExecution } from '../runs/service.ts';
import { type Evidence, type Started, starts } from '../triggering/start-evidence.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import type { ActionFlags } from './action-flags.ts';

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
  const execution = finishedExecutionOf(earlier);
  return execution ? exitNameOfRun(execution) : 'ok';
}

function withoutStatus(start: StartResult): string {
  if (start.kind === 'skipped') return 'skipped';
  if (start.kind !== 'failed') return 'not polled';
  return start.problem.facts.started === 'unknown' ? 'in doubt' : 'not started';
}

/** What to trigger. */
export interface StartRequest {
  target: Target;
  body: string; // the exact bytes
  idempotencyKey?: string; // set by the user
}

/** A run that already existed, with its status if it was polled. */
export type EarlierRun = RunToPoll & { polled?: PolledOnce<Execution> };

/** The result of a trigger. */
export type StartResult = {
  idempotencyKey?: string;
} & (
  | ({ kind: 'started'; evidence: Evidence; execution: StartedExecution; retryAfterMs?: number } & RunToPoll)
  /** The run of the idempotency key existed before, or has finished already. */
  | ({ kind: 'earlier'; evidence: Evidence; key?: RecordedUse } & EarlierRun)
  | ({ kind: 'attached' } & EarlierRun)
  | { kind: 'skipped'; target: Target; activeId?: string }
  /** The trigger started no run, or its outcome is unknown. */
  | { kind: 'failed'; target: Target; problem: Problem }
);

export type EarlierStart = Extract<StartResult, { kind: 'earlier' }>;

/** How the journal says that an idempotency key was used. */
interface RecordedUse {
  ageMs: number;
  isOfOtherAccount: boolean;
}

/** The result of a trigger as shown in documents. */
export type TriggerOutcome = Omit<TriggerFacts, 'safeToRepeat'> & {
  /** Can the command line be repeated without starting a second run? */
  isSafeToRepeat(): boolean;
};

export function outcomeOfStart(start: StartResult, isSafeToRepeat: () => boolean): TriggerOutcome {
  const { idempotencyKey = null } = start;
  return { ...starts[evidenceOfStart(start)], idempotencyKey, isSafeToRepeat, reruns: [] };
}

/** The outcome after a rerun. A rerun in doubt leaves it unknown whether the command started a run. */
export function withRerun(outcome: TriggerOutcome, rerun: StartResult): TriggerOutcome {
  const started = startedOf(rerun);
  return started === 'no' ? outcome : { ...outcome, started };
}

function evidenceOfStart(start: StartResult): Evidence {
  switch (start.kind) {
    case 'attached':
      return 'active_run';
    case 'skipped':
      return 'left_active';
    case 'failed':
      return start.problem.facts.started === 'unknown' ? 'in_doubt' : 'refused';
    default:
      return start.evidence;
  }
}

export const startedOf = (start: StartResult): Started => starts[evidenceOfStart(start)].started;

export const triggerFactsOf = ({ isSafeToRepeat, reruns, ...outcome }: TriggerOutcome): TriggerFacts => ({
  ...outcome,
  safeToRepeat: isSafeToRepeat(),
  reruns,
});

export function executionOf(start: StartResult): Execution | undefined {
  if (start.kind === 'started') return start.execution;
  return 'polled' in start && start.polled?.kind === 'ok' ? start.polled.value : undefined;
}

/** The earlier run, if it has a final status. */
export function finishedExecutionOf({ polled }: EarlierRun): Execution | undefined {
  return polled?.kind === 'ok' && polled.value.isFinal ? polled.value : undefined;
}

export function triggeredEvent(
  start: StartResult,
  { watch: isWatched = false, rerunOn }: Pick<ActionFlags, 'watch' | 'rerunOn'>,
  connection: Connection,
): RunEvent {
  const { how } = starts[evidenceOfStart(start)];
  if (!('run' in start)) return { event: 'triggered', how, target: start.target, isWatched };
  const { run, idempotencyKey } = start;
  const argument = argumentOf(run, connection);
  const mayRerun = isWatched && rerunOn !== undefined;
  return { event: 'triggered', how, run, execution: executionOf(start), argument, idempotencyKey, isWatched, mayRerun };
}
