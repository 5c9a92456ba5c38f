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
function pollsMs(durationsMs: readonly number[], untilMs: number, runs = 1): number[] {
  const schedule = createPollSchedule({ durationsMs, runs });
  const polls: number[] = [];
  for (let ageMs = schedule.gapMs(0); ageMs < untilMs; ageMs += schedule.gapMs(ageMs)) polls.push(ageMs);
  return polls;
}

const anyDuration = fc.oneof(
  fc.double(),
  fc.double({ min: 1, max: 4 * hour, noNaN: true }),
  fc.constantFrom(0, -1, 1, minute, 1e300, Number.NaN, Number.POSITIVE_INFINITY),
);
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
    expect(createPollSchedule({ durationsMs: [] }).gapMs(ageMs)).toBe(gapMs);
  });

  test('durations that say nothing count as none', () => {
    const schedule = createPollSchedule({ durationsMs: [0, -minute, Number.NaN, Number.POSITIVE_INFINITY] });
    expect(schedule.gapMs(minute)).toBe(3 * second);
  });
});

describe('with earlier runs', () => {
  test('every gap is at least one second, and no more than ten minutes or what the age of the run allows', () => {
    fc.assert(
      fc.property(anyRecord, anyAge, fc.integer({ min: 1, max: 100 }), (durationsMs, ageMs, runs) => {
        const gapMs = createPollSchedule({ durationsMs, runs }).gapMs(ageMs);
        expect(gapMs).toBeGreaterThanOrEqual(second);
        const early = Math.sqrt(Math.min(5, runs)) * Math.max(28 * second, 1.5 * ageMs);
        expect(gapMs).toBeLessThanOrEqual(Math.min(early, 10 * minute) * 1.000001);
      }),
    );
  });

  test('a run beside four others is polled half as often as one alone, and beside nine no less', () => {
    const requests = (runs: number) => pollsMs(around(hour, 20), hour, runs).length;
    expect(requests(5)).toBeGreaterThan(requests(1) / 3);
    expect(requests(5)).toBeLessThan(requests(1) / 1.8);
    expect(requests(10)).toBe(requests(5));
  });

  test('a run older than any before it is polled no less often than without a record', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 4 * hour, noNaN: true }), { minLength: 1, maxLength: 40 }),
        fc.double({ min: 1.001, max: 100, noNaN: true }),
        (durationsMs, factor) => {
          const ageMs = Math.max(...durationsMs.slice(0, 30)) * factor;
          const unlearnedMs = createPollSchedule({ durationsMs: [] }).gapMs(ageMs);
          expect(createPollSchedule({ durationsMs }).gapMs(ageMs)).toBeLessThanOrEqual(unlearnedMs);
        },
      ),
    );
  });

  test('no gap reaches further past the longest run than one without a record', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 4 * hour, noNaN: true }), { minLength: 1, maxLength: 30 }),
        anyAge,
        fc.integer({ min: 1, max: 10 }),
        (durationsMs, ageMs, runs) => {
          const endMs = Math.max(0, ageMs) + createPollSchedule({ durationsMs, runs }).gapMs(ageMs);
          const fromMs = Math.max(0, ageMs, ...durationsMs);
          expect(endMs).toBeLessThanOrEqual(
            (fromMs + createPollSchedule({ durationsMs: [] }).gapMs(fromMs)) * 1.000001,
          );
        },
      ),
    );
  });

  test('the polls are the same for the same record', () => {
    const durationsMs = around(6 * minute, 12);
    expect(pollsMs(durationsMs, hour)).toEqual(pollsMs([...durationsMs], hour));
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

  test('between two usual times there is a lull', () => {
    const schedule = createPollSchedule({
      durationsMs: Array.from({ length: 20 }, (_, i) => (i % 2 ? 30 * second : 30 * minute)),
    });
    expect(schedule.gapMs(5 * minute)).toBeGreaterThan(20 * second);
    expect(schedule.gapMs(28 * second)).toBeLessThan(6 * second);
    expect(schedule.gapMs(29 * minute)).toBeLessThan(minute);
  });

  test.each([
    { count: 1, runs: 1, firstS: 15 },
    { count: 3, runs: 1, firstS: 22.5 },
    { count: 20, runs: 1, firstS: 28 },
    { count: 20, runs: 5, firstS: 28.6 },
  ])('after $count runs of half a minute, each of $runs is first polled at $firstS s', ({ count, runs, firstS }) => {
    const schedule = createPollSchedule({ durationsMs: times(count, 30 * second), runs });
    expect(schedule.gapMs(0) / second).toBeCloseTo(firstS, 1);
  });

  test('after runs of hours, a run is polled within half a minute, and within a minute beside others', () => {
    const firstPollS = (runs: number) =>
      createPollSchedule({ durationsMs: times(20, 2 * hour), runs }).gapMs(0) / second;
    expect([firstPollS(1), firstPollS(5)].map(Math.round)).toEqual([28, 63]);
  });

  // Where runs end at the rate h, the gap is √(2 × 0.2 s / h).
  test.each([
    { why: 'all twenty end nearby', durationsMs: times(20, 100 * second), gapS: 2.86 },
    {
      why: 'all that took this long end nearby',
      durationsMs: [...times(10, minute), ...times(10, 100 * second)],
      gapS: 2.895,
    },
    { why: 'one in two ends nearby', durationsMs: [...times(10, 100 * second), ...times(10, hour)], gapS: 4 },
    { why: 'none ends nearby', durationsMs: [...times(10, minute), ...times(10, hour)], gapS: 13.27 },
    { why: 'a single run', durationsMs: [100 * second], gapS: 3.27 },
  ])('at an age of 100 s, when $why, the next poll comes after $gapS s', ({ durationsMs, gapS }) => {
    expect(createPollSchedule({ durationsMs }).gapMs(100 * second) / second).toBeCloseTo(gapS, 2);
  });

  test('only the newest twenty runs count', () => {
    const changed = [...around(minute, 20), ...around(hour, 100)];
    expect(pollsMs(changed, hour)).toEqual(pollsMs(around(minute, 20), hour));
  });

  test('a surprise is looked for even where every run took the same time', () => {
    expect(pollsMs(times(20, hour), 40 * minute).length).toBeGreaterThan(4);
  });

  test('durations that say nothing change nothing', () => {
    const durationsMs = around(10 * minute, 9);
    const soiled = [Number.NaN, 0, ...durationsMs, -minute, Number.POSITIVE_INFINITY];
    expect(pollsMs(soiled, 20 * minute)).toEqual(pollsMs(durationsMs, 20 * minute));
  });

  test('an age below zero, from clocks that differ, counts as zero', () => {
    const schedule = createPollSchedule({ durationsMs: times(5, 5 * second) });
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
