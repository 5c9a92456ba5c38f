import type { Clock } from '../runs/clock.ts';
import type { RetryPorts } from '../runs/retry.ts';
import type { Answer, Execution } from '../runs/service.ts';

/** A moment by both clocks of this machine. For another process, only the wall clock is known. */
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
 * How long after `moment` a run began, by the service's clock; negative if before. The service read its clock for the
 * `Date` between our request and its response. Either of our clocks may be wrong, so the span covers both.
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

export interface DatedExecution {
  execution: Execution;
  dated: DatedAnswer;
  retryAfterMs?: number;
}

/** Asks for a run, and notes when it asked and when the run began, by the clocks of both sides. */
export async function askDated(
  ask: () => Promise<Answer<Execution>>,
  { clock }: Pick<RetryPorts, 'clock'>,
): Promise<Answer<DatedExecution>> {
  const sent = momentOf(clock);
  const answer = await ask();
  if (answer.kind === 'fault') return answer;
  const { value: execution, serviceTimeMs, retryAfterMs } = answer;
  const began = execution.createdAt ?? execution.startedAt;
  const beganAtMs = began === undefined ? undefined : Date.parse(began);
  const dated = { beganAtMs, serviceTimeMs, sent, received: momentOf(clock) };
  return { kind: 'ok', value: { execution, dated, retryAfterMs } };
}
