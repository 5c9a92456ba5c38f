import type { Clock } from '../../src/system/clock.ts';
import { onAbort } from '../../src/system/clock.ts';

/** A clock that goes only while everybody sleeps, as fast as it can. */
export interface VirtualClock extends Clock {
  /** The machine slept: the wall clock goes on, the other stood still. */
  suspend(ms: number): void;
  /** The process was stopped (or a machine slept whose clocks go on): both clocks went on and nothing else. */
  stop(ms: number): void;
  /** The waits that were asked for, in order. */
  readonly sleepsMs: readonly number[];
}

export function createVirtualClock(startMs = Date.parse('2026-01-02T03:04:05Z')): VirtualClock {
  let elapsedMs = 0;
  let suspendedMs = 0;
  let pumping = false;
  let sleepers: { atMs: number; wake(): void }[] = [];
  const sleepsMs: number[] = [];

  const pump = () => {
    pumping = false;
    const [next] = sleepers.sort((a, b) => a.atMs - b.atMs);
    if (!next) return;
    elapsedMs = Math.max(elapsedMs, next.atMs);
    next.wake();
    schedule();
  };
  // Everything that the last sleeper set off has happened by the time the event loop comes round.
  const schedule = () => {
    if (pumping) return;
    pumping = true;
    setImmediate(pump);
  };

  return {
    sleepsMs,
    nowMs: () => startMs + elapsedMs + suspendedMs,
    elapsedMs: () => elapsedMs,
    suspend(ms) {
      suspendedMs += ms;
    },
    stop(ms) {
      elapsedMs += ms;
    },
    sleep(ms, signal) {
      sleepsMs.push(ms);
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          forget?.();
          resolve();
        };
        const sleeper = { atMs: elapsedMs + ms, wake };
        sleepers.push(sleeper);
        const forget = signal && onAbort(signal, wake);
        schedule();
      });
    },
  };
}
