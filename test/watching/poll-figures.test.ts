import { describe, expect, test } from 'vitest';
import { createSurvival } from '../../src/watching/poll-kernel.ts';
import { usualDurationMs, weighSamples } from '../../src/watching/poll-samples.ts';
import { createPollSchedule } from '../../src/watching/poll-schedule.ts';

// The figures of docs/measured.md hold for these polls: whoever changes one of them measures again.

const minute = 60_000;
const hour = 60 * minute;
/** Durations around `middleMs`, two to one at the widest, without chance. */
const around = (middleMs: number, count: number) =>
  Array.from({ length: count }, (_, i) => middleMs * Math.exp(0.35 * Math.sin(i * 2.4)));
const records = {
  'one run': [10 * minute],
  'five runs': around(10 * minute, 5),
  'twenty runs': around(10 * minute, 20),
  'two kinds by turns': [minute, hour, minute, hour, minute, hour, minute],
  'a change three runs ago': [...around(5 * minute, 3), ...around(hour, 20)],
};
type Record = keyof typeof records;
const agesMs = [1000, minute, 5 * minute, 10 * minute, hour, 20 * hour];

describe('after', () => {
  test.each<[Record, number, number, number[]]>([
    ['one run', 1, 58, [4, 15, 33, 58, 88, 124, 164, 202, 237, 267]],
    ['one run', 3, 38, [12, 44, 95, 161, 225, 278, 321, 357, 388, 417]],
    ['five runs', 1, 61, [9, 34, 75, 131, 198, 255, 295, 324, 349, 370]],
    ['twenty runs', 1, 63, [22, 56, 140, 247, 304, 337, 362, 382, 400, 416]],
    ['twenty runs', 3, 36, [48, 174, 306, 357, 392, 419, 443, 465, 486, 506]],
    ['two kinds by turns', 1, 18, [11, 39, 55, 58, 60, 62, 65, 70, 97, 144]],
    ['a change three runs ago', 1, 79, [7, 25, 53, 85, 111, 131, 148, 162, 176, 188]],
  ])('%s, each of %d is polled %d times in a quarter of an hour, and first at %j s', (record, runs, count, first) => {
    const { gapMs } = createPollSchedule({ durationsMs: records[record], runs });
    const polls: number[] = [];
    for (let ageMs = gapMs(0); ageMs < 15 * minute; ageMs += gapMs(ageMs)) polls.push(Math.round(ageMs / 1000));
    expect([polls.length, polls.slice(0, 10)]).toEqual([count, first]);
  });

  test.each<[Record, number[]]>([
    ['one run', [0.1102, 0.0505, 0.167, 0.5801]],
    ['twenty runs', [0.0193, 0.0271, 0.1674, 0.5773]],
    ['two kinds by turns', [0.2997, 0.0041, 0.0025, 0.8998]],
  ])(
    '%s, another ends in its first, sixth, or tenth minute, or in its second hour, by the chances %j',
    (record, chances) => {
      const { chanceOfEnd } = createPollSchedule({ durationsMs: records[record] });
      const spans = [[0, minute] as const, [5 * minute, 6 * minute] as const, [9 * minute, 10 * minute] as const];
      const found = [...spans, [hour, 2 * hour] as const].map(([from, to]) => chanceOfEnd(from, to));
      expect(found.map((chance) => Number(chance.toFixed(4)))).toEqual(chances);
    },
  );

  test.each<[Record, string]>([
    ['one run', '1.0000/0.0269 0.8898/0.0304 0.8154/0.1984 0.4528/1.9371 0.0298/0.9372 0.0125/2.1535'],
    ['five runs', '1.0000/0.0121 0.9506/0.0127 0.9178/0.1157 0.5330/2.2476 0.0132/0.9103 0.0056/2.1535'],
    ['two kinds by turns', '1.0000/0.0096 0.7003/5.4005 0.4245/0.0227 0.4177/0.0243 0.2056/2.1975 0.0045/2.1537'],
  ])('%s, the share that is left at an age and the hazard are %s', (record, expected) => {
    const { surviving, hazard } = createSurvival(weighSamples(records[record]));
    const found = agesMs.map((ageMs) => `${surviving(ageMs).toFixed(4)}/${hazard(ageMs).toFixed(4)}`);
    expect(found.join(' ')).toBe(expected);
  });

  test.each<[Record, string]>([
    ['five runs', '600:1.000 760:0.969 423:0.939 792:0.910 564:0.882'],
    ['two kinds by turns', '60:1.000 3600:0.969 60:0.940 3600:0.911 60:0.884 3600:0.857 60:0.831'],
    ['a change three runs ago', '300:1.000 380:0.968 212:0.891'],
  ])('%s, they count as much as %s', (record, expected) => {
    const samples = weighSamples(records[record]);
    const found = samples.map(({ durationMs, weight }) => `${Math.round(durationMs / 1000)}:${weight.toFixed(3)}`);
    expect(found.join(' ')).toBe(expected);
  });
});

test('without earlier runs, the chance that a run has ended is that of any moment of its life', () => {
  const { chanceOfEnd } = createPollSchedule({ durationsMs: [] });
  expect([chanceOfEnd(0, 0), chanceOfEnd(0, 10), chanceOfEnd(9, 10)].map((chance) => chance.toFixed(2))).toEqual([
    '1.00',
    '1.00',
    '0.10',
  ]);
});

test('thirty runs count, and of those ten for the usual duration', () => {
  expect(weighSamples(Array.from({ length: 40 }, () => minute))).toHaveLength(30);
  expect(usualDurationMs([...Array(5).fill(minute), ...Array(5).fill(2 * minute), hour])).toBe(minute);
});
