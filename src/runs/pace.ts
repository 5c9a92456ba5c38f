import { createHazard } from './pace-hazard.ts';
import { newest, weigh } from './pace-record.ts';

const shortestGapMs = 1000;
const longestGapMs = 15_000;
const shareOfAge = 0.05;

/** The lag that one request is worth: for a run that is followed alone, and at the most. */
const loneWorthMs = 200;
const sharedWorthMs = 1000;
/**
 * The record tells of runs that completed. For one that fails early there is a first look whatever it says, and the next
 * before the age is two and a half times what it was; where a request is worth more, both are as much rarer as all looks.
 */
const firstLookMs = 28_000;
const longestShareOfAge = 1.5;
const longestLearnedGapMs = 600_000;

const runsForUsual = 10;
const fewestForUsual = 3;

/** When to look again at a run. */
export interface Pace {
  /** The gap in milliseconds, before jitter, that follows a look at a run of this age. */
  gapMs(ageMs: number): number;
}

/**
 * The pace for the next run, from how long the earlier COMPLETED ones took (milliseconds, newest first), where so many
 * runs were named together. Without a record: 5 % of the age, 1 s to 15 s, which bounds the lag by a share of the
 * run time whatever that is. With one: few looks while no run has ever ended so early, and close ones where many did.
 * Where runs end at the rate h and a request is worth c of lag, the best gap is √(2c/h) (Barlow and Proschan; Keller).
 * `npm run bench:pace` compares it with the optimum.
 */
export function createPace({ durationsMs, runs = 1 }: { durationsMs: readonly number[]; runs?: number }): Pace {
  const record = weigh(durationsMs);
  if (record.length === 0) return { gapMs: gapOfAgeMs };
  const hazard = createHazard(record);
  const longestMs = Math.max(...record.map(({ durationMs }) => durationMs));
  const worthMs = requestWorthMs(runs);
  const rarer = Math.sqrt(worthMs / loneWorthMs);
  const looksPerMs = (ageMs: number) => Math.sqrt(hazard(ageMs) / ageMs / (2 * worthMs));
  return {
    gapMs(ageMs) {
      const fromMs = Math.max(0, ageMs);
      // Past the longest run nothing is known any more.
      const unlearnedMs = Math.max(0, longestMs - fromMs) + gapOfAgeMs(Math.max(fromMs, longestMs));
      const earlyMs = rarer * Math.max(firstLookMs, longestShareOfAge * fromMs);
      const mostMs = Math.min(unlearnedMs, earlyMs, longestLearnedGapMs);
      return Math.max(shortestGapMs, untilNextLookMs(fromMs, mostMs, looksPerMs));
    },
  };
}

/** Whoever follows one run wants its end at once; whoever follows many shares the requests among them. */
function requestWorthMs(runs: number): number {
  return Math.min(sharedWorthMs, loneWorthMs * runs);
}

function gapOfAgeMs(ageMs: number): number {
  return Math.min(longestGapMs, Math.max(shortestGapMs, shareOfAge * ageMs));
}

/** The time over which `looksPerMs` adds up to one look. It is summed, for it may rise a thousandfold within one gap. */
function untilNextLookMs(fromMs: number, mostMs: number, looksPerMs: (ageMs: number) => number): number {
  let looks = 0;
  for (let gapMs = 0; gapMs < mostMs; ) {
    const stepMs = Math.max(200, (fromMs + gapMs) / 150);
    const rate = looksPerMs(fromMs + gapMs + stepMs / 2);
    if (looks + rate * stepMs >= 1) return Math.min(mostMs, gapMs + (1 - looks) / rate);
    looks += rate * stepMs;
    gapMs += stepMs;
  }
  return mostMs;
}

/** The gap, 10 % shorter to 10 % longer by chance, so that clients that started together do not stay in step. */
export function jitter(gapMs: number, random: () => number): number {
  return gapMs * (0.9 + 0.2 * random());
}

/** What a run usually takes: the median of the newest ten (milliseconds, newest first); undefined of fewer than three. */
export function usualDurationMs(durationsMs: readonly number[]): number | undefined {
  return quantileMs(durationsMs, 0.5);
}

/** Whether a run of this age has gone on for longer than nine in ten of them, and clearly longer than is usual. */
export function isLongerThanUsual(ageMs: number, durationsMs: readonly number[]): boolean {
  const usualMs = quantileMs(durationsMs, 0.5);
  const slowMs = quantileMs(durationsMs, 0.9);
  return usualMs !== undefined && slowMs !== undefined && ageMs > Math.max(1.2 * usualMs, slowMs);
}

function quantileMs(durationsMs: readonly number[], share: number): number | undefined {
  const sorted = newest(durationsMs, runsForUsual).sort((a, b) => a - b);
  return sorted.length < fewestForUsual ? undefined : sorted[Math.ceil(share * sorted.length) - 1];
}
