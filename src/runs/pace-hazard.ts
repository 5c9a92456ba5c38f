import { type Bell, before, bellOf, chanceOfSurprise, densityAfter, logRange } from './pace-bell.ts';
import type { Sample } from './pace-record.ts';

/** A bell is as wide as the distance to the nearest of this share of the runs, narrowed: sharp where runs crowd. */
const neighbourShare = 0.35;
const narrowing = 0.7;
const widestBell = 0.4;
const narrowestBell = 0.05;
/** The share of what was never seen that a run always has before it, for a clock or a limit may be off. */
const leastLeft = 0.05;

/**
 * How likely a run that is still going is to end, as a rate per unit of the logarithm of its age (so that a rate of 1
 * means: within the time it has already taken). Each earlier run stands for a bell around its duration; beside them
 * stands a flat part for what was never seen, which is small when much was seen. Past every bell only that is left.
 */
export function createHazard(record: readonly Sample[]): (ageMs: number) => number {
  const runs = record.reduce((sum, { weight }) => sum + weight, 0);
  const bells = bellsOf(record, runs);
  const surprise = chanceOfSurprise(runs);
  return (ageMs) => {
    const logAge = Math.log(ageMs);
    const left = Math.min(1, Math.max(leastLeft, 1 - (logAge - Math.log(1000)) / logRange));
    let ending = surprise / logRange;
    let surviving = surprise * left;
    for (const { bell, share } of bells) {
      const ended = before(bell, logAge);
      ending += (1 - surprise) * share * densityAfter(bell, ended);
      surviving += (1 - surprise) * share * (1 - ended);
    }
    return ending / surviving;
  };
}

function bellsOf(record: readonly Sample[], runs: number): { bell: Bell; share: number }[] {
  // Two runs that happened to take the same time prove little.
  const narrowest = Math.max(narrowestBell, widestBell / runs);
  return record.map((sample) => {
    const distance = neighbourDistance(sample, record, neighbourShare * runs);
    const deviation = Math.min(widestBell, Math.max(narrowest, narrowing * distance));
    return { bell: bellOf(Math.log(sample.durationMs), deviation), share: sample.weight / runs };
  });
}

/** How far away, on the logarithmic axis, the nearest others are that weigh this much together. */
function neighbourDistance(sample: Sample, record: readonly Sample[], wantedWeight: number): number {
  const others = record
    .filter((other) => other !== sample)
    .map(({ durationMs, weight }) => ({ distance: Math.abs(Math.log(durationMs / sample.durationMs)), weight }))
    .sort((a, b) => a.distance - b.distance);
  let nearWeight = 0;
  for (const { distance, weight } of others) {
    nearWeight += weight;
    if (nearWeight >= wantedWeight) return distance;
  }
  return Number.POSITIVE_INFINITY;
}
