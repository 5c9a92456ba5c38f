import { type ApiKeyReload, faultAfterReload } from '../run/api-key-reload.ts';
import type { FailedAttempt } from '../run/events.ts';
import {
  type Fault,
  interruptedFault,
  isInterruption,
  isRetryable as isRetryableFault,
} from '../run/fault.ts';
import type { Answer } from '../run/service.ts';
import { type Clock, machineSlept, onAbort, pause, stopwatch } from '../system/clock.ts';
import { type Priority, type RateLimiter, withPermit } from './rate-limiter.ts';

const firstBackoffMs = 500;
const maxBackoffMs = 15_000;
const minBackoffMs = 50;
/** With less time left for the command, an attempt couldn't get a response in time. */
export const minCommandLeftMs = 1_000;
/** An attempt has at least this time, because the rest of `--give-up-after` may be too short. */
export const minAttemptTimeoutMs = 1_000;

/**
 * How long to wait after this many failures in a row if failed attempts are retried for
 * `retryForMs`; undefined to give up now. Uses full jitter (AWS, "Exponential Backoff And Jitter").
 * The last attempt is made when that time ends, but never before `Retry-After`.
 */
export function backoffMs(
  failures: number,
  retryForMs: number,
  random: () => number,
  retryAfterMs = 0,
): number | undefined {
  if (retryForMs <= 0 || retryAfterMs > retryForMs) return undefined;
  const ceilingMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(failures - 1, 20));
  return Math.min(retryForMs, Math.max(minBackoffMs, random() * ceilingMs, retryAfterMs));
}

export interface RetryPorts {
  limiter: RateLimiter;
  clock: Clock;
  random(): number;
  signal: AbortSignal;
  /** Time without a valid response after which attempts end. */
  giveUpAfterMs: number;
  /** The time limit of an attempt. If one takes much longer, the machine slept. */
  requestTimeoutMs?: number;
  /** The time that is left for the whole command. No attempt starts in the last second. */
  commandLeftMs?(): number;
}

export interface RetryOptions extends RetryPorts {
  priority: Priority;
  isRetryable?(fault: Fault): boolean;
  /** Reads a refused API key again. If there is another one, the next attempt is made at once. */
  reloadApiKey?(refused: Fault): Promise<ApiKeyReload>;
  /** Called before each wait. */
  onRetry?(failed: FailedAttempt): void;
}

/** The last answer to a request, which may have been retried. */
export type LastAnswer<T> = Answer<T> & {
  /** The user left, so no further attempt was made. */
  isInterrupted?: boolean;
};

/**
 * Makes attempts until one succeeds or can't be retried, or their time has passed. The first
 * attempt is always made. Each may take as long as is left of `giveUpAfterMs`.
 */
export async function retry<T>(
  attempt: (timeoutMs: number) => Promise<Answer<T>>,
  options: RetryOptions,
): Promise<LastAnswer<T>> {
  const {
    limiter,
    clock,
    random,
    signal,
    giveUpAfterMs,
    priority,
    onRetry,
    isRetryable = isRetryableFault,
    requestTimeoutMs = Number.POSITIVE_INFINITY,
    commandLeftMs = () => Number.POSITIVE_INFINITY,
  } = options;
  const silence = createSilence(clock);
  let failures = 0;
  let last: Fault | undefined;
  for (;;) {
    if (last && commandLeftMs() < minCommandLeftMs) return failed(last);
    const answer = await attemptWithPermit();
    if (!answer) return withoutPermit(last);
    if (answer.kind === 'ok') return answer;
    last = answer.fault;
    const fault = await faultUnlessApiKeyChanged(last, options);
    if (!fault) {
      // The service has responded, and reading the API key may have taken long.
      silence.end();
      continue;
    }
    if (isInterruption(fault)) return interrupted(fault);
    if (!isRetryable(fault)) return failed(fault);
    failures += 1;
    const retryForMs = Math.min(
      giveUpAfterMs - silence.elapsedMs(),
      commandLeftMs() - minCommandLeftMs,
    );
    const delayMs = backoffMs(failures, retryForMs, random, fault.retryAfterMs);
    if (delayMs === undefined) return failed(fault);
    onRetry?.({ fault, failures, silentMs: silence.elapsedMs(), retryForMs, retryInMs: delayMs });
    // After a sleep or a stop, the time without a valid response counts from the next attempt.
    if (await pause(delayMs, clock, signal, fault.retryAfterMs)) silence.end();
  }

  function withoutPermit(last: Fault | undefined): LastAnswer<never> {
    return signal.aborted ? interrupted(last ?? interruptedFault) : failed(last ?? noPermitFault);
  }

  /** Undefined if the time was up, or the user left, before it got a permit. */
  function attemptWithPermit(): Promise<Answer<T> | undefined> {
    const queuedAtMs = clock.elapsedMs();
    const permit = { priority, signal, leftMs: () => commandLeftMs() - minCommandLeftMs };
    return withPermit(limiter, permit, async () => {
      silence.beginOrContinue(clock.elapsedMs() - queuedAtMs);
      const tookMs = stopwatch(clock);
      const silenceLeftMs = Math.ceil(giveUpAfterMs - silence.elapsedMs());
      const answer = await attempt(Math.max(minAttemptTimeoutMs, silenceLeftMs));
      if (machineSlept(tookMs(), requestTimeoutMs)) silence.end();
      return answer;
    });
  }
}

/**
 * Measures the silence of the service, which is the time without a valid response. It begins with
 * the first attempt.
 */
function createSilence(clock: Clock) {
  let beganAtMs: number | undefined;
  return {
    elapsedMs: () => (beganAtMs === undefined ? 0 : clock.elapsedMs() - beganAtMs),
    /**
     * Waiting for the rate limiter's permit, `queuedMs`, doesn't count as silence of the service.
     */
    beginOrContinue(queuedMs: number): void {
      beganAtMs = beganAtMs === undefined ? clock.elapsedMs() : beganAtMs + queuedMs;
    },
    end(): void {
      beganAtMs = undefined;
    },
  };
}

const failed = (fault: Fault): LastAnswer<never> => ({ kind: 'fault', fault });
const interrupted = (fault: Fault): LastAnswer<never> => ({
  kind: 'fault',
  fault,
  isInterrupted: true,
});

/**
 * Reads a refused API key again. Returns undefined if there is another one, and the interrupted
 * fault if a signal came first.
 */
async function faultUnlessApiKeyChanged(
  fault: Fault,
  { reloadApiKey, signal }: RetryOptions,
): Promise<Fault | undefined> {
  if (fault.kind !== 'unauthorized' || !reloadApiKey) return fault;
  const reload = await unlessAborted(reloadApiKey(fault), signal);
  if (!reload) return interruptedFault;
  return reload.kind === 'changed' ? undefined : faultAfterReload(fault, reload);
}

/** Undefined as soon as the signal aborts. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => resolve(undefined));
    if (signal.aborted) resolve(undefined);
    work.then(resolve, reject).finally(forget);
  });
}

const noPermitFault: Fault = {
  kind: 'no_permit',
  message: '`--timeout` expired before it could be sent',
};
