import { isRetryable } from '../runs/fault.ts';
import { type RetryPorts, type RetryResult, retry } from '../runs/retry.ts';
import type { Run } from '../runs/run.ts';
import type { Service } from '../runs/service.ts';
import { askDated, beganAfter, type DatedAnswer, type DatedExecution, type Moment } from './moments.ts';

export const hostSkewMs = 2_000;
export const largestSkewMs = 60_000;

export type Owner = 'ours' | 'another' | 'unknown';

/**
 * At most one run is active, so if it began before our first attempt, all our attempts were refused. That closes the
 * trigger, so both clocks must agree (docs/service.md, Whose run a conflict names).
 */
export function whoseRun({ first, lastInDoubt }: { first: Moment; lastInDoubt: Moment }, answer: DatedAnswer): Owner {
  const afterFirst = beganAfter(first, answer);
  const afterLast = beganAfter(lastInDoubt, answer);
  if (!afterFirst || !afterLast) return 'unknown';
  if (afterFirst.mostMs < -largestSkewMs) return first.elapsedMs === undefined ? 'unknown' : 'another';
  return afterFirst.leastMs >= -hostSkewMs && afterLast.mostMs <= largestSkewMs ? 'ours' : 'unknown';
}

/** Asks for the run that a conflict names. The service may not find it at once. */
export function fetchNamedRun(
  run: Run,
  { service, ...ports }: RetryPorts & { service: Pick<Service, 'status'> },
): Promise<RetryResult<DatedExecution>> {
  return retry(() => askDated(() => service.status(run, ports.signal), ports), {
    ...ports,
    lane: 'poll',
    // The trigger reports its own attempts.
    onRetry: undefined,
    isRetryable: (fault) => isRetryable(fault) || fault.kind === 'not_found' || fault.kind === 'path_not_found',
  });
}
