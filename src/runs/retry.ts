import type { Clock } from './clock.ts';
import { pause } from './pause.ts';
import type { Answer, Fault } from './service.ts';

const firstBackoffMs = 500;
const longestBackoffMs = 15_000;
const shortestBackoffMs = 50;

/**
 * The wait before the next attempt, in milliseconds: full jitter over an exponential ceiling (AWS, "Exponential
 * Backoff And Jitter"), and never less than what `Retry-After` asked for. `failures` counts from 1.
 */
export function retryDelayMs(failures: number, fault: Pick<Fault, 'retryAfterMs'>, random: () => number): number {
  const ceilingMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(shortestBackoffMs, random() * ceilingMs, fault.retryAfterMs ?? 0);
}

/**
 * How long to wait when `leftMs` of patience remain; undefined when it is time to give up. Our own backoff is cut so
 * that one look falls on the end of patience; what the service asked for is never cut: better no look than an early one.
 */
export function waitWithin(leftMs: number, delayMs: number, fault: Pick<Fault, 'retryAfterMs'>): number | undefined {
  if (leftMs <= 0 || (fault.retryAfterMs ?? 0) > leftMs) return undefined;
  return Math.min(delayMs, leftMs);
}

export interface Patience {
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
  const { clock, random, signal, giveUpAfterMs } = patience;
  let startMs = clock.elapsedMs();
  for (let failures = 1; ; failures++) {
    const answer = await attempt();
    if (answer.kind === 'good' || !answer.fault.transient) return answer;
    const leftMs = startMs + giveUpAfterMs - clock.elapsedMs();
    const delayMs = waitWithin(leftMs, retryDelayMs(failures, answer.fault, random), answer.fault);
    if (delayMs === undefined) return answer;
    patience.onRetry?.(answer.fault, delayMs);
    if ((await pause(delayMs, clock, signal, answer.fault.retryAfterMs)) === 'woke') startMs = clock.elapsedMs();
    if (signal.aborted) return { kind: 'fault', fault: interruption };
  }
}

/** Our own signal, between two attempts. */
export const interruption: Fault = { kind: 'interrupted', transient: false, acted: 'no', message: 'interrupted' };
