import type { Trigger } from './fold.ts';
import { type TriggeredRecord, targetOf } from './records.ts';

/** A trigger that was sent, or about to be, and whose outcome is unknown: its oldest attempt without one. */
export interface UnresolvedTrigger extends Omit<TriggeredRecord, 'type' | 'attempt' | 'baseUrl'> {
  /** When it was first sent, ISO 8601. */
  at: string;
  /** Infinite where a clock that was set back leaves it unknown. */
  ageMs: number;
  /** Why the last attempt is in doubt; undefined when the program ended before it knew. */
  reason?: string;
}

/** What two readings of a clock that is kept in step may differ by. */
const clockSkewMs = 300_000;

/** `trigger` must have an attempt without an outcome: the oldest one counts. */
export function unresolvedOf({ attempts: [attempt], reason }: Trigger, nowMs: number): UnresolvedTrigger {
  if (!attempt) throw new Error('every attempt of this trigger has an outcome');
  const { account, target, idempotencyKey, body, userProvided, at } = attempt;
  const sinceMs = nowMs - Date.parse(at);
  const ageMs = sinceMs < -clockSkewMs ? Number.POSITIVE_INFINITY : sinceMs;
  return { account, target: targetOf(target), idempotencyKey, body, userProvided, at, ageMs, reason };
}

// A whole line that `log.ts` wrote of a trigger. What is torn, foreign or holds an escaped idempotency key differs.
const form =
  /^\{"schema":1,"at":"[^"]+","type":"(\w+)",("baseUrl":"[^"\\]*","target":"(?:[^"\\]|\\.)*","idempotencyKey":"[^"\\]*").*\}$/;

/**
 * Tells lines, the newest first, that may matter to an unresolved trigger from those of accepted ones, by their text:
 * parsing is most of what a record costs, and nearly every trigger was accepted.
 */
export function createUnresolvedLines(): (line: string) => boolean {
  const accepted = new Set<string>();
  const wanted = new Set<string>();
  return (line) => {
    const [, type, id = ''] = form.exec(line) ?? [];
    if (type === undefined) return true;
    if (type === 'accepted') accepted.add(id);
    else if (!accepted.has(id)) wanted.add(id);
    return wanted.has(id);
  };
}
