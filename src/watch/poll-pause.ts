import type { Ports } from '../ports.ts';
import { heartbeatMs } from '../run/limits.ts';
import type { LastConfirmed } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import { pause } from '../system/clock.ts';

interface PausedRun {
  run: Run;
  lastConfirmed(): LastConfirmed | undefined;
}

/**
 * The pauses between the polls of one run. A pause ends with the time that is left, when a signal
 * comes, or when the machine wakes. A wake doesn't end the wait that `Retry-After` asks for.
 */
export class PollPause {
  readonly #paused: PausedRun;
  readonly #pollTimeLeftMs: () => number;
  readonly #ports: Ports;
  #retryAfterUntilMs: number | undefined;

  constructor(paused: PausedRun, pollTimeLeftMs: () => number, ports: Ports) {
    this.#paused = paused;
    this.#pollTimeLeftMs = pollTimeLeftMs;
    this.#ports = ports;
  }

  /** When the wait that `Retry-After` asks for ends, by the wall clock. */
  get retryAfterUntilMs(): number | undefined {
    return this.#retryAfterUntilMs;
  }

  /** Notes what `Retry-After` asks for. 0 if the service asked for no wait. */
  noteRetryAfter(retryAfterMs: number): void {
    const untilMs = this.#ports.clock.nowMs() + Math.min(retryAfterMs, this.#pollTimeLeftMs());
    this.#retryAfterUntilMs = retryAfterMs > 0 ? untilMs : undefined;
  }

  /** Not async, because each of thousands of waiting runs would keep one more frame in memory. */
  pauseFor(ms: number, retryAfterMs: number): Promise<void> | undefined {
    const atMs = this.#ports.clock.elapsedMs() + Math.min(ms, this.#pollTimeLeftMs());
    return this.#pauseUntil(atMs, Math.min(retryAfterMs, this.#pollTimeLeftMs()));
  }

  #pauseUntil(atMs: number, retryAfterMs: number): Promise<void> | undefined {
    const { clock, signal, session } = this.#ports;
    const nextMs = atMs - clock.elapsedMs();
    if (nextMs <= 0 || signal.aborted) return undefined;
    this.#announce(nextMs);
    // A long pause is announced again after each heartbeat.
    const isUninterrupted = nextMs <= heartbeatMs || retryAfterMs > 0;
    const ms = isUninterrupted ? nextMs : heartbeatMs;
    return pause(ms, clock, signal, retryAfterMs).then((woke) => {
      if (woke) session.noteWake();
      return woke ? undefined : this.#pauseUntil(atMs, retryAfterMs);
    });
  }

  #announce(nextMs: number): void {
    const { run, lastConfirmed } = this.#paused;
    this.#ports.emit({
      event: 'waiting',
      for: 'poll',
      run,
      lastConfirmed: lastConfirmed(),
      nextMs,
      retryAfterUntilMs: this.#retryAfterUntilMs,
    });
  }
}
