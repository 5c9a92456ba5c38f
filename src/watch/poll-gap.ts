const minGapMs = 3000;
const maxGapMs = 15_000;
const shareOfAge = 0.05;

/** The time from one poll of a run of this age to the next, before jitter. */
export const pollGapMs = (ageMs: number): number =>
  Math.min(maxGapMs, Math.max(minGapMs, shareOfAge * ageMs));

/** Varies a gap by up to 10%, so that clients that started together don't stay in step. */
export const jitter = (gapMs: number, random: () => number): number =>
  gapMs * (0.9 + 0.2 * random());
