const shortestUnlearnedGapMs = 3000;
const longestUnlearnedGapMs = 15_000;
const shareOfAge = 0.05;

/** Earlier runs are COMPLETED ones. To notice an early failure, polls come within 28 s and before the age grows 2.5-fold. */
const firstPollMs = 28_000;
const longestShareOfAge = 1.5;
const longestGapMs = 600_000;

/** How many earlier runs count. After runs get longer, this many are polled too often. */
export const mostEarlierRuns = 20;

export interface PollSchedule {
  gapMs(ageMs: number): number; // from one poll to the next, before jitter
}

/** Waits for most of the shortest earlier run, then as without one. `durationsMs` says how long COMPLETED runs took. */
export function createPollSchedule(durationsMs: readonly number[]): PollSchedule {
  const count = durationsMs.length;
  // A single run says little about the next one. Twenty that took at least this long say a lot.
  const trustedMs = count === 0 ? 0 : (Math.min(...durationsMs) * count) / (count + 1);
  return {
    gapMs(age) {
      const ageMs = Math.max(0, age);
      const earlyMs = Math.max(firstPollMs, longestShareOfAge * ageMs);
      return Math.max(gapOfAgeMs(ageMs), Math.min(trustedMs - ageMs, earlyMs, longestGapMs));
    },
  };
}

function gapOfAgeMs(ageMs: number): number {
  return Math.min(longestUnlearnedGapMs, Math.max(shortestUnlearnedGapMs, shareOfAge * ageMs));
}

/** Varies a gap by up to 10%, so that clients that started together don't stay in step. */
export const jitter = (gapMs: number, random: () => number): number => gapMs * (0.9 + 0.2 * random());
