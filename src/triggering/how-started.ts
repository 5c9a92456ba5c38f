import { isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { Span } from './moments.ts';
import { hostSkewMs, largestSkewMs } from './whose-run.ts';

export interface HowStarted {
  /**
   * `recovered`: an earlier attempt started it. `replayed`: an earlier use of the same idempotency key did.
   * `found`: this command started it, or another one with the same key.
   */
  how: 'started' | 'recovered' | 'found' | 'replayed';
  started: 'yes' | 'no' | 'unknown';
}

/** The run in the response to an attempt. Its start is a span after an attempt, negative if before. */
export interface Acceptance {
  target: Target;
  execution: Execution;
  afterFirst?: Span; // the first attempt of this process
  afterThis?: Span; // the attempt that got this response
  userProvided: boolean;
  wasInDoubt: boolean; // an earlier attempt, including those of other processes
  mayHaveActed: boolean; // the service may have acted on an earlier attempt of this process
  isEarlierRecent: boolean; // another process sent the key so recently that the run may be its own
  isRecovery?: boolean;
}

/** If a run began this long before our first attempt, its key was used earlier. More than clocks can differ. */
const replayedMs = 5_000;

const isBefore = (span: Span | undefined, byMs: number) => span !== undefined && span.mostMs <= -byMs;

/** Claims only what the times show, because the service may ignore idempotency keys and start another run. */
export function howStarted(accepted: Acceptance): HowStarted {
  const { target, execution, afterFirst, afterThis, userProvided, wasInDoubt, mayHaveActed, isRecovery } = accepted;
  const isFinished = isFinal(target, execution.status) || execution.completedAt !== undefined;
  // A finished run is an older one, unless a lost response to this process may have named it.
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
 * Does the response show that the service honors keys, because the run began before the attempt and the key had been sent?
 * Triggers are resent because of this, so it allows for the largest possible difference between the service's clocks.
 */
export function showsHonoredKey({ afterThis, userProvided, wasInDoubt }: Acceptance): boolean {
  return (userProvided || wasInDoubt) && isBefore(afterThis, largestSkewMs);
}
