import { createSurvival } from './poll-kernel.ts';
import { weighSamples } from './poll-samples.ts';

const shortestGapMs = 1000;
const shortestUnlearnedGapMs = 3000;
const longestGapMs = 15_000;
const shareOfAge = 0.05;

const loneWorthMs = 200;
const mostWorthMs = 1000;
/** Samples are COMPLETED runs. To notice an early failure, polls come within 28 s and before the age grows 2.5-fold. */
const firstPollMs = 28_000;
const longestShareOfAge = 1.5;
const longestLearnedGapMs = 600_000;

export interface PollSchedule {
  gapMs(ageMs: number): number; // from one poll to the next, before jitter
  /** The chance that a run which was running at the first age has ended by the second. */
  chanceOfEnd(fromMs: number, toMs: number): number;
}

/**
 * Durations are those of COMPLETED runs, newest first; `runs` are watched together. Where runs end at the rate h and a
 * request is worth c of lag, the best gap is √(2c/h) (Barlow and Proschan; Keller). More in docs/architecture.md.
 */
export function createPollSchedule(past: { durationsMs: readonly number[]; runs?: number }): PollSchedule {
  const { durationsMs, runs = 1 } = past;
  const samples = weighSamples(durationsMs);
  if (samples.length === 0) return { gapMs: gapOfAgeMs, chanceOfEnd: (fromMs, toMs) => 1 - fromMs / Math.max(1, toMs) };
  const { hazard, surviving } = createSurvival(samples);
  const longestMs = Math.max(...samples.map(({ durationMs }) => durationMs));
  const worthMs = Math.min(mostWorthMs, loneWorthMs * runs);
  const stretch = Math.sqrt(worthMs / loneWorthMs);
  const pollsPerMs = (ageMs: number) => Math.sqrt(hazard(ageMs) / ageMs / (2 * worthMs));
  return {
    gapMs(ageMs) {
      const fromMs = Math.max(0, ageMs);
      const unlearnedMs = Math.max(0, longestMs - fromMs) + gapOfAgeMs(Math.max(fromMs, longestMs));
      const earlyMs = stretch * Math.max(firstPollMs, longestShareOfAge * fromMs);
      const mostMs = Math.min(unlearnedMs, earlyMs, longestLearnedGapMs);
      return Math.max(shortestGapMs, untilNextPollMs(fromMs, mostMs, pollsPerMs));
    },
    chanceOfEnd: (fromMs, toMs) => 1 - surviving(toMs) / surviving(fromMs),
  };
}

function gapOfAgeMs(ageMs: number): number {
  return Math.min(longestGapMs, Math.max(shortestUnlearnedGapMs, shareOfAge * ageMs));
}

/** The time until `pollsPerMs` adds up to one poll, summed in steps: it may rise a thousandfold in one gap. */
function untilNextPollMs(fromMs: number, mostMs: number, pollsPerMs: (ageMs: number) => number): number {
  let polls = 0;
  for (let gapMs = 0; gapMs < mostMs; ) {
    const stepMs = Math.max(200, (fromMs + gapMs) / 150);
    const rate = pollsPerMs(fromMs + gapMs + stepMs / 2);
    if (polls + rate * stepMs >= 1) return Math.min(mostMs, gapMs + (1 - polls) / rate);
    polls += rate * stepMs;
    gapMs += stepMs;
  }
  return mostMs;
}

/** Varies a gap by up to a tenth, so that clients which started together do not stay in step. */
export const jitter = (gapMs: number, random: () => number): number => gapMs * (0.9 + 0.2 * random());
