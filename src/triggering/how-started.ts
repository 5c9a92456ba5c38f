import { isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { Span } from './moments.ts';
import { hostSkewMs, largestSkewMs } from './whose-run.ts';

export interface HowStarted {
  /**
   * `recovered`: an earlier attempt had started it; `replayed`: an earlier use of the same idempotency key;
   * `found`: this command, or another one with the same key.
   */
  how: 'started' | 'recovered' | 'found' | 'replayed';
  started: 'yes' | 'no' | 'unknown';
}

/** A run that came as the answer to an attempt. When it began is a span after an attempt: negative if before. */
export interface Acceptance {
  target: Target;
  execution: Execution;
  afterFirst?: Span; // the first attempt of this process
  afterThis?: Span; // the attempt that was answered
  userProvided: boolean;
  wasInDoubt: boolean; // an earlier attempt, also of another process
  mayHaveActed: boolean; // the service may have acted on an earlier attempt of this process
  isEarlierRecent: boolean; // another process has sent the key so shortly before that its run may be as young
  isRecovery?: boolean;
}

/** A given key is older than this if the run began so long before our first attempt: more than clocks differ. */
const replayedMs = 5_000;

const isBefore = (span: Span | undefined, byMs: number) => span !== undefined && span.mostMs <= -byMs;

/** Says only what the times show: the service may ignore idempotency keys, and start another run. */
export function howStarted(accepted: Acceptance): HowStarted {
  const { target, execution, afterFirst, afterThis, userProvided, wasInDoubt, mayHaveActed, isRecovery } = accepted;
  const isFinished = isFinal(target, execution.status) || execution.completedAt !== undefined;
  // A finished run is an older one, unless a lost answer to this process may have been about it.
  const isOlder = isFinished && !mayHaveActed;
  if (isRecovery) {
    if (isOlder || isBefore(afterFirst, hostSkewMs)) return { how: 'recovered', started: 'no' };
    const isOurs = !accepted.isEarlierRecent && afterFirst !== undefined && afterFirst.leastMs > -hostSkewMs;
    return { how: 'started', started: isOurs ? 'yes' : 'unknown' };
  }
  if (userProvided) {
    if (isOlder || isBefore(afterFirst, replayedMs)) return { how: 'replayed', started: 'no' };
    return { how: 'found', started: 'unknown' };
  }
  return { how: wasInDoubt && isBefore(afterThis, hostSkewMs) ? 'recovered' : 'started', started: 'yes' };
}

/**
 * Does the answer show that the service honors keys: a run that began before the attempt, whose key had been sent? As
 * triggers are sent again because of it, the clocks of the service's hosts may differ by as much as they ever do.
 */
export function showsHonoredKey({ afterThis, userProvided, wasInDoubt }: Acceptance): boolean {
  return (userProvided || wasInDoubt) && isBefore(afterThis, largestSkewMs);
}
