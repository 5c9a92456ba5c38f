import { type Clock, pause, stopwatch, suspendedMs } from './clock.ts';
import { type Fault, isInterruption, isRetryable } from './fault.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { Answer } from './service.ts';
import type { Turns } from './turns.ts';

const firstBackoffMs = 500;
const longestBackoffMs = 15_000;
const shortestBackoffMs = 50;
/** An attempt that is begun later than this before the end of the command could hardly be answered in time. */
const lastMomentMs = 1_000;

/**
 * How long to wait after this many failures in a row (from 1), when retries end in `leftMs`; undefined to give up now.
 * Full jitter over an exponential ceiling (AWS, "Exponential Backoff And Jitter"), cut so that the last attempt is made
 * when the time ends. What `Retry-After` asks for is never cut: rather no attempt than an early one.
 */
export function backoffMs(
  failures: number,
  { retryAfterMs = 0 }: Pick<Fault, 'retryAfterMs'>,
  leftMs: number,
  random: () => number,
): number | undefined {
  if (leftMs <= 0 || retryAfterMs > leftMs) return undefined;
  const ceilingMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures - 1, 20));
  return Math.min(leftMs, Math.max(shortestBackoffMs, random() * ceilingMs, retryAfterMs));
}

export interface RetryPorts {
  /** Every attempt waits for it. */
  limiter: RateLimiter;
  clock: Clock;
  random(): number;
  signal: AbortSignal;
  /** Time without a valid answer after which attempts end. */
  giveUpAfterMs: number;
  /** The time limit of an attempt: one that takes much longer shows that the machine slept. */
  requestTimeoutMs?: number;
  /** What is left of the time for the whole command: in its last second no further attempt is begun. */
  leftMs?(): number;
}

/** Counts attempts that fail in a row, and the time without a valid answer. */
interface Attempts {
  readonly failures: number;
  /** Milliseconds; 0 before the first attempt. */
  silentMs(): number;
  /** Waits for the rate limiter; what was waited for before, since `queuedAtMs`, is no silence of the service either. */
  takeTurn(queuedAtMs: number): Promise<void>;
  succeeded(): void;
  /** Returns the time until the next attempt, in milliseconds; undefined to give up. */
  failed(fault: Fault): number | undefined;
  /** After a sleep or a stop, the time without a valid answer counts from the next attempt. */
  woke(): void;
}

function createAttempts(ports: RetryPorts): Attempts {
  const { limiter, clock, random, signal, giveUpAfterMs, leftMs = () => Number.POSITIVE_INFINITY } = ports;
  let failures = 0;
  let silentSinceMs: number | undefined;
  const silentMs = () => (silentSinceMs === undefined ? 0 : clock.elapsedMs() - silentSinceMs);
  return {
    get failures() {
      return failures;
    },
    silentMs,
    async takeTurn(queuedAtMs) {
      await limiter.take(signal);
      // The service is not silent while we wait for our own turn.
      const nowMs = clock.elapsedMs();
      silentSinceMs = silentSinceMs === undefined ? nowMs : silentSinceMs + nowMs - queuedAtMs;
    },
    succeeded() {
      failures = 0;
      silentSinceMs = undefined;
    },
    failed(fault) {
      failures += 1;
      return backoffMs(failures, fault, Math.min(giveUpAfterMs - silentMs(), leftMs() - lastMomentMs), random);
    },
    woke() {
      silentSinceMs = undefined;
    },
  };
}

export interface RetryOptions extends RetryPorts {
  /** Which faults are worth another attempt; by their kind, unless said otherwise. */
  isRetryable?(fault: Fault): boolean;
  /** Each attempt waits for it, before it waits for the rate limiter. */
  inTurn?: Turns;
  onRetry?(fault: Fault, delayMs: number, attempts: Attempts): void;
}

/** How attempts came out: `fault` is that of the last one. */
export type RetryResult<T> =
  | { kind: 'ok'; value: T }
  /** Another attempt would not help. */
  | { kind: 'refused'; fault: Fault }
  | { kind: 'gave_up'; fault: Fault }
  | { kind: 'interrupted'; fault: Fault };

/**
 * Makes attempts until one is answered or refused, the signal aborts, `giveUpAfterMs` have passed, or the time for the
 * command has nearly passed. The first attempt is always made.
 */
export async function retry<T>(attempt: () => Promise<Answer<T>>, options: RetryOptions): Promise<RetryResult<T>> {
  const { clock, signal, requestTimeoutMs = Number.POSITIVE_INFINITY, leftMs, inTurn = (action) => action() } = options;
  const isWorthIt = options.isRetryable ?? isRetryable;
  const attempts = createAttempts(options);
  for (let last: Fault | undefined; ; ) {
    const queuedAtMs = clock.elapsedMs();
    const tried = await inTurn(() => next(queuedAtMs, last));
    if (tried.kind !== 'fault') return tried;
    const { fault } = tried;
    if (isInterruption(fault)) return { kind: 'interrupted', fault };
    if (!isWorthIt(fault)) return { kind: 'refused', fault };
    const delayMs = attempts.failed(fault);
    if (delayMs === undefined) return { kind: 'gave_up', fault };
    options.onRetry?.(fault, delayMs, attempts);
    if (await pause(delayMs, clock, signal, fault.retryAfterMs)) attempts.woke();
    last = fault;
  }

  /** The next attempt in its turn, unless it comes too late for one after the fault of the last. */
  async function next(queuedAtMs: number, last: Fault | undefined): Promise<Answer<T> | RetryResult<T>> {
    await attempts.takeTurn(queuedAtMs);
    if (last && signal.aborted) return { kind: 'interrupted', fault: last };
    if (last && leftMs && leftMs() < lastMomentMs) return { kind: 'gave_up', fault: last };
    const tookMs = stopwatch(clock);
    const answer = await attempt();
    if (answer.kind === 'fault' && tookMs() > requestTimeoutMs + suspendedMs) attempts.woke();
    return answer;
  }
}
