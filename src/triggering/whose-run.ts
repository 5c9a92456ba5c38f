import type { Clock } from '../runs/clock.ts';

/** A moment by both clocks of this machine; of another process only the wall clock is known. Milliseconds. */
export interface Moment {
  wallMs: number;
  elapsedMs?: number;
}

export const momentOf = (clock: Pick<Clock, 'nowMs' | 'elapsedMs'>): Moment => ({
  wallMs: clock.nowMs(),
  elapsedMs: clock.elapsedMs(),
});

/** What an answer says about the beginning of a run, and when this machine asked. */
export interface DatedAnswer {
  /** When the run began, on the service's clock; undefined where the answer does not say. */
  beganAtMs?: number;
  /** The `Date` of the answer: the service's clock in whole seconds. */
  serviceTimeMs?: number;
  sent: Moment;
  received: Moment;
}

/** The least and the most that a time can be, in milliseconds. */
export interface Span {
  leastMs: number;
  mostMs: number;
}

// RFC 9110 §5.6.7: an HTTP date has no fractions of a second.
const dateStepMs = 1000;

/**
 * How long after `moment` a run began, on the service's clock: negative if before. The service read its clock for the
 * `Date` at some time between the request and the answer. Each of our clocks may be wrong (one stands still in sleep,
 * the other can be set), so the span covers what both say. Undefined where the answer lacks a time.
 */
export function beganAfter(
  moment: Moment,
  { beganAtMs, serviceTimeMs, sent, received }: DatedAnswer,
): Span | undefined {
  if (beganAtMs === undefined || serviceTimeMs === undefined) return undefined;
  const sinceDateMs = beganAtMs - serviceTimeMs;
  const readings = [readingOf(({ wallMs }) => wallMs), readingOf(({ elapsedMs }) => elapsedMs ?? Number.NaN)];
  const known = readings.filter(({ leastMs }) => !Number.isNaN(leastMs));
  return {
    leastMs: Math.min(...known.map(({ leastMs }) => leastMs)),
    mostMs: Math.max(...known.map(({ mostMs }) => mostMs)),
  };

  function readingOf(read: (at: Moment) => number): Span {
    return {
      leastMs: sinceDateMs - dateStepMs + read(sent) - read(moment),
      mostMs: sinceDateMs + read(received) - read(moment),
    };
  }
}

/** Hosts of one service may differ by this. */
export const hostSkewMs = 2_000;
/** And surely not by more than this. */
export const largestSkewMs = 60_000;

/** When our attempts to start a run were sent. */
interface AttemptTimes {
  first: Moment;
  /** The last one whose outcome is unknown. */
  lastInDoubt: Moment;
}

export type Owner = 'ours' | 'another' | 'unknown';

/**
 * Whose run a conflict names after an attempt in doubt. An automation has one active run at most: one that began before
 * our first attempt has refused them all. That it is another's needs both clocks, since it closes the trigger.
 */
export function whoseRun({ first, lastInDoubt }: AttemptTimes, answer: DatedAnswer): Owner {
  const afterFirst = beganAfter(first, answer);
  const afterLast = beganAfter(lastInDoubt, answer);
  if (!afterFirst || !afterLast) return 'unknown';
  if (afterFirst.mostMs < -largestSkewMs) return first.elapsedMs === undefined ? 'unknown' : 'another';
  return afterFirst.leastMs >= -hostSkewMs && afterLast.mostMs <= largestSkewMs ? 'ours' : 'unknown';
}
