import { systemClock } from '../../src/process.ts';
import type { Clock } from '../../src/system/clock.ts';
import { onAbort } from '../../src/system/clock.ts';
import { allAnswered, countAnswered } from './requests-under-way.ts';

/** A clock that leaps over pauses, and on which a request takes a millisecond, however busy the machine is. */
export interface LeapingClock extends Clock {
  leap(ms: number): void;
  /** The time at a service: it leaps as well, but real time passes there, too, as processes and their signals need it. */
  nowAtServiceMs(): number;
  /** A pause that takes its time, and the clock leaps over no other meanwhile: whoever waits for a process needs it. */
  sleepReally: Clock['sleep'];
  /** How much of a pause was asked for in all. */
  sleptMs(): number;
}

/** From `startMs` on, if it is given, requests take no time at all, so that every age is the same whenever this runs. */
export function createLeapingClock(startMs?: number): LeapingClock {
  const beginsAtMs = startMs ?? Date.now();
  const answeredBefore = countAnswered();
  const passedMs = () => (startMs === undefined ? countAnswered() - answeredBefore : 0);
  let leaptMs = 0;
  let sleptMs = 0;
  let isLeaping = false;
  const sleepers = new Set<{ endMs: number; wake(): void }>();
  const realPauses = new Set<Promise<void>>();
  const elapsedMs = () => passedMs() + leaptMs;

  /** Wakes one after the other, whoever is to wake first, once all that the last one set off has happened. */
  async function leapOn(): Promise<void> {
    if (isLeaping) return;
    isLeaping = true;
    while (sleepers.size > 0) {
      do {
        await Promise.all(realPauses);
        await allAnswered();
      } while (realPauses.size > 0);
      const [first] = [...sleepers].sort((a, b) => a.endMs - b.endMs);
      if (!first) break;
      leaptMs += Math.max(0, first.endMs - elapsedMs());
      first.wake();
    }
    isLeaping = false;
  }

  return {
    nowMs: () => beginsAtMs + elapsedMs(),
    nowAtServiceMs: () => (startMs ?? Date.now()) + leaptMs,
    elapsedMs,
    sleptMs: () => sleptMs,
    leap(ms) {
      leaptMs += ms;
    },
    sleepReally(ms, signal) {
      const pause = systemClock.sleep(ms, signal).finally(() => realPauses.delete(pause));
      realPauses.add(pause);
      return pause;
    },
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      sleptMs += ms;
      return new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(sleeper);
          forget?.();
          resolve();
        };
        const sleeper = { endMs: elapsedMs() + ms, wake };
        sleepers.add(sleeper);
        const forget = signal && onAbort(signal, wake);
        void leapOn();
      });
    },
  };
}
