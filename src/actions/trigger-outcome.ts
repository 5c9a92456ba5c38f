import type { Started } from '../problems/problem.ts';
import type { TriggerFacts } from '../render/document.ts';
import type { How } from '../runs/events.ts';
import type { Session } from '../session/session.ts';
import type { StartResult } from './start-result.ts';

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
