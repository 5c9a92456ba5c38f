/**
 * The clocks of the machine. `nowMs` is the wall clock, which can be changed. `elapsedMs` can't be
 * changed, but may stop while the machine sleeps.
 */
export interface Clock {
  nowMs(): number;
  elapsedMs(): number;
  /** Never rejects: resolves at once if `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Returns a function that returns the milliseconds since this call, including time the machine was
 * asleep.
 */
export function stopwatch(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  const startWallMs = clock.nowMs();
  return () => Math.max(clock.elapsedMs() - startMs, clock.nowMs() - startWallMs);
}

/**
 * Returns the same by the clock that can't be set, which may leave out the time the machine was
 * asleep. For a time that must not seem longer because somebody sets the wall clock forward.
 */
export function monotonicStopwatch(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  return () => clock.elapsedMs() - startMs;
}

// Timers stop while the machine sleeps, so a long wait is made of short timers. Then polls continue
// soon after the machine wakes.
const sliceMs = 5_000;
/** If a wait ends this much too late, the machine slept or the process was stopped. */
const suspendedMs = 10_000;

/** Whether what should have taken `limitMs` at most was prolonged by a sleep or a stop. */
export const machineSlept = (tookMs: number, limitMs: number): boolean =>
  tookMs > limitMs + suspendedMs;

/**
 * Waits `ms`. If the machine slept or the process was stopped meanwhile, ends as soon as `minMs`
 * has passed, and returns true.
 */
export async function pause(
  ms: number,
  clock: Clock,
  signal: AbortSignal,
  minMs = 0,
): Promise<boolean> {
  const startMs = clock.elapsedMs();
  let woke = false;
  for (;;) {
    if (signal.aborted) return false;
    const pausedMs = clock.elapsedMs() - startMs;
    if (pausedMs >= ms || (woke && pausedMs >= minMs)) return woke;
    const nextMs = Math.ceil(Math.min(sliceMs, ms - pausedMs));
    const lateMs = clock.elapsedMs() + nextMs + suspendedMs;
    const lateWallMs = clock.nowMs() + nextMs + suspendedMs;
    await clock.sleep(nextMs, signal);
    // Linux stops `elapsedMs` while the machine sleeps; macOS does not, and Ctrl-Z stops neither
    // clock.
    woke ||= clock.elapsedMs() > lateMs || clock.nowMs() > lateWallMs;
  }
}

// An EventTarget goes through all its listeners whenever one is added, which is slow with thousands
// of runs on one signal.
const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `listener` when `signal` aborts. Returns a function that cancels this. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const listeners = listenersOf.get(signal) ?? listen(signal);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function listen(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  listenersOf.set(signal, listeners);
  signal.addEventListener('abort', () => {
    for (const listener of [...listeners]) listener();
  });
  return listeners;
}

/** Whether a signal of the operating system aborted it. The reason is the name of that signal. */
export const isAbortedByOsSignal = ({ aborted, reason }: AbortSignal) =>
  aborted && String(reason).startsWith('SIG');
