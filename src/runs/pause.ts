import { type Clock, stopwatch } from './clock.ts';

// Short enough that a machine that slept looks again soon after it wakes: timers stand still meanwhile on Linux.
const sliceMs = 5_000;
const suspendedMs = 10_000;

/**
 * Waits `ms`, in slices. Returns true as soon as a slice took ten seconds more than it should, by either clock: the
 * machine was asleep or the process stopped, and what was known before is old. It does so no earlier than `leastMs` of
 * real time after the start.
 */
export async function pause(ms: number, clock: Clock, signal: AbortSignal, leastMs = 0): Promise<boolean> {
  const endMs = clock.elapsedMs() + ms;
  // Thousands of runs wait at once: what is not asked for is not kept for each.
  const realMs = leastMs > 0 ? stopwatch(clock) : () => Number.POSITIVE_INFINITY;
  let woke = false;
  for (;;) {
    if (signal.aborted) return false;
    const leftMs = endMs - clock.elapsedMs();
    if (leftMs <= 0 || (woke && realMs() >= leastMs)) return woke;
    const nextMs = Math.ceil(Math.min(sliceMs, leftMs));
    const lateMs = clock.elapsedMs() + nextMs + suspendedMs;
    const lateWallMs = clock.nowMs() + nextMs + suspendedMs;
    await clock.sleep(nextMs, signal);
    // Linux stops the one clock while it sleeps; macOS does not, nor does Ctrl-Z.
    woke ||= clock.elapsedMs() > lateMs || clock.nowMs() > lateWallMs;
  }
}
