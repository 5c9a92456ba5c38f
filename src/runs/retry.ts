import { type Budget, queue } from './budget.ts';
import type { Clock } from './clock.ts';
import { pause } from './pause.ts';
import type { Answer, Fault } from './service.ts';

const firstBackoffMs = 500;
const longestBackoffMs = 15_000;
const shortestBackoffMs = 50;

/**
 * How long to wait after so many failures in a row (from 1), when `leftMs` of patience remain; undefined when it is time
 * to give up. Full jitter over an exponential ceiling (AWS, "Exponential Backoff And Jitter"), cut so that one attempt
 * falls on the end of patience. What `Retry-After` asked for is never cut: better no attempt than an early one.
 */
export function retryWaitMs(
  failures: number,
  { retryAfterMs = 0 }: Pick<Fault, 'retryAfterMs'>,
  leftMs: number,
  random: () => number,
): number | undefined {
  if (leftMs <= 0 || retryAfterMs > leftMs) return undefined;
  const ceilingMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures - 1, 20));
  return Math.min(leftMs, Math.max(shortestBackoffMs, random() * ceilingMs, retryAfterMs));
}

export interface Patience {
  /** Every attempt takes its token. */
  budget: Budget;
  clock: Clock;
  random(): number;
  signal: AbortSignal;
  /** Time without a good answer after which a passing fault is taken for good. */
  giveUpAfterMs: number;
  onRetry?(fault: Fault, delayMs: number): void;
}

/**
 * Repeats an attempt that changes nothing until it is answered or refused for good, or patience ends.
 * A fault that comes back with `transient: true` is one that patience ended on.
 */
export async function persist<T>(attempt: () => Promise<Answer<T>>, patience: Patience): Promise<Answer<T>> {
  const { budget, clock, random, signal, giveUpAfterMs } = patience;
  let startMs = clock.elapsedMs();
  for (let failures = 1; ; failures++) {
    // To wait for our own turn is no failure of the service.
    startMs += await queue(budget, clock, signal);
    const answer = await attempt();
    if (answer.kind === 'good' || !answer.fault.transient) return answer;
    const leftMs = startMs + giveUpAfterMs - clock.elapsedMs();
    const delayMs = retryWaitMs(failures, answer.fault, leftMs, random);
    if (delayMs === undefined) return answer;
    patience.onRetry?.(answer.fault, delayMs);
    if (await pause(delayMs, clock, signal, answer.fault.retryAfterMs)) startMs = clock.elapsedMs();
    if (signal.aborted) return { kind: 'fault', fault: interruption };
  }
}

/** Our own signal, between two attempts. */
const interruption: Fault = { kind: 'interrupted', transient: false, acted: 'no', message: 'interrupted' };
