import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLongerThanUsual, usualDurationMs } from '../../src/watching/poll-samples.ts';
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

  test('a first poll is put off for three seconds after one run, for half a minute after thirty, for a minute beside others', () => {
    const firstLookMs = (count: number, runs = 1) =>
      createPollSchedule({ durationsMs: times(count, 2 * hour), runs }).gapMs(0);
    expect(firstLookMs(1)).toBeLessThan(5 * second);
    expect(firstLookMs(30)).toBeGreaterThan(25 * second);
    expect(firstLookMs(30)).toBeLessThan(30 * second);
    expect(firstLookMs(30, 5)).toBeGreaterThan(60 * second);
    expect(firstLookMs(30, 5)).toBeLessThan(65 * second);
  });

  test('a run beside four others is polled half as often as one alone, and beside nine no less', () => {
    const requests = (runs: number) => pollsMs(around(hour, 20), hour, runs).length;
    expect(requests(5)).toBeGreaterThan(requests(1) / 3);
    expect(requests(5)).toBeLessThan(requests(1) / 2);
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
    expect(schedule.gapMs(5 * minute)).toBeGreaterThan(2 * minute);
    expect(schedule.gapMs(28 * second)).toBeLessThan(6 * second);
    expect(schedule.gapMs(29 * minute)).toBeLessThan(minute);
  });

  test('one run much shorter than the twenty before it sharpens the polls about its time at once', () => {
    const before = createPollSchedule({ durationsMs: around(hour, 20) });
    const after = createPollSchedule({ durationsMs: [5 * minute, ...around(hour, 20)] });
    expect(after.gapMs(4.5 * minute) * 3).toBeLessThan(before.gapMs(4.5 * minute));
  });

  test('after three runs of a new kind the old ones are forgotten', () => {
    const three = [50 * second, minute, 55 * second];
    const seconds = (polls: number[]) => polls.map((ms) => Math.round(ms / second));
    expect(seconds(pollsMs([...three, ...around(hour, 20)], 2 * minute))).toEqual(seconds(pollsMs(three, 2 * minute)));
  });

  test('a run that is unlike all others is not taken for a change', () => {
    const gapMs = (durationsMs: number[]) => createPollSchedule({ durationsMs }).gapMs(50 * minute);
    const [newer, older] = [around(hour, 10), around(hour, 10)];
    const ratio = gapMs([...newer, 5 * minute, ...older]) / gapMs([...newer, ...older]);
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.1);
  });

  test('two kinds that come by turns are both remembered', () => {
    const gapMs = createPollSchedule({
      durationsMs: [...times(3, minute), hour, minute, hour, ...times(2, minute), hour],
    }).gapMs;
    expect(gapMs(50 * minute)).toBeLessThan(5 * minute);
    expect(gapMs(50 * second)).toBeLessThan(10 * second);
  });

  test('old runs are forgotten', () => {
    const changed = [...around(minute, 30), ...around(hour, 100)];
    expect(pollsMs(changed, hour)).toEqual(pollsMs(around(minute, 30), hour));
  });

  test('a short run says more the newer it is', () => {
    const hours = around(hour, 19);
    const newest = createPollSchedule({ durationsMs: [5 * minute, ...hours] });
    const oldest = createPollSchedule({ durationsMs: [...hours, 5 * minute] });
    expect(newest.gapMs(4.5 * minute) * 1.3).toBeLessThan(oldest.gapMs(4.5 * minute));
  });

  test('few samples are trusted less than many of the same kind', () => {
    for (const ageMs of [20 * minute, 45 * minute]) {
      const gapsMs = [1, 3, 20].map((count) => createPollSchedule({ durationsMs: times(count, hour) }).gapMs(ageMs));
      expect(gapsMs).toEqual(gapsMs.toSorted((a, b) => a - b));
    }
  });

  test('two runs that took the same time prove little', () => {
    const gapMs = (count: number) => createPollSchedule({ durationsMs: times(count, hour) }).gapMs(45 * minute);
    expect(gapMs(2) * 3).toBeLessThan(gapMs(20));
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

describe('the usual duration', () => {
  test.each([
    { why: 'no runs', durationsMs: [], usualMs: undefined },
    { why: 'two runs', durationsMs: times(2, minute), usualMs: undefined },
    { why: 'two runs and a worthless one', durationsMs: [minute, minute, Number.NaN], usualMs: undefined },
    { why: 'three runs', durationsMs: [3 * minute, minute, 2 * minute], usualMs: 2 * minute },
    { why: 'one odd run', durationsMs: [minute, minute, 3 * hour, minute, minute], usualMs: minute },
    {
      why: 'six new runs after many old ones',
      durationsMs: [...times(6, minute), ...times(50, hour)],
      usualMs: minute,
    },
  ])('of $why is $usualMs', ({ durationsMs, usualMs }) => {
    expect(usualDurationMs(durationsMs)).toBe(usualMs);
  });

  test('is one of the durations', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 4 * hour }), { minLength: 3, maxLength: 30 }), (durationsMs) => {
        expect(durationsMs).toContain(usualDurationMs(durationsMs));
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
    expect(isLongerThanUsual(ageMs, durationsMs)).toBe(longer);
  });

  test('stays so as the run gets older', () => {
    fc.assert(
      fc.property(
        fc.array(anyDuration, { maxLength: 30 }),
        fc.tuple(fc.integer({ min: 0, max: 4 * hour }), fc.integer({ min: 0, max: 4 * hour })),
        (durationsMs, [ageMs, moreMs]) => {
          if (isLongerThanUsual(ageMs, durationsMs)) expect(isLongerThanUsual(ageMs + moreMs, durationsMs)).toBe(true);
        },
      ),
    );
  });
});
