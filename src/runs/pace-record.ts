import { before, bellOf, chanceOfSurprise, densityAfter, logRange } from './pace-bell.ts';

/** Runs older than the newest thirty are not looked at. */
export const longestRecord = 30;
/** How many runs go by, about, until the run times of an automation change for good. */
const runsUntilChange = 100;
/** How much runs of one kind differ, as the deviation of the logarithm. */
const usualSpread = 0.25;
const leastWeight = 0.05;

/** An earlier run: how long it took, and how likely it is that the next one is of its kind. */
export interface Sample {
  durationMs: number;
  weight: number;
}

/** The durations that tell something (newest first, in milliseconds). Those from before a change are left out. */
export function weigh(durationsMs: readonly number[]): Sample[] {
  const usable = newest(durationsMs, longestRecord);
  const lengths = lengthsOfPresent(usable.map(Math.log).reverse());
  let weight = 1;
  const samples = usable.map((durationMs, place) => {
    const sample = { durationMs, weight };
    weight -= lengths[place] as number;
    return sample;
  });
  return samples.filter((sample) => sample.weight >= leastWeight);
}

/**
 * Bayesian online change detection (Adams and MacKay): at [n - 1], how likely it is that the last n runs are of the
 * present kind and the one before them is not. Each run is judged by how well those before it foretold it. So a change
 * shows after one run or two, and as long as there is none every run counts.
 */
function lengthsOfPresent(logs: readonly number[]): number[] {
  let chances: number[] = [];
  logs.forEach((log, now) => {
    let density = 0;
    const longer = chances.map((chance, index) => {
      const length = index + 1;
      const bell = bellOf(logs[now - length] as number, usualSpread);
      density += densityAfter(bell, before(bell, log));
      const surprise = chanceOfSurprise(length);
      const foretold = surprise / logRange + ((1 - surprise) * density) / length;
      return chance * (1 - 1 / runsUntilChange) * foretold;
    });
    const all = [1 / runsUntilChange / logRange, ...longer];
    const sum = all.reduce((total, chance) => total + chance, 0);
    chances = all.map((chance) => chance / sum);
  });
  return chances;
}

/** The newest `count` of those durations that tell something. */
export function newest(durationsMs: readonly number[], count: number): number[] {
  return durationsMs.filter((ms) => ms > 0 && Number.isFinite(ms)).slice(0, count);
}
