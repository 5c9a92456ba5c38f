import type { Problem, Started } from '../problems/problem.ts';
import type { TriggerFacts } from '../render/document.ts';
import type { HowTriggered, RunEvent } from '../runs/events.ts';
import type { Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { Connection } from '../session/connection.ts';
import type { PolledOnce } from '../session/poll-once.ts';
import { argumentOf, type RunToPoll } from '../session/run-to-poll.ts';
import type { StartedTrigger } from '../triggering/answer-meaning.ts';
import type { StartedExecution } from '../triggering/trigger-record.ts';

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
  | ({ kind: 'started' } & Pick<StartedTrigger, 'started' | 'isByTime' | 'retryAfterMs'> & {
        /** See `HowStarted`. */
        how: 'started' | 'recovered' | 'found';
        execution: StartedExecution;
      } & RunToPoll)
  /** A run that already existed: its idempotency key was used before, or it is the active run. */
  | ({ kind: 'replayed'; isOfOtherAccount?: boolean; isByTime?: true } & EarlierRun)
  | ({ kind: 'attached' } & EarlierRun)
  | { kind: 'skipped'; target: Target; activeId?: string }
  /** The trigger started no run, or its outcome is unknown. */
  | { kind: 'failed'; target: Target; problem: Problem }
);

/** The result of a trigger as shown in documents. */
export type TriggerOutcome = Omit<TriggerFacts, 'safeToRepeat'> & {
  /** Can the command line be repeated without starting a second run? */
  isSafeToRepeat(): boolean;
};

export function outcomeOfStart(start: StartResult, isSafeToRepeat: () => boolean): TriggerOutcome {
  const { idempotencyKey = null } = start;
  return { how: howOf(start), started: startedOf(start), idempotencyKey, isSafeToRepeat, reruns: [] };
}

function howOf(start: StartResult): HowTriggered {
  if (start.kind === 'started') return start.how;
  if (start.kind !== 'failed') return start.kind;
  return start.problem.facts.started === 'unknown' ? 'unknown' : 'not_started';
}

export function startedOf(start: StartResult): Started {
  if (start.kind === 'started') return start.started;
  return start.kind === 'failed' ? start.problem.facts.started : 'no';
}

export const triggerFactsOf = ({ isSafeToRepeat, reruns, ...outcome }: TriggerOutcome): TriggerFacts => ({
  ...outcome,
  safeToRepeat: isSafeToRepeat(),
  reruns,
});

export function executionOf(start: StartResult): Execution | undefined {
  if (start.kind === 'started') return start.execution;
  return 'polled' in start && start.polled?.kind === 'ok' ? start.polled.value : undefined;
}

export function triggeredEvent(start: StartResult, isWatched: boolean, connection: Connection): RunEvent {
  const how = howOf(start);
  if (!('run' in start)) return { event: 'triggered', how, target: start.target, isWatched };
  const { run, idempotencyKey } = start;
  const argument = argumentOf(run, connection);
  return { event: 'triggered', how, run, execution: executionOf(start), argument, idempotencyKey, isWatched };
}
