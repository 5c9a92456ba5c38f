import { defaults } from '../run/limits.ts';

export const clockSkewMs = 300_000; // how wrong a synchronized clock may be

/** Infinite if the clock was set back. */
export function ageOf(at: string, nowMs: number): number {
  const sinceMs = nowMs - Date.parse(at);
  return sinceMs < -clockSkewMs ? Number.POSITIVE_INFINITY : sinceMs;
}

/**
 * Only what is younger than this can be open: an unfinished run, a trigger without an outcome. A run takes three
 * hours at most, and later the service may have dropped the idempotency key.
 */
export const openMs = defaults.keyRetentionMs;
export const isOpen = ({ at }: { at: string }, nowMs: number): boolean => nowMs - Date.parse(at) < openMs;
