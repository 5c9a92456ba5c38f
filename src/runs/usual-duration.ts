import { formatDuration } from './time-text.ts';

const ascending = (values: readonly number[]) => Float64Array.from(values).sort();

/** The smallest value that at least this share of the values doesn't exceed. Null if there are no values. */
function quantileOf(sorted: Float64Array, share: number): number | null {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null;
}

const fewestRuns = 3;

/** To the second, from a minute on to the minute. */
function roughly(ms: number): string {
  const unitMs = ms < minuteMs ? 1_000 : minuteMs;
  return formatDuration(Math.round(ms / unitMs) * unitMs);
}

const minuteMs = 60_000;

export interface Usual {
  usualMs: number;
  isLate: boolean;
  /** `about 2s left`, `due now` or `2m late`. */
  text: string;
}

/** How an unfinished run of this age compares with earlier ones; undefined if too few say how long it usually takes. */
export function usualOf(ageMs: number, earlierMs: readonly number[]): Usual | undefined {
  const sorted = ascending(earlierMs);
  const usualMs = quantileOf(sorted, 0.5);
  if (sorted.length < fewestRuns || usualMs === null) return undefined;
  // Longer than 90% of them, and clearly longer than their median.
  const isLate = ageMs > Math.max(1.2 * usualMs, quantileOf(sorted, 0.9) ?? 0);
  const left = roughly(usualMs - ageMs);
  if (isLate) return { usualMs, isLate, text: `${roughly(ageMs - usualMs)} late` };
  return { usualMs, isLate, text: left === '0s' ? 'due now' : `about ${left} left` };
}
