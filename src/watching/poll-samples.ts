import { chanceOfOutlier, densityAtShare, kernelOf, logRange, type Sample, shareBefore } from './poll-kernel.ts';

export const mostSamples = 30;
const runsUntilChange = 100; // an automation changes its run time for good once in so many runs
/** The standard deviation of the logarithm of the durations of similar runs. */
const usualSpread = 0.25;
const leastWeight = 0.05;
const ageing = 0.97;

const runsForUsual = 10;
const fewestForUsual = 3;

/** Durations are in milliseconds, newest first. Runs from before a change of the automation are left out. */
export function weighSamples(durationsMs: readonly number[]): Sample[] {
  const usable = newest(durationsMs, mostSamples);
  const lengths = runsSinceChange(usable.map(Math.log).reverse());
  let weight = 1;
  const samples = usable.map((durationMs, index) => {
    const sample = { durationMs, weight: weight * ageing ** index };
    weight -= lengths[index] as number;
    return sample;
  });
  return samples.filter((sample) => sample.weight >= leastWeight);
}

/**
 * Bayesian online change detection (Adams and MacKay, 2007): at [n - 1] stands the probability that the last n runs are
 * of the present kind and the run before them is not.
 */
function runsSinceChange(logs: readonly number[]): number[] {
  let chances: number[] = [];
  logs.forEach((log, now) => {
    let density = 0;
    const longer = chances.map((chance, index) => {
      const length = index + 1;
      const kernel = kernelOf(logs[now - length] as number, usualSpread);
      density += densityAtShare(kernel, shareBefore(kernel, log));
      const outlier = chanceOfOutlier(length);
      const predicted = outlier / logRange + ((1 - outlier) * density) / length;
      return chance * (1 - 1 / runsUntilChange) * predicted;
    });
    const all = [1 / runsUntilChange / logRange, ...longer];
    const sum = all.reduce((total, chance) => total + chance, 0);
    chances = all.map((chance) => chance / sum);
  });
  return chances;
}

function newest(durationsMs: readonly number[], count: number): number[] {
  return durationsMs.filter((ms) => ms > 0 && Number.isFinite(ms)).slice(0, count);
}

/** The median of the newest ten; undefined for fewer than three. */
export const usualDurationMs = (durationsMs: readonly number[]): number | undefined => quantileMs(durationsMs, 0.5);

/** Has a run of this age taken longer than nine in ten past runs, and clearly longer than their median? */
export function isLongerThanUsual(ageMs: number, durationsMs: readonly number[]): boolean {
  const usualMs = quantileMs(durationsMs, 0.5);
  const slowMs = quantileMs(durationsMs, 0.9);
  return usualMs !== undefined && slowMs !== undefined && ageMs > Math.max(1.2 * usualMs, slowMs);
}

function quantileMs(durationsMs: readonly number[], share: number): number | undefined {
  const sorted = newest(durationsMs, runsForUsual).sort((a, b) => a - b);
  return sorted.length < fewestForUsual ? undefined : sorted[Math.ceil(share * sorted.length) - 1];
}
