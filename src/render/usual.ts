import { formatAge } from '../runs/duration.ts';
import type { PastRun } from '../runs/statistics.ts';
import { isLongerThanUsual, usualDurationMs } from '../runs/usual-duration.ts';

export interface Usual {
  usualMs: number;
  isLate: boolean;
  /** `usually 2s`, or `late, usually 2s`. */
  text: string;
}

/** How an unfinished run of this age compares with earlier ones; undefined if too few say how long it usually takes. */
export function usualOf(ageMs: number, history: readonly PastRun[]): Usual | undefined {
  const durationsMs = history.map(({ durationMs }) => durationMs);
  const usualMs = usualDurationMs(durationsMs);
  if (usualMs === undefined) return undefined;
  const isLate = isLongerThanUsual(ageMs, durationsMs);
  return { usualMs, isLate, text: `${isLate ? 'late, ' : ''}usually ${formatAge(usualMs).split(' ')[0]}` };
}
