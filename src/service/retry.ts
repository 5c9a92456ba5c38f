import type { FailedAttempt } from '../run/events.ts';
import { type Fault, interrupted, isInterruption, isRetryable } from '../run/fault.ts';
import type { Answer } from '../run/service.ts';
import { type Clock, pause, stopwatch, suspendedMs } from '../system/clock.ts';
import { inTurn, type Lane, type RateLimiter } from './rate-limiter.ts';

const firstBackoffMs = 500;
const longestBackoffMs = 15_000;
const shortestBackoffMs = 50;
const lastMomentMs = 1_000;
// The rest of `giveUpAfterMs` may be too short for any response.
export const leastLimitMs = 1_000;

/**
 * How long to wait after this many failures in a row if retries end in `leftMs`; undefined to give up now. Uses full jitter
 * (AWS, "Exponential Backoff And Jitter"). The last attempt is made when the time ends, but never before `Retry-After`.
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
  limiter: RateLimiter;
  clock: Clock;
  random(): number;
  signal: AbortSignal;
  giveUpAfterMs: number; // time without a valid response after which attempts end
  /** The time limit of an attempt. If one takes much longer, the machine slept. */
  requestTimeoutMs?: number;
  leftMs?(): number; // time left for the whole command; no attempt starts in the last second
}

export interface RetryOptions extends RetryPorts {
  lane: Lane;
  isRetryable?(fault: Fault): boolean;
  onRetry?(failed: FailedAttempt): void; // called before each wait
}

type RetryResult<T> = { kind: 'ok'; value: T } | { kind: 'refused' | 'gave_up' | 'interrupted'; fault: Fault };

/**
 * Makes attempts until one succeeds or is refused, or their time has passed. The first attempt is always made. Each is told
 * how much is left of the time without a valid response.
 */
export async function retry<T>(
  attempt: (leftMs: number) => Promise<Answer<T>>,
  options: RetryOptions,
): Promise<RetryResult<T>> {
  const {
    limiter,
    clock,
    random,
    signal,
    giveUpAfterMs,
    onRetry,
    requestTimeoutMs = Number.POSITIVE_INFINITY,
  } = options;
  const { isRetryable: isWorthIt = isRetryable, lane } = options;
  const leftMs = options.leftMs ?? (() => Number.POSITIVE_INFINITY);
  let failures = 0;
  let silentSinceMs: number | undefined;
  const silentMs = () => (silentSinceMs === undefined ? 0 : clock.elapsedMs() - silentSinceMs);
  for (let last: Fault | undefined; ; ) {
    const tried = await next(last);
    if (tried.kind !== 'fault') return tried;
    const { fault } = tried;
    if (isInterruption(fault)) return { kind: 'interrupted', fault };
    if (!isWorthIt(fault)) return { kind: 'refused', fault };
    failures += 1;
    const triedForMs = Math.min(giveUpAfterMs - silentMs(), leftMs() - lastMomentMs);
    const delayMs = backoffMs(failures, fault, triedForMs, random);
    if (delayMs === undefined) return { kind: 'gave_up', fault };
    onRetry?.({ fault, failures, silentMs: silentMs(), triedForMs, retryInMs: delayMs });
    // After a sleep or a stop, the time without a valid response counts from the next attempt.
    if (await pause(delayMs, clock, signal, fault.retryAfterMs)) silentSinceMs = undefined;
    last = fault;
  }

  async function next(last: Fault | undefined): Promise<Answer<T> | RetryResult<T>> {
    const ended = (fault = unsent): RetryResult<T> => ({ kind: 'gave_up', fault });
    if (last && leftMs() < lastMomentMs) return ended(last);
    const queuedAtMs = clock.elapsedMs();
    const request = { lane, signal, leftMs: () => leftMs() - lastMomentMs };
    const answer = await inTurn(limiter, request, async () => {
      // Waiting for our own turn doesn't count as silence of the service.
      const nowMs = clock.elapsedMs();
      silentSinceMs = silentSinceMs === undefined ? nowMs : silentSinceMs + nowMs - queuedAtMs;
      const tookMs = stopwatch(clock);
      const answer = await attempt(Math.max(leastLimitMs, Math.ceil(giveUpAfterMs - silentMs())));
      if (tookMs() > requestTimeoutMs + suspendedMs) silentSinceMs = undefined;
      return answer;
    });
    if (answer) return answer;
    return signal.aborted ? { kind: 'interrupted', fault: last ?? interrupted } : ended(last);
  }
}

const unsent: Fault = { kind: 'unsent', message: '`--timeout` expired before it could be sent' };
