import type { Clock } from './clock.ts';

// Short enough that a machine that slept looks again soon after it wakes: timers stand still meanwhile on Linux.
const sliceMs = 5_000;
const suspendedMs = 10_000;

/**
 * Waits `ms`, in slices. Returns `woke` as soon as the wall clock has run ahead of the other by more than ten seconds:
 * the machine was asleep, and what was known before is old.
 */
export async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<'passed' | 'woke' | 'aborted'> {
  const startMs = clock.elapsedMs();
  const startWallMs = clock.nowMs();
  for (;;) {
    if (signal.aborted) return 'aborted';
    const passedMs = clock.elapsedMs() - startMs;
    if (clock.nowMs() - startWallMs - passedMs > suspendedMs) return 'woke';
    if (passedMs >= ms) return 'passed';
    await clock.sleep(Math.ceil(Math.min(sliceMs, ms - passedMs)), signal);
  }
}
