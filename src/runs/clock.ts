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

/** Milliseconds from now on, by whichever of the two clocks has gone further: the other may have stood still. */
export function stopwatch(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  const startWallMs = clock.nowMs();
  return () => Math.max(clock.elapsedMs() - startMs, clock.nowMs() - startWallMs);
}
