import { isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { hostSkewMs, largestSkewMs, type Span } from './whose-run.ts';

export interface HowStarted {
  /** `recovered`: an earlier attempt had started it; `replayed`: an earlier use of the same idempotency key. */
  how: 'started' | 'recovered' | 'replayed';
  started: 'yes' | 'no' | 'unknown';
}

interface Acceptance {
  target: Target;
  execution: Execution;
  began?: Span;
  userProvided: boolean;
  wasInDoubt: boolean;
  isRecovery?: boolean;
}

export function howStarted({ userProvided, wasInDoubt, isRecovery, ...accepted }: Acceptance): HowStarted {
  const { target, execution, began } = accepted;
  const isFinished = isFinal(target, execution.status) || execution.completedAt !== undefined;
  const isNew = began !== undefined && began.leastMs > -hostSkewMs;
  if (isRecovery) {
    if (isFinished || (began !== undefined && began.mostMs < 0)) return { how: 'recovered', started: 'no' };
    return { how: 'started', started: isNew ? 'yes' : 'unknown' };
  }
  if (userProvided) {
    const isOld = began !== undefined && began.mostMs < -largestSkewMs;
    if (isFinished || isOld) return { how: 'replayed', started: 'no' };
    if (!isNew) return { how: 'started', started: 'unknown' };
  }
  return { how: wasInDoubt ? 'recovered' : 'started', started: 'yes' };
}
