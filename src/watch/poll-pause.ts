import { heartbeatMs } from '../run/limits.ts';
import type { LastConfirmed } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import { pause } from '../system/clock.ts';
import type { Ports } from './ports.ts';

interface PausedRun {
  run: Run;
  lastConfirmed(): LastConfirmed | undefined;
}

/**
 * The pauses between the polls of one run. A pause ends with the time that is left, when a signal
 * comes, or when the machine wakes, but the last not before `minMs`, for which the service asked.
 */
export class PollPause {
  readonly #of: PausedRun;
  readonly #leftMs: () => number;
  readonly #ports: Ports;
  #askedUntilMs: number | undefined;

  constructor(of: PausedRun, leftMs: () => number, ports: Ports) {
    this.#of = of;
    this.#leftMs = leftMs;
    this.#ports = ports;
  }

  /** When the wait that the service asked for ends, by the wall clock. */
  get askedUntilMs(): number | undefined {
    return this.#askedUntilMs;
  }

  /** Notes that the service asked for a wait of `minMs`. 0 if it didn't ask for one. */
  noteAsked(minMs: number): void {
    const nowMs = this.#ports.clock.nowMs();
    this.#askedUntilMs = minMs > 0 ? nowMs + Math.min(minMs, this.#leftMs()) : undefined;
  }

  /** Not async, because each of thousands of waiting runs would keep one more frame in memory. */
  pauseFor(ms: number, minMs: number): Promise<void> | undefined {
    const atMs = this.#ports.clock.elapsedMs() + Math.min(ms, this.#leftMs());
    return this.#pauseUntil(atMs, Math.min(minMs, this.#leftMs()));
  }

  #pauseUntil(atMs: number, minMs: number): Promise<void> | undefined {
    const { clock, signal, session } = this.#ports;
    const nextMs = atMs - clock.elapsedMs();
    if (nextMs <= 0 || signal.aborted) return undefined;
    this.#announce(nextMs);
    // A long pause is announced again after each heartbeat.
    const isWhole = nextMs <= heartbeatMs || minMs > 0;
    return pause(isWhole ? nextMs : heartbeatMs, clock, signal, minMs).then((woke) => {
      if (woke) session.woke();
      return woke ? undefined : this.#pauseUntil(atMs, minMs);
    });
  }

  #announce(nextMs: number): void {
    const { run, lastConfirmed } = this.#of;
    const askedUntilMs = this.#askedUntilMs;
    this.#ports.emit({
      event: 'waiting',
      for: 'poll',
      run,
      lastConfirmed: lastConfirmed(),
      nextMs,
      askedUntilMs,
    });
  }
}
