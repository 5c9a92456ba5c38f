import type { Clock } from './clock.ts';

/** Spaces the requests of this process. */
export interface RateLimiter {
  /** Resolves when a request may be sent, or when `signal` aborts. */
  take(signal: AbortSignal): Promise<void>;
  /** The service answered 429: doubles the time between polls, to eight times at most. */
  slowDown(): void;
  /** The time between two polls, in milliseconds, stretched after a 429; each call takes back a tenth of the factor. */
  stretch(gapMs: number): number;
}

// More would only wait for one another's answers, and do so again at every later poll.
const firstAtOnce = 10;
const slowest = 8;
const recoveryPerPoll = 0.9;

/**
 * A token bucket, kept as one time: when the next request is due. What was not used in the last second may be sent at
 * once; in the first second ten requests. `onWait` is called for each request that has to wait for its turn.
 */
export function createRateLimiter(
  perSecond: number,
  clock: Clock,
  onWait: (waitMs: number) => void = () => {},
): RateLimiter {
  const gapMs = 1000 / perSecond;
  const unusedMs = Math.max(0, 1000 - gapMs);
  let dueMs = clock.elapsedMs() - Math.min(unusedMs, (firstAtOnce - 1) * gapMs);
  let slowness = 1;
  return {
    async take(signal) {
      const nowMs = clock.elapsedMs();
      const sendMs = Math.max(dueMs, nowMs - unusedMs);
      dueMs = sendMs + gapMs;
      if (sendMs <= nowMs) return;
      onWait(sendMs - nowMs);
      await clock.sleep(sendMs - nowMs, signal);
    },
    slowDown() {
      slowness = Math.min(slowest, slowness * 2);
    },
    stretch(gap) {
      const stretched = gap * slowness;
      slowness = Math.max(1, slowness * recoveryPerPoll);
      return stretched;
    },
  };
}
