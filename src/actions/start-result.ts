import type { Connection } from '../connection/connection.ts';
import type { PolledOnce } from '../connection/poll-once.ts';
import { argumentOf, type RunToPoll } from '../connection/run-to-poll.ts';
import type { Problem } from '../problems/problem.ts';
import type { TriggerFacts } from '../render/document.ts';
import type { RunEvent } from '../runs/events.ts';
import { isFinal, type Target } from '../runs/run.ts';
import type { Execution, StartedExecution } from '../runs/service.ts';
import { type Evidence, type Started, starts } from '../triggering/start-evidence.ts';
import type { ActionFlags } from './action-flags.ts';

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
export function finishedExecutionOf({ run, polled }: EarlierRun): Execution | undefined {
  return polled?.kind === 'ok' && isFinal(run.target, polled.value.status) ? polled.value : undefined;
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
