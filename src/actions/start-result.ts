import type { Problem, Started } from '../problems/problem.ts';
import type { TriggerFacts } from '../render/document.ts';
import type { How } from '../runs/events.ts';
import type { Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { KnownRun } from '../session/known-run.ts';
import type { PolledOnce } from '../session/poll-once.ts';
import type { Session } from '../session/session.ts';
import type { StartedTrigger } from '../triggering/trigger.ts';
import type { StartedExecution } from '../triggering/trigger-record.ts';

/** A run that was there before, with its status where that was asked for. */
export type FoundRun = KnownRun & { polled?: PolledOnce<Execution> };

/** What came of a trigger. */
export type StartResult = {
  idempotencyKey?: string;
} & (
  | ({ kind: 'started' } & Pick<StartedTrigger, 'started' | 'isByTime'> & {
        /** `recovered`: by an earlier attempt, whose answer was lost. */
        how: 'started' | 'recovered';
        execution: StartedExecution;
      } & KnownRun)
  /** A run that was there before: its idempotency key had been used, or it is the active one. */
  | ({ kind: 'replayed' | 'attached' } & FoundRun)
  | { kind: 'skipped'; target: Target; activeId?: string }
  /** There is no run of ours, or nobody knows. */
  | { kind: 'failed'; target: Target; problem: Problem }
);

/** The same as documents have it. */
export type TriggerOutcome = Omit<TriggerFacts, 'safeToRepeat'>;

export function outcomeOfStart(start: StartResult): TriggerOutcome {
  return { how: howOf(start), started: startedOf(start), idempotencyKey: start.idempotencyKey ?? null, reruns: [] };
}

function howOf(start: StartResult): How {
  if (start.kind === 'started') return start.how;
  if (start.kind !== 'failed') return start.kind;
  return start.problem.facts.started === 'unknown' ? 'unknown' : 'not_started';
}

export function startedOf(start: StartResult): Started {
  if (start.kind === 'started') return start.started;
  return start.kind === 'failed' ? start.problem.facts.started : 'no';
}

export const triggerFactsOf = (outcome: TriggerOutcome, { safeToRepeat }: Session): TriggerFacts => {
  const { how, started, idempotencyKey, reruns } = outcome;
  return { how, started, idempotencyKey, safeToRepeat: safeToRepeat(), reruns };
};
