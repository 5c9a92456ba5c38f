import type { Clock } from './clock.ts';

/** Requests a second that everything in this process shares. */
export interface Budget {
  /** Resolves when a request may be sent, or when `signal` aborts. */
  take(signal: AbortSignal): Promise<void>;
}

/** A token bucket as a single date: the time at which the next request is due. A second's worth may go at once. */
export function createBudget(perSecond: number, clock: Clock): Budget {
  const gapMs = 1000 / perSecond;
  let dueMs = Number.NEGATIVE_INFINITY;
  return {
    async take(signal) {
      const nowMs = clock.elapsedMs();
      dueMs = Math.max(dueMs, nowMs - 1000 + gapMs) + gapMs;
      const waitMs = dueMs - gapMs - nowMs;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    },
  };
}
