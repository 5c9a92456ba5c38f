import { expect, test } from 'vitest';
import { jitter, pollGapMs } from '../../src/watch/poll-gap.ts';

test.each([
  [-5, 3],
  [60, 3],
  [120, 6],
  [300, 15],
  [10_800, 15],
])('a run that is %i s old is polled again after %i s', (ageSeconds, gapSeconds) => {
  expect(pollGapMs(ageSeconds * 1000)).toBe(gapSeconds * 1000);
});

test.each([
  [0, 9000],
  [0.5, 10_000],
  [1, 11_000],
])('at a chance of %f, jitter turns 10 s into %i ms', (chance, jitteredMs) => {
  expect(jitter(10_000, () => chance)).toBeCloseTo(jitteredMs, 6);
});
