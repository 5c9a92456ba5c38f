import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jitter, pollGapMs } from '../../src/watching/poll-gap.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

test.each([
  { ageMs: -5 * second, gapMs: 3 * second },
  { ageMs: 0, gapMs: 3 * second },
  { ageMs: minute, gapMs: 3 * second },
  { ageMs: 2 * minute, gapMs: 6 * second },
  { ageMs: 5 * minute, gapMs: 15 * second },
  { ageMs: 3 * hour, gapMs: 15 * second },
])('the gap at an age of $ageMs ms is $gapMs ms', ({ ageMs, gapMs }) => {
  expect(pollGapMs(ageMs)).toBe(gapMs);
});

describe('jitter', () => {
  test('stays within ten percent and is the same for the same chance', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (gapMs, chance) => {
          const jittered = jitter(gapMs, () => chance);
          expect(Math.abs(jittered - gapMs)).toBeLessThanOrEqual(0.1 * gapMs * (1 + 1e-12));
          expect(jitter(gapMs, () => chance)).toBe(jittered);
        },
      ),
    );
  });

  test.each([
    { chance: 0, jittered: 9000 },
    { chance: 0.5, jittered: 10_000 },
    { chance: 1, jittered: 11_000 },
  ])('turns 10 s into $jittered ms at a chance of $chance', ({ chance, jittered }) => {
    expect(jitter(10_000, () => chance)).toBeCloseTo(jittered, 6);
  });
});
