/**
 * Time as an argument. Two clocks, because a laptop's sleep stops one of them:
 * `nowMs` is the wall clock (milliseconds since 1970), `elapsedMs` only moves while the machine is awake.
 */
export interface Clock {
  nowMs(): number;
  elapsedMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Measures milliseconds from now on, by whichever of the two clocks has gone further: the other may have stood still. */
export function stopwatch(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  const startWallMs = clock.nowMs();
  return () => Math.max(clock.elapsedMs() - startMs, clock.nowMs() - startWallMs);
}

// Short enough that a machine that slept polls again soon after it wakes: on Linux timers stand still meanwhile.
const sliceMs = 5_000;
const suspendedMs = 10_000;

/**
 * Waits `ms`, in slices. Returns true as soon as a slice took ten seconds longer than it should, by either clock: the
 * machine was asleep or the process stopped, and what was known before is old. It does so no earlier than `leastMs` of
 * real time after the start.
 */
export async function pause(ms: number, clock: Clock, signal: AbortSignal, leastMs = 0): Promise<boolean> {
  const endMs = clock.elapsedMs() + ms;
  // A closure for each of thousands of waiting runs costs memory: made only where it is needed.
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
