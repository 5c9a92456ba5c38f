import type { Clock } from '../runs/clock.ts';
import { isRetryable } from '../runs/fault.ts';
import { type RetryPorts, type RetryResult, retry } from '../runs/retry.ts';
import { isFinal, type Run, type Target } from '../runs/run.ts';
import type { Answer, Execution, Service } from '../runs/service.ts';

/** A moment by both clocks of this machine; of another process only the wall clock is known. */
export interface Moment {
  wallMs: number;
  elapsedMs?: number;
}

export const momentOf = (clock: Pick<Clock, 'nowMs' | 'elapsedMs'>): Moment => ({
  wallMs: clock.nowMs(),
  elapsedMs: clock.elapsedMs(),
});

export interface DatedAnswer {
  beganAtMs?: number;
  serviceTimeMs?: number;
  sent: Moment;
  received: Moment;
}

export interface Span {
  leastMs: number;
  mostMs: number;
}

// RFC 9110 §5.6.7: an HTTP date has no fractions of a second.
const dateStepMs = 1000;

/**
 * How long after `moment` a run began, by the service's clock: negative if before. The service read that for the `Date`
 * between our request and its answer; each clock of ours may be wrong, so the span covers what both say.
 */
export function beganAfter(
  moment: Moment,
  { beganAtMs, serviceTimeMs, sent, received }: DatedAnswer,
): Span | undefined {
  if (beganAtMs === undefined || serviceTimeMs === undefined) return undefined;
  const sinceDateMs = beganAtMs - serviceTimeMs;
  const by = (read: (at: Moment) => number) => ({
    leastMs: sinceDateMs - dateStepMs + read(sent) - read(moment),
    mostMs: sinceDateMs + read(received) - read(moment),
  });
  const wall = by(({ wallMs }) => wallMs);
  const awake = by(({ elapsedMs = Number.NaN }) => elapsedMs);
  if (Number.isNaN(awake.leastMs)) return wall;
  return { leastMs: Math.min(wall.leastMs, awake.leastMs), mostMs: Math.max(wall.mostMs, awake.mostMs) };
}

export const hostSkewMs = 2_000;
export const largestSkewMs = 60_000;

export type Owner = 'ours' | 'another' | 'unknown';

/**
 * At most one run is active, so a run that began before our first attempt had them all refused. As that closes the
 * trigger, both clocks must say so (docs/service.md, Whose run a conflict names).
 */
export function whoseRun({ first, lastInDoubt }: { first: Moment; lastInDoubt: Moment }, answer: DatedAnswer): Owner {
  const afterFirst = beganAfter(first, answer);
  const afterLast = beganAfter(lastInDoubt, answer);
  if (!afterFirst || !afterLast) return 'unknown';
  if (afterFirst.mostMs < -largestSkewMs) return first.elapsedMs === undefined ? 'unknown' : 'another';
  return afterFirst.leastMs >= -hostSkewMs && afterLast.mostMs <= largestSkewMs ? 'ours' : 'unknown';
}

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

export interface DatedExecution {
  execution: Execution;
  dated: DatedAnswer;
}

/** Asks for a run, and notes by the clocks of both sides when it was asked for and when the run began. */
export async function askDated(
  ask: () => Promise<Answer<Execution>>,
  { clock }: Pick<RetryPorts, 'clock'>,
): Promise<Answer<DatedExecution>> {
  const sent = momentOf(clock);
  const answer = await ask();
  if (answer.kind === 'fault') return answer;
  const { value: execution, serviceTimeMs } = answer;
  const began = execution.createdAt ?? execution.startedAt;
  const beganAtMs = began === undefined ? undefined : Date.parse(began);
  return { kind: 'ok', value: { execution, dated: { beganAtMs, serviceTimeMs, sent, received: momentOf(clock) } } };
}

/** Asks for the run that a conflict names, which the service may not find at once. */
export function fetchNamedRun(
  run: Run,
  { service, ...ports }: RetryPorts & { service: Pick<Service, 'status'> },
): Promise<RetryResult<DatedExecution>> {
  return retry(() => askDated(() => service.status(run, ports.signal), ports), {
    ...ports,
    // The trigger that asks already has its turn, and reports its own attempts.
    inTurn: undefined,
    onRetry: undefined,
    isRetryable: (fault) => isRetryable(fault) || fault.kind === 'not_found' || fault.kind === 'path_not_found',
  });
}
