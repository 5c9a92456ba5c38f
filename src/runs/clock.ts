/** `nowMs` is the wall clock (since 1970), which can be set; `elapsedMs` cannot, but may stand still while a machine sleeps. */
export interface Clock {
  nowMs(): number;
  elapsedMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>; // never rejects: where `signal` aborts, it resolves at once
}

/** The milliseconds from now on, by whichever clock has gone further. */
export function stopwatch(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  const startWallMs = clock.nowMs();
  return () => Math.max(clock.elapsedMs() - startMs, clock.nowMs() - startWallMs);
}

// Short enough that a machine that slept polls again soon after it wakes: on Linux timers stand still meanwhile.
const sliceMs = 5_000;
/** What takes so much longer than it should shows that the machine slept, or that the process was stopped. */
export const suspendedMs = 10_000;

/** Waits `ms`, or returns true earlier if the machine slept or the process was stopped, but not before `leastMs` have passed. */
export async function pause(ms: number, clock: Clock, signal: AbortSignal, leastMs = 0): Promise<boolean> {
  const startMs = clock.elapsedMs();
  let woke = false;
  for (;;) {
    if (signal.aborted) return false;
    const pausedMs = clock.elapsedMs() - startMs;
    if (pausedMs >= ms || (woke && pausedMs >= leastMs)) return woke;
    const nextMs = Math.ceil(Math.min(sliceMs, ms - pausedMs));
    const lateMs = clock.elapsedMs() + nextMs + suspendedMs;
    const lateWallMs = clock.nowMs() + nextMs + suspendedMs;
    await clock.sleep(nextMs, signal);
    // Linux stops the one clock while it sleeps; macOS does not, nor does Ctrl-Z.
    woke ||= clock.elapsedMs() > lateMs || clock.nowMs() > lateWallMs;
  }
}
