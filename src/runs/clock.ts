/** `nowMs` is the wall clock, which can be set; `elapsedMs` cannot, but may stand still while a machine sleeps. */
export interface Clock {
  nowMs(): number;
  elapsedMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>; // never rejects: where `signal` aborts, it resolves at once
}

export function stopwatch(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  const startWallMs = clock.nowMs();
  return () => Math.max(clock.elapsedMs() - startMs, clock.nowMs() - startWallMs);
}

// Timers stand still while a machine sleeps: with short ones, polls continue soon after it wakes.
const sliceMs = 5_000;
/** What takes so much longer than it should shows a sleep or a stop. */
export const suspendedMs = 10_000;

/** Returns true, before `ms` but not before `leastMs`, if the machine slept or the process was stopped meanwhile. */
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
