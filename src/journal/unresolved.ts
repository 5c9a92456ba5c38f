import { ageOf } from './age.ts';
import type { Trigger } from './fold.ts';
import { type TriggeredRecord, targetOf } from './records.ts';

export interface UnresolvedTrigger extends Omit<TriggeredRecord, 'type' | 'attempt' | 'baseUrl' | 'process'> {
  at: string;
  senders: { process: string; ageMs: number }[]; // the processes that may still send it, and since when
  ageMs: number; // infinite if the clock was set back
  reason?: string; // why the outcome is unknown; undefined if runctl was killed first
  conflict?: { activeExecutionId?: string }; // a repeat was refused because a run was active, perhaps its own
}

/** `trigger` must have an attempt without an outcome. */
export function unresolvedOf({ attempts, reason, conflict }: Trigger, nowMs: number): UnresolvedTrigger {
  const [oldest] = attempts;
  if (!oldest) throw new Error('every attempt of this trigger has an outcome');
  const { account, target, idempotencyKey, body, userProvided, at } = oldest;
  const senders = attempts.flatMap(({ process, at }) => (process ? [{ process, ageMs: ageOf(at, nowMs) }] : []));
  const known = { account, target: targetOf(target), idempotencyKey, body, userProvided, at, reason, conflict };
  return { ...known, ageMs: ageOf(at, nowMs), senders };
}
