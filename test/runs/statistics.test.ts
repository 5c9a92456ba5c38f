import { expect, test } from 'vitest';
import { type RecordedRun, statisticsOf as statisticsOfTarget } from '../../src/runs/statistics.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
import { baseUrl, nightly } from '../journal/records.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const nowMs = Date.parse('2026-11-22T12:00:00Z');
const period = { sinceMs: nowMs - 30 * dayMs, untilMs: nowMs, nowMs };

const statisticsOf = (runs: RecordedRun[]) => statisticsOfTarget({ baseUrl, target: nightly, runs }, period);

/** A run of nightly that completed so long ago. */
function run(agoMs: number, tookMs: number | null = minuteMs, other: Partial<RecordedRun> = {}): RecordedRun {
  const endedMs = nowMs - agoMs;
  const startedMs = tookMs === null ? null : endedMs - tookMs;
  const atMs = startedMs ?? endedMs;
  return {
    status: 'COMPLETED',
    startedMs,
    endedMs,
    credits: 2,
    atMs,
    ...other,
    isFinal: isFinalStatus(other.status ?? 'COMPLETED', nightly),
  };
}

const unfinished = { endedMs: null, credits: null };

test('runs are counted by how they finished', () => {
  const runs = [run(hourMs), run(2 * hourMs, 1, { status: 'failed' }), run(3 * hourMs), run(4 * hourMs)];
  expect(statisticsOf(runs)).toMatchObject({
    target: nightly,
    finished: 4,
    statuses: { COMPLETED: 3, FAILED: 1 },
    completedShare: 0.75,
    running: 0,
    unseen: 0,
  });
});

test.each([
  ['a single run', [5], 5, 5],
  ['an odd number of runs', [9, 1, 5], 5, 9],
  ['an even number of runs', [4, 1, 3, 2], 2, 4],
  ['a hundred runs', Array.from({ length: 100 }, (_, n) => n + 1), 50, 95],
])('the median and the 95th percentile of %s are durations that some run had', (_, tookMs, medianMs, p95Ms) => {
  const runs = tookMs.map((ms) => run(hourMs, ms));
  expect(statisticsOf(runs)).toMatchObject({ medianMs, p95Ms });
});

test('a run that did not complete, or whose times are unknown or impossible, has no part in the durations', () => {
  const odd = [run(1, 1, { status: 'FAILED' }), run(1, null), run(1, -5)];
  expect(statisticsOf([run(1, 7), ...odd])).toMatchObject({ medianMs: 7, p95Ms: 7 });
  expect(statisticsOf(odd)).toMatchObject({ medianMs: null, p95Ms: null });
});

test('credits are the sum of those that are known', () => {
  const free = run(1, 1, { credits: null });
  expect(statisticsOf([run(1), run(2), free])).toMatchObject({ credits: 4 });
  expect(statisticsOf([free])).toMatchObject({ credits: null });
});

test.each([
  ['started a minute ago', { status: 'RUNNING', atMs: nowMs - minuteMs }, { running: 1, unseen: 0 }],
  [
    'started longer ago than a run can take',
    { status: 'RUNNING', atMs: nowMs - 4 * hourMs },
    { running: 0, unseen: 1 },
  ],
  ['was forgotten by the service', { status: null, atMs: nowMs - minuteMs }, { running: 0, unseen: 1 }],
])('an unfinished run that %s has not finished as far as anybody saw', (_, other, expected) => {
  const runs = [run(5 * hourMs, minuteMs, { ...unfinished, ...other })];
  expect(statisticsOf(runs)).toMatchObject({ ...expected, finished: 0, completedShare: null });
});

test('only runs of the period count', () => {
  expect(statisticsOf([run(31 * dayMs), run(dayMs)])).toMatchObject({ finished: 1 });
  expect(statisticsOf([run(31 * dayMs)])).toBeUndefined();
});

test.each<[string, Partial<RecordedRun>]>([
  ['its start', { startedMs: period.sinceMs }],
  ['its first record, if its start is not known', { startedMs: null, atMs: period.sinceMs }],
])('a run is of the period by %s', (_, times) => {
  const longAgo = { startedMs: period.sinceMs - dayMs, atMs: period.sinceMs - dayMs };
  expect(statisticsOf([run(31 * dayMs, minuteMs, { ...longAgo, ...times })])).toMatchObject({ finished: 1 });
});

test('a run that starts at the end of the period is not of it', () => {
  expect(statisticsOf([run(0, 0)])).toBeUndefined();
});

test('a run may take no time', () => {
  expect(statisticsOf([run(hourMs, 0, { status: 'COMPLETED' })])).toMatchObject({ medianMs: 0 });
});

test('the last one that completed is the one that ended last', () => {
  const runs = [run(3 * hourMs), run(hourMs), run(2 * hourMs), run(1, 1, { status: 'FAILED' })];
  expect(statisticsOf(runs)?.lastCompletedMs).toBe(nowMs - hourMs);
});
