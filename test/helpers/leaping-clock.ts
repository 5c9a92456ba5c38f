import type { Clock } from '../../src/runs/clock.ts';

/** The real clock, but for the pauses: it leaps over them, while requests take the time that they take. */
export interface LeapingClock extends Clock {
  leap(ms: number): void;
  /** How much of a pause was asked for in all. */
  sleptMs(): number;
}

export function createLeapingClock(): LeapingClock {
  let leaptMs = 0;
  let sleptMs = 0;
  const elapsedMs = () => performance.now() + leaptMs;
  return {
    nowMs: () => Date.now() + leaptMs,
    elapsedMs,
    sleptMs: () => sleptMs,
    leap(ms) {
      leaptMs += ms;
    },
    async sleep(ms, signal) {
      if (signal?.aborted) return;
      sleptMs += ms;
      const endMs = elapsedMs() + ms;
      // Whatever else is ready to go on goes first.
      await new Promise((resolve) => setImmediate(resolve));
      // Others who slept meanwhile have leapt already.
      if (!signal?.aborted) leaptMs += Math.max(0, endMs - elapsedMs());
    },
  };
}
