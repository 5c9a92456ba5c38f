import type { Trigger } from './fold.ts';
import { type TriggeredRecord, targetOf } from './records.ts';

/** A trigger that was sent, or about to be, and whose outcome is unknown: its oldest attempt without one. */
export interface UnresolvedTrigger extends Omit<TriggeredRecord, 'type' | 'attempt' | 'baseUrl' | 'process'> {
  /** When it was first sent, ISO 8601. */
  at: string;
  /** When it was last sent, as far as that is known, ISO 8601. */
  lastSentAt: string;
  /** The processes that have not come to the end of their attempts, and the time since these began. */
  senders: { process: string; ageMs: number }[];
  /** Infinite where a clock that was set back leaves it unknown. */
  ageMs: number;
  /** Why the last attempt is in doubt; undefined when the program ended before it knew. */
  reason?: string;
}

/** What two readings of a clock that is kept in step may differ by. */
const clockSkewMs = 300_000;

/** `trigger` must have an attempt without an outcome: the oldest one counts. */
export function unresolvedOf({ attempts, reason, lastSentAt }: Trigger, nowMs: number): UnresolvedTrigger {
  const [oldest] = attempts;
  if (!oldest) throw new Error('every attempt of this trigger has an outcome');
  const { account, target, idempotencyKey, body, userProvided, at } = oldest;
  const senders = attempts.flatMap(({ process, at }) => (process ? [{ process, ageMs: ageOf(at, nowMs) }] : []));
  const known = { account, target: targetOf(target), idempotencyKey, body, userProvided, at, reason };
  return { ...known, ageMs: ageOf(at, nowMs), lastSentAt: lastSentAt ?? at, senders };
}

/** Infinite where a clock that was set back leaves it unknown. */
function ageOf(at: string, nowMs: number): number {
  const sinceMs = nowMs - Date.parse(at);
  return sinceMs < -clockSkewMs ? Number.POSITIVE_INFINITY : sinceMs;
}

// A whole line that `log.ts` wrote of a trigger. What is torn, foreign or holds an escaped idempotency key differs.
const form =
  /^\{"schema":1,"at":"[^"]+","type":"(\w+)",("baseUrl":"[^"\\]*","target":"(?:[^"\\]|\\.)*","idempotencyKey":"[^"\\]*").*\}$/;

/**
 * Picks the lines, given the newest first, that may matter to an unresolved trigger, by their text alone:
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
