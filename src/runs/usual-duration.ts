const runsThatCount = 10;
const fewestRuns = 3;

/** The median of the newest ten durations. Undefined if there are fewer than three. */
export const usualDurationMs = (durationsMs: readonly number[]): number | undefined => quantileMs(durationsMs, 0.5);

/** Has a run of this age taken longer than 90% of past runs, and clearly longer than their median? */
export function isLongerThanUsual(ageMs: number, durationsMs: readonly number[]): boolean {
  const usualMs = quantileMs(durationsMs, 0.5);
  const slowMs = quantileMs(durationsMs, 0.9);
  return usualMs !== undefined && slowMs !== undefined && ageMs > Math.max(1.2 * usualMs, slowMs);
}

function quantileMs(durationsMs: readonly number[], share: number): number | undefined {
  const newestMs = durationsMs.filter((ms) => ms > 0 && Number.isFinite(ms)).slice(0, runsThatCount);
  return newestMs.length < fewestRuns
    ? undefined
    : newestMs.sort((a, b) => a - b)[Math.ceil(share * newestMs.length) - 1];
}
