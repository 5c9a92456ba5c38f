import type { Clock } from './clock.ts';

/** Requests a second that everything in this process shares. */
export interface Budget {
  /** Resolves when a request may be sent, or when `signal` aborts. */
  take(signal: AbortSignal): Promise<void>;
}

/** Waits for a token; returns how long, in milliseconds. */
export async function queue(budget: Budget, clock: Clock, signal: AbortSignal): Promise<number> {
  const startMs = clock.elapsedMs();
  await budget.take(signal);
  return clock.elapsedMs() - startMs;
}

// More would only wait for one another's answers, and do so again at every later look.
const firstAtOnce = 10;

/**
 * A token bucket as a single date: the time at which the next request is due. A second's worth that was not used may
 * go at once; of the first second's only ten.
 */
export function createBudget(perSecond: number, clock: Clock): Budget {
  const gapMs = 1000 / perSecond;
  const sparedMs = Math.max(0, 1000 - gapMs);
  let dueMs = clock.elapsedMs() - Math.min(sparedMs, (firstAtOnce - 1) * gapMs);
  return {
    async take(signal) {
      const nowMs = clock.elapsedMs();
      const sendMs = Math.max(dueMs, nowMs - sparedMs);
      dueMs = sendMs + gapMs;
      if (sendMs > nowMs) await clock.sleep(sendMs - nowMs, signal);
    },
  };
}
