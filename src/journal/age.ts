import { defaults } from '../runs/defaults.ts';

export const clockSkewMs = 300_000; // how wrong a synchronized clock may be

/** Infinite if the clock was set back. */
export function ageOf(at: string, nowMs: number): number {
  const sinceMs = nowMs - Date.parse(at);
  return sinceMs < -clockSkewMs ? Number.POSITIVE_INFINITY : sinceMs;
}

/**
 * Only what is younger than this can be open: an unfinished run, a trigger without an outcome. A run takes three
 * hours at most, and the service remembers an idempotency key for a day.
 */
export const openMs = 48 * 3_600_000;
export const isOpen = ({ at }: { at: string }, nowMs: number): boolean => nowMs - Date.parse(at) < openMs;

/** Can `recover` still resolve a trigger whose first attempt has this time? Later, the service may have dropped its key. */
export function isRecoverable({ at }: { at: string }, nowMs: number): boolean {
  const ageMs = ageOf(at, nowMs);
  return ageMs <= defaults.keyRetentionMs || ageMs === Number.POSITIVE_INFINITY;
}
