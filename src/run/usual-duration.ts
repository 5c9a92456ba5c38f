import { formatDuration } from '../system/time-text.ts';

const fewestRuns = 3;
const minuteMs = 60_000;

/**
 * `usually 5m`: the median of these durations, to the second, from a minute on to the minute.
 * Undefined if there are too few.
 */
export function usualOf(durationsMs: readonly number[]): string | undefined {
  if (durationsMs.length < fewestRuns) return undefined;
  const ascending = durationsMs.toSorted((one, other) => one - other);
  const medianMs = ascending[Math.floor((ascending.length - 1) / 2)] ?? 0;
  const unitMs = medianMs < minuteMs ? 1_000 : minuteMs;
  return `usually ${formatDuration(Math.max(unitMs, Math.round(medianMs / unitMs) * unitMs))}`;
}
