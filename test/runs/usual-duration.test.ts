import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usualOf } from '../../src/runs/usual-duration.ts';

const minute = 60_000;
const hour = 60 * minute;
const times = (count: number, durationMs: number) => Array.from({ length: count }, () => durationMs);
const anyDuration = fc.oneof(fc.double({ min: 1, max: 4 * hour, noNaN: true }), fc.constantFrom(0, 1e300));

describe('the usual duration', () => {
  test.each([
    { why: 'no runs', durationsMs: [], usualMs: undefined },
    { why: 'two runs', durationsMs: times(2, minute), usualMs: undefined },
    { why: 'three runs', durationsMs: [3 * minute, minute, 2 * minute], usualMs: 2 * minute },
    { why: 'one odd run', durationsMs: [minute, minute, 3 * hour, minute, minute], usualMs: minute },
  ])('of $why is $usualMs', ({ durationsMs, usualMs }) => {
    expect(usualOf(0, durationsMs)?.usualMs).toBe(usualMs);
  });

  test('is one of the durations', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 4 * hour }), { minLength: 3, maxLength: 30 }), (durationsMs) => {
        expect(durationsMs).toContain(usualOf(0, durationsMs)?.usualMs);
      }),
    );
  });
});

describe('longer than usual', () => {
  test.each([
    { why: 'an age before the usual time', ageMs: 5 * minute, durationsMs: times(5, 6 * minute), longer: false },
    { why: 'an age just past the usual time', ageMs: 6.5 * minute, durationsMs: times(5, 6 * minute), longer: false },
    { why: 'an age well past the usual time', ageMs: 8 * minute, durationsMs: times(5, 6 * minute), longer: true },
    {
      why: 'an age that one run in three reaches',
      ageMs: 8 * minute,
      durationsMs: [6, 9, 6, 9, 6, 6].map((m) => m * minute),
      longer: false,
    },
    { why: 'an age with too few runs to know', ageMs: 9 * hour, durationsMs: times(2, minute), longer: false },
  ])('$why: $longer', ({ ageMs, durationsMs, longer }) => {
    expect(usualOf(ageMs, durationsMs)?.isLate === true).toBe(longer);
  });

  test('stays so as the run gets older', () => {
    fc.assert(
      fc.property(
        fc.array(anyDuration, { maxLength: 30 }),
        fc.tuple(fc.integer({ min: 0, max: 4 * hour }), fc.integer({ min: 0, max: 4 * hour })),
        (durationsMs, [ageMs, moreMs]) => {
          const isLonger = usualOf(ageMs, durationsMs)?.isLate === true;
          expect(usualOf(ageMs + moreMs, durationsMs)?.isLate === true || !isLonger).toBe(true);
        },
      ),
    );
  });
});
