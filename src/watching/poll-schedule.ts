const shortestGapMs = 1000;
const shortestUnlearnedGapMs = 3000;
const longestUnlearnedGapMs = 15_000;
const shareOfAge = 0.05;

/** The delay that one request is worth if one run is watched, and if five or more are. */
const loneWorthMs = 200;
const mostWorthMs = 1000;
/** Earlier runs are COMPLETED ones. To notice an early failure, polls come within 28 s and before the age grows 2.5-fold. */
const firstPollMs = 28_000;
const longestShareOfAge = 1.5;
const longestGapMs = 600_000;

/** How many earlier runs count. After the run time changes, this many runs are polled at the wrong ages. */
export const mostEarlierRuns = 20;
const nearby = 0.1; // as a share of the age

export interface PollSchedule {
  gapMs(ageMs: number): number; // from one poll to the next, before jitter
}

/**
 * Waits for most of the shortest earlier run. Then polls more often the more of the earlier runs that took this long ended
 * at about this age. Durations are those of COMPLETED runs, newest first. `runs` is how many are watched together.
 */
export function createPollSchedule(past: { durationsMs: readonly number[]; runs?: number }): PollSchedule {
  const earlierMs = past.durationsMs.filter((ms) => ms > 0 && Number.isFinite(ms)).slice(0, mostEarlierRuns);
  const tookAbout = (ageMs: number) => earlierMs.filter((ms) => ms >= (1 - nearby) * ageMs);
  if (earlierMs.length === 0) return { gapMs: gapOfAgeMs };

  const longestMs = Math.max(...earlierMs);
  // A single run says little about the next one. Twenty that took at least this long say a lot.
  const trustedMs = (Math.min(...earlierMs) * earlierMs.length) / (earlierMs.length + 1);
  const worthMs = Math.min(mostWorthMs, loneWorthMs * (past.runs ?? 1));
  const stretch = Math.sqrt(worthMs / loneWorthMs);

  return {
    gapMs(age) {
      const ageMs = Math.max(0, age);
      const unlearnedMs = Math.max(0, longestMs - ageMs) + gapOfAgeMs(Math.max(ageMs, longestMs));
      const earlyMs = stretch * Math.max(firstPollMs, longestShareOfAge * ageMs);
      const learnedMs = ageMs < trustedMs ? trustedMs - ageMs : bestGapMs(ageMs);
      return Math.max(shortestGapMs, Math.min(learnedMs, unlearnedMs, earlyMs, longestGapMs));
    },
  };

  /** If runs end at the rate h and a request is worth a delay of c, the best gap is √(2c/h) (Barlow and Proschan; Keller). */
  function bestGapMs(ageMs: number): number {
    const took = tookAbout(ageMs);
    const endedAbout = took.filter((ms) => ms <= (1 + nearby) * ageMs);
    // Count one more run that may end at any moment.
    const endsPerMs = (endedAbout.length + 0.5) / (took.length + 1) / (2 * nearby * ageMs);
    return Math.sqrt((2 * worthMs) / endsPerMs);
  }
}

function gapOfAgeMs(ageMs: number): number {
  return Math.min(longestUnlearnedGapMs, Math.max(shortestUnlearnedGapMs, shareOfAge * ageMs));
}

/** Varies a gap by up to 10%, so that clients that started together don't stay in step. */
export const jitter = (gapMs: number, random: () => number): number => gapMs * (0.9 + 0.2 * random());
