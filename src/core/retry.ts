import { type Answer, type Failure, failureOf } from './failure.ts';
import type { Ports, RunOrAutomation } from './ports.ts';

export interface RetryOptions {
  /** What the request is about. */
  run: RunOrAutomation;
  /** How long to go on without a valid answer. */
  patienceMs: number;
  /** Until when, by `clock.elapsedMs`; if absent, for as long as the patience lasts. */
  deadlineMs?: number | undefined;
  mayRetry(failure: Failure): boolean;
  /** Costs no patience, because an outage doesn't end a watch. */
  isFree?(failure: Failure): boolean;
  /** Asked before each attempt. */
  mayAttempt?(): boolean;
}

const firstBackoffMs = 1000;
const maxBackoffMs = 30_000;
/** No more of a `Retry-After` is waited for once a run is followed. */
export const maxRetryAfterMs = 600_000;
/**
 * What is kept of the patience for a last attempt. With less, a connection that is refused at once
 * would be tried in a busy loop.
 */
const lastAttemptMs = 1000;

/**
 * Repeats a request until it gets a valid answer, a signal comes, or it fails in a way that isn't
 * retried, and returns the last answer. Silence is the sum of what attempts and pauses took, so
 * that time asleep doesn't count.
 */
export async function retry<T>(
  attempt: (timeoutMs: number) => Promise<Answer<T>>,
  options: RetryOptions,
  { clock, random, signal, requestTimeoutMs, turn, emit }: Ports,
): Promise<Answer<T>> {
  const { run, patienceMs, deadlineMs = Number.POSITIVE_INFINITY, mayRetry, mayAttempt } = options;
  let spareMs = patienceMs;
  let silentMs = 0;
  let answer: Answer<T> = { ok: false, failure: failureOf('out_of_time') };
  for (let failures = 0; ; failures++) {
    await turn();
    if (signal.aborted) return { ok: false, failure: failureOf('interrupted') };
    if (mayAttempt?.() === false) return answer;
    const timeoutMs = Math.min(requestTimeoutMs, Math.max(spareMs, lastAttemptMs));
    const startedMs = clock.elapsedMs();
    answer = await attempt(timeoutMs);
    if (answer.ok) return answer;
    const { failure } = answer;
    if (!mayRetry(failure)) return answer;

    // An attempt can only take longer than it may if the machine slept.
    const tookMs = Math.min(clock.elapsedMs() - startedMs, timeoutMs);
    const isFree = options.isFree?.(failure) ?? false;
    silentMs += tookMs;
    spareMs = isFree ? patienceMs : spareMs - tookMs;
    const leftMs = deadlineMs - clock.elapsedMs();
    const pause = pauseAfter(failure, failures, { isFree, spareMs, leftMs, random });
    if (!pause) return answer;
    const { delayMs, isLast } = pause;
    emit({ type: 'retry', run, failure, silentMs });
    await clock.sleep(delayMs, signal);
    const { retryAfterMs = 0 } = failure;
    // Some of it has passed.
    if (isLast) return { ok: false, failure: { ...failure, retryAfterMs: retryAfterMs - delayMs } };
    silentMs += delayMs;
    if (!isFree) spareMs -= delayMs;
  }
}

interface PauseLimits {
  isFree: boolean;
  spareMs: number;
  leftMs: number;
  random(): number;
}

/** Undefined: there is no time for another attempt. `isLast`: nor is there after the pause. */
function pauseAfter(
  { retryAfterMs = 0 }: Failure,
  failures: number,
  { isFree, spareMs, leftMs, random }: PauseLimits,
): { delayMs: number; isLast: boolean } | undefined {
  const maxMs = isFree ? Number.POSITIVE_INFINITY : spareMs - lastAttemptMs;
  const askedMs = isFree ? Math.min(retryAfterMs, maxRetryAfterMs) : retryAfterMs;
  if (leftMs <= 0 || maxMs <= 0 || askedMs > maxMs) return undefined;
  // Full jitter: "Exponential Backoff And Jitter", AWS Architecture Blog.
  const backoffMs = random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** failures);
  const delayMs = Math.min(Math.max(backoffMs, askedMs), leftMs, maxMs);
  // The service doesn't want to be asked before the deadline.
  return { delayMs, isLast: askedMs > delayMs };
}
