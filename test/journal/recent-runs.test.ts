import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { foldRecent } from '../../src/journal/recent-runs.ts';
import type { PastRuns } from '../../src/runs/statistics.ts';
import { accepted, agent, baseUrl, nightly, refused, status, triggered, uuid, weekly } from './records.ts';
import { createStateFolder } from './state-folder.ts';

const ended = { startedAt: '2026-11-21T02:00:00.000Z', completedAt: '2026-11-21T02:05:00.000Z', creditsCharged: 1.25 };
const notFound = (n: number) => ({ type: 'not_found', baseUrl, target: nightly, executionId: uuid(n) }) as const;
const odd = { ...nightly, automationName: 'a "b","c" \\ ü\n","executionId":"x' };

const flatly = (all: PastRuns[]) => all.flatMap(({ runs, ...owner }) => runs.map((run) => ({ ...owner, ...run })));

/** What `runs` says, in the words of `recentRuns`. */
function plainly(journal: Journal, ofUrl?: string) {
  const time = (text: string | null) => (text === null ? null : Date.parse(text));
  const runs = [...journal.runs({ baseUrl: ofUrl })].filter(({ executionId }) => executionId !== null);
  return runs.map((run) => ({
    baseUrl: run.baseUrl,
    target: run.target,
    status: run.status,
    startedMs: time(run.startedAt),
    endedMs: time(run.completedAt),
    credits: run.creditsCharged,
    atMs: Date.parse(run.at),
  }));
}

test.each([
  ['a run that finished', [triggered(1), accepted(1), { ...status(1, 'COMPLETED'), ...ended }]],
  ['an unfinished run', [triggered(1), accepted(1)]],
  ['a refused and an unresolved trigger', [triggered(1), refused(1), triggered(2)]],
  ['a run that was only watched', [{ ...status(1, 'FAILED'), ...ended, first: true }]],
  ['a run that was forgotten', [triggered(1), accepted(1), notFound(1)]],
  ['a run that finished before it was forgotten', [accepted(1), status(1, 'FAILED'), notFound(1)]],
  ['two final statuses, of which the first one stays', [accepted(1), status(1, 'FAILED'), status(1, 'COMPLETED')]],
  ['credits that were charged later', [status(1, 'COMPLETED'), { ...status(1, 'COMPLETED'), ...ended }]],
  ['an unknown status', [accepted(1), status(1, 'PAUSED')]],
  ['an agent, whose statuses are final', [status(1, 'STUCK', agent)]],
  ['a name that looks like a record', [accepted(1, odd), { ...status(1, 'COMPLETED', odd), ...ended }]],
  ['the same id in another case', ['abc', 'ABC'].map((executionId) => ({ ...status(1, 'FAILED'), executionId }))],
  ['a run that was accepted without a status', [{ ...accepted(1), status: undefined }]],
  ['a run that was accepted with the time of its start', [{ ...accepted(1), startedAt: ended.startedAt }]],
  [
    'a run that was accepted when it had finished',
    [
      { ...accepted(1), status: 'COMPLETED' },
      { ...status(1, 'x'), ...ended },
    ],
  ],
  [
    'a hook of a run that nobody has heard of',
    [{ type: 'hook_begun', baseUrl, target: nightly, executionId: uuid(1) } as const],
  ],
  ['a superseded trigger', [triggered(1), { type: 'superseded', ...refusedKey(1) } as const]],
  ['several automations', [accepted(1), accepted(2, weekly), status(2, 'FAILED', weekly), status(1, 'COMPLETED')]],
])('recent runs are what all records say: %s', (_, records) => {
  const { open } = createStateFolder();
  const journal = open();
  for (const record of records) journal.append(record);
  const recent = flatly(journal.recentRuns({}, 0));
  expect(recent).toHaveLength(plainly(journal).length);
  expect(recent).toEqual(expect.arrayContaining(plainly(journal)));
});

function refusedKey(n: number) {
  const { baseUrl: url, target, idempotencyKey } = refused(n);
  return { baseUrl: url, target, idempotencyKey };
}

const untargeted = { schema: 1, at: '2026-11-21T03:00:00.000Z', type: 'status', baseUrl };
const whole = { ...untargeted, target: 'agent/a' };
const ran = { executionId: uuid(1), status: 'RUNNING' };

test('torn and foreign lines are no runs', () => {
  const { open, file } = createStateFolder();
  const journal = open();
  journal.append(accepted(1));
  const torn = JSON.stringify({ ...whole, ...ran }).slice(0, -20);
  for (const line of [torn, 'status status', '{"schema":1}', ' '.repeat(60), `${' '.repeat(52)}status`])
    appendFileSync(file, `\n${line}\n`);
  expect(flatly(journal.recentRuns({}, 0))).toHaveLength(1);
});

test.each<[string, object, number]>([
  ['all the fields of a run', { ...whole, ...ran }, 1],
  ['no base URL', { ...whole, baseUrl: undefined, ...ran }, 0],
  ['no target', { ...untargeted, ...ran }, 0],
  ['no id', whole, 0],
  ['the target at its end, as nobody writes it', { ...untargeted, ...ran, target: 'agent/a' }, 0],
  ['the id before the target', { ...ran, ...whole }, 0],
])('a line with %s, in a file that ends with it, is of so many runs', (_, line, count) => {
  const bytes = Buffer.from(JSON.stringify(line));
  expect(flatly(foldRecent([bytes, bytes], undefined))).toHaveLength(count);
});

test('runs of one base URL are not mixed with those of another', () => {
  const { open } = createStateFolder();
  const journal = open();
  journal.append(accepted(1));
  journal.append({ ...accepted(1), baseUrl: 'https://other.example.com' });
  expect(flatly(journal.recentRuns({ baseUrl }, 0))).toMatchObject([{ baseUrl }]);
  expect(flatly(journal.recentRuns({}, 0))).toHaveLength(2);
});

test('files that were full before the time are not read', () => {
  const { open, clock } = createStateFolder();
  const journal = open(1);
  for (const n of [1, 2, 3, 4]) {
    journal.append(accepted(n));
    clock.nowMs += 3_600_000;
  }
  // The newest file that was begun before holds what was written until the next one was begun.
  expect(flatly(journal.recentRuns({}, clock.nowMs - 1.5 * 3_600_000))).toHaveLength(2);
  expect(flatly(journal.recentRuns({}, 0))).toHaveLength(4);
});

test('files are read from the oldest on, so that the first final status stays', () => {
  const { open } = createStateFolder();
  for (const name of ['FAILED', 'COMPLETED']) open(1).append(status(1, name));
  expect(flatly(open().recentRuns({}, 0))).toMatchObject([{ status: 'FAILED' }]);
});

test('a machine without a journal has no runs', () => {
  const { open, troubles } = createStateFolder();
  expect(open().recentRuns({}, 0)).toEqual([]);
  expect(troubles).toEqual([]);
});
