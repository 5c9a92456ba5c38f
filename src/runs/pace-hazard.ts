import type { Sample } from './pace-record.ts';

/** A bell is as wide as the distance to the nearest of this share of the runs, narrowed: sharp where runs crowd. */
const neighbourShare = 0.45;
const narrowing = 0.6;
const widestBell = 0.4;
const narrowestBell = 0.05;
/** Standard deviation of the logistic distribution is π/√3 times its scale. */
const scaleOfDeviation = Math.sqrt(3) / Math.PI;
/** The service ends a run after three hours: a surprise is as likely in every octave from a second to that. */
const logRange = Math.log(3 * 3600);
/** The share of that range that a run always has before it, for a clock or a limit may be off. */
const leastLeft = 0.05;
/** So many surprises are counted beside the runs that were seen. */
const imaginedSurprises = 0.5;

/**
 * How likely a run that is still going is to end, as a rate per unit of the logarithm of its age (so that a rate of 1
 * means: within the time it has already taken). Each earlier run stands for a bell (a logistic one: it needs no table and
 * its tails are heavy) around its duration on the logarithmic axis; beside them stands a flat part for what was never
 * seen, which is small when much was seen. Past every bell only the flat part is left.
 */
export function createHazard(record: readonly Sample[]): (ageMs: number) => number {
  const bells = bellsOf(record);
  const surprise = imaginedSurprises / (record.length + 2);
  return (ageMs) => {
    const logAge = Math.log(ageMs);
    const left = Math.min(1, Math.max(leastLeft, 1 - (logAge - Math.log(1000)) / logRange));
    let ending = surprise / logRange;
    let surviving = surprise * left;
    for (const { middle, scale, weight } of bells) {
      const ended = 1 / (1 + Math.exp((middle - logAge) / scale));
      ending += ((1 - surprise) * weight * ended * (1 - ended)) / scale;
      surviving += (1 - surprise) * weight * (1 - ended);
    }
    return ending / surviving;
  };
}

function bellsOf(record: readonly Sample[]) {
  const middles = record.map(({ durationMs }) => Math.log(durationMs));
  const neighbour = Math.ceil(neighbourShare * record.length);
  // Two runs that happened to take the same time prove little.
  const narrowest = Math.max(narrowestBell, widestBell / record.length);
  return record.map(({ weight }, index) => {
    const middle = middles[index] as number;
    const distances = middles.map((other) => Math.abs(other - middle)).sort((a, b) => a - b);
    const distance = distances[neighbour] ?? Number.POSITIVE_INFINITY;
    const deviation = Math.min(widestBell, Math.max(narrowest, narrowing * distance));
    return { middle, weight, scale: deviation * scaleOfDeviation };
  });
}
