import type { Started } from '../problems/problem.ts';
import type { TriggerFacts } from '../render/document.ts';
import type { How } from '../runs/events.ts';
import type { Session } from '../session/session.ts';
import type { StartResult } from './start-result.ts';

/** What came of a trigger, as documents have it. */
export type TriggerOutcome = Omit<TriggerFacts, 'safeToRepeat'>;

/** What came of the first trigger of an argument. */
export function outcomeOfStart(start: StartResult): TriggerOutcome {
  return { how: howOf(start), started: startedOf(start), idempotencyKey: start.idempotencyKey ?? null, reruns: [] };
}

function howOf(start: StartResult): How {
  if (start.kind === 'started') return start.how;
  if (start.kind !== 'failed') return start.kind;
  return start.problem.facts.started === 'unknown' ? 'unknown' : 'not_started';
}

/** Did this command start a run with it? */
export function startedOf(start: StartResult): Started {
  if (start.kind === 'started') return start.started;
  return start.kind === 'failed' ? start.problem.facts.started : 'no';
}

/** With what every trigger of the command says about repeating it. */
export const triggerFactsOf = (outcome: TriggerOutcome, { safeToRepeat }: Session): TriggerFacts => {
  const { how, started, idempotencyKey, reruns } = outcome;
  return { how, started, idempotencyKey, safeToRepeat: safeToRepeat(), reruns };
};
