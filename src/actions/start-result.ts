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

/** What is to be triggered. */
export interface StartRequest {
  target: Target;
  body: string; // the exact bytes
  idempotencyKey?: string; // given by the user
}

/** A run that existed before, with its status if that was asked for. */
export type EarlierRun = RunToPoll & { polled?: PolledOnce<Execution> };

/** What became of a trigger. */
export type StartResult = {
  idempotencyKey?: string;
} & (
  | ({ kind: 'started' } & Pick<StartedTrigger, 'started' | 'isByTime' | 'retryAfterMs'> & {
        /** As `HowStarted` has it. */
        how: 'started' | 'recovered' | 'found';
        execution: StartedExecution;
      } & RunToPoll)
  /** A run that existed before: its idempotency key had been used, or it is the active one. */
  | ({ kind: 'replayed'; isOfOtherAccount?: boolean; isByTime?: true } & EarlierRun)
  | ({ kind: 'attached' } & EarlierRun)
  | { kind: 'skipped'; target: Target; activeId?: string }
  /** The trigger started no run, or its outcome is unknown. */
  | { kind: 'failed'; target: Target; problem: Problem }
);

/** What became of a trigger, as documents show it. */
export type TriggerOutcome = Omit<TriggerFacts, 'safeToRepeat'> & {
  /** May the command line be repeated without a second run, as far as is known? */
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
