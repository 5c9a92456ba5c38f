import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPollSchedule, jitter } from '../../src/watching/poll-schedule.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const times = (count: number, durationMs: number) => Array.from({ length: count }, () => durationMs);
/** Durations around `middleMs`, two to one at the widest, without chance. */
const around = (middleMs: number, count: number) =>
  Array.from({ length: count }, (_, i) => middleMs * Math.exp(0.35 * Math.sin(i * 2.4)));

/** The ages below `untilMs` at which a run is polled. */
function pollsMs(durationsMs: readonly number[], untilMs: number): number[] {
  const schedule = createPollSchedule(durationsMs);
  const polls: number[] = [];
  for (let ageMs = schedule.gapMs(0); ageMs < untilMs; ageMs += schedule.gapMs(ageMs)) polls.push(ageMs);
  return polls;
}

const anyDuration = fc.oneof(fc.double({ min: 0, max: 4 * hour, noNaN: true }), fc.constantFrom(0, 1, minute, 1e300));
const anyRecord = fc.oneof(
  fc.array(anyDuration, { maxLength: 40 }),
  fc.tuple(fc.integer({ min: 1, max: 40 }), anyDuration).map(([count, durationMs]) => times(count, durationMs)),
);
const anyAge = fc.oneof(
  fc.double({ min: -1e9, max: 1e15, noNaN: true }),
  fc.double({ min: 0, max: 4 * hour, noNaN: true }),
);

describe('without earlier runs', () => {
  test.each([
    { ageMs: -5 * second, gapMs: 3 * second },
    { ageMs: 0, gapMs: 3 * second },
    { ageMs: minute, gapMs: 3 * second },
    { ageMs: 2 * minute, gapMs: 6 * second },
    { ageMs: 5 * minute, gapMs: 15 * second },
    { ageMs: 3 * hour, gapMs: 15 * second },
  ])('the gap at an age of $ageMs ms is $gapMs ms', ({ ageMs, gapMs }) => {
    expect(createPollSchedule([]).gapMs(ageMs)).toBe(gapMs);
  });
});

describe('with earlier runs', () => {
  test('no gap is shorter than without them, or longer than ten minutes or what the age of the run allows', () => {
    fc.assert(
      fc.property(anyRecord, anyAge, (durationsMs, ageMs) => {
        const gapMs = createPollSchedule(durationsMs).gapMs(ageMs);
        expect(gapMs).toBeGreaterThanOrEqual(createPollSchedule([]).gapMs(ageMs));
        expect(gapMs).toBeLessThanOrEqual(Math.min(Math.max(28 * second, 1.5 * ageMs), 10 * minute));
      }),
    );
  });

  test('a run that has taken as long as the shortest is polled as without them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 4 * hour, noNaN: true }), { minLength: 1, maxLength: 20 }),
        fc.double({ min: 1, max: 100, noNaN: true }),
        (durationsMs, factor) => {
          const ageMs = Math.min(...durationsMs) * factor;
          expect(createPollSchedule(durationsMs).gapMs(ageMs)).toBe(createPollSchedule([]).gapMs(ageMs));
        },
      ),
    );
  });

  test('polls are few before the first run ever finished and close around the usual time', () => {
    const polls = pollsMs(around(10 * minute, 20), 15 * minute);
    const between = (fromMs: number, toMs: number) => polls.filter((at) => at >= fromMs && at < toMs).length;
    expect(between(0, 5 * minute)).toBeLessThanOrEqual(5);
    expect(between(7 * minute, 12 * minute)).toBeGreaterThan(10);
  });

  test('a run of the usual time costs a fraction of the requests that it costs without a record', () => {
    expect(pollsMs(around(10 * minute, 20), 10 * minute).length * 2).toBeLessThan(pollsMs([], 10 * minute).length);
  });

  test.each([
    { count: 1, durationMs: 30 * second, firstS: 15 },
    { count: 3, durationMs: 30 * second, firstS: 22.5 },
    { count: 20, durationMs: 30 * second, firstS: 28 },
    { count: 20, durationMs: 2 * hour, firstS: 28 },
  ])('after $count runs of $durationMs ms, the next is first polled at $firstS s', ({ count, durationMs, firstS }) => {
    expect(createPollSchedule(times(count, durationMs)).gapMs(0) / second).toBeCloseTo(firstS, 0);
  });

  test('a surprise is looked for even where every run took the same time', () => {
    expect(pollsMs(times(20, hour), 40 * minute).length).toBeGreaterThan(4);
  });

  test('an age below zero, from clocks that differ, counts as zero', () => {
    const schedule = createPollSchedule(times(5, 5 * second));
    expect(schedule.gapMs(-minute)).toBe(schedule.gapMs(0));
  });
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
