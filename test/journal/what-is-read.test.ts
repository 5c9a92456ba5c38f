import { existsSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptRuns } from '../../src/journal/checkpoint.ts';
import { fileNameOf } from '../../src/journal/files.ts';
import type { Journal, JournalRun } from '../../src/journal/journal.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import { accepted, baseUrl, nightly, status, triggered, uuid, weekly } from './records.ts';
import { createStateFolder, lineOf } from './state-folder.ts';

const at = '2026-11-21T03:00:00.000Z';
const times = { startedAt: at, completedAt: '2026-11-21T03:00:09.000Z' };
const other = 'https://other.example.com';
const count = <T>(length: number, of: (n: number) => T) => Array.from({ length }, (_, n) => of(n));
const idsOf = (runs: Iterable<JournalRun>) => Array.from(runs, ({ executionId }) => executionId);

/** A journal of a file for each list of records, of which the last two are the newest. */
function journalOf(...files: NewRecord[][]) {
  const { open, folder, troubles } = createStateFolder();
  const path = (number: number) => join(folder, fileNameOf(number));
  mkdirSync(folder);
  for (const [number, records] of files.entries()) {
    writeFileSync(path(number), records.map((record) => lineOf(record, at)).join(''));
    utimesSync(path(number), 1e9, 1e9);
  }
  /** From then on only the checkpoint knows what a file says. */
  const blank = (number: number) => {
    for (let n = 0; n < files.length; n += 4) open().unresolvedTriggers({ baseUrl });
    writeFileSync(path(number), ' '.repeat(statSync(path(number)).size));
    utimesSync(path(number), 1e9, 1e9);
  };
  return { open, path, troubles, blank, checkpoint: join(folder, 'checkpoint.jsonl') };
}

const old = [triggered(1), accepted(1), { ...status(1, 'COMPLETED'), ...times }, triggered(2), status(3, 'failed')];

/** Asked of a journal whose only full file is known by its checkpoint alone. */
test.each<[string, (journal: Journal) => unknown, unknown]>([
  ['all runs are of all files', (journal) => idsOf(journal.runs()), [uuid(4)]],
  [
    'the newest runs of a short journal are of all files',
    (journal) => idsOf(journal.runs({ only: 'newest' })),
    [uuid(4)],
  ],
  [
    'what is kept is of a checkpoint',
    (journal) => idsOf(journal.runs({ only: 'kept' })),
    [uuid(4), uuid(3), null, uuid(1)],
  ],
  [
    'the runs with a status of which none is left out are of a checkpoint',
    (journal) => idsOf(journal.runs({ only: { status: 'RUNNING' } })),
    [uuid(4), uuid(3), null, uuid(1)],
  ],
  ['unresolved triggers are of a checkpoint', (journal) => journal.unresolvedTriggers({ baseUrl }).length, 1],
  [
    'the durations of past runs are of a checkpoint',
    (journal) => journal.pastRuns({ baseUrl, target: nightly }, 9),
    [{ durationMs: 9000, credits: null }],
  ],
])('%s', (_, read, expected) => {
  const { open, blank } = journalOf(old, [], [status(4, 'RUNNING')]);
  blank(0);
  expect(read(open())).toEqual(expected);
});

test('runs with a status of which a checkpoint leaves some out are of all files', () => {
  const many = count(keptRuns + 1, (n) => status(10 + n, n % 2 ? 'failed' : 'FAILED', n % 2 ? weekly : nightly));
  const { open, blank } = journalOf([...many, ...many.map((_, n) => status(100 + n, 'FAILED'))], old, [], []);
  blank(1);
  expect(idsOf(open().runs({ only: { status: 'COMPLETED' } }))).toContain(uuid(1));
  for (const name of ['FAILED', 'failed'])
    expect(idsOf(open().runs({ only: { status: name } }))).toEqual(idsOf(open().runs()));
});

test('a few of the newest runs are read without a checkpoint, and are those of the filter', () => {
  const newest = count(20, (n) => ({ ...status(n, 'RUNNING'), baseUrl: n % 2 ? baseUrl : other, first: true }));
  const { open, checkpoint } = journalOf(
    old,
    [],
    [...newest, ...newest.map((run, n) => ({ ...run, executionId: uuid(50 + n) }))],
  );
  expect(open().runs({ baseUrl, only: 'newest' }).next().value?.executionId).toBe(uuid(69));
  expect(open().runs({ baseUrl: other, only: 'newest' }).next().value?.executionId).toBe(uuid(68));
  expect(existsSync(checkpoint)).toBe(false);
  expect(open().runs({ only: 'kept' }).next().value?.executionId).toBe(uuid(69));
  expect(existsSync(checkpoint)).toBe(true);
});

test('the newest runs are known once a few records are read', () => {
  const sixteen = count(16, (n) => ({ ...status(n, 'RUNNING'), first: true }));
  const { open, path, troubles } = journalOf(old, sixteen);
  rmSync(path(0));
  mkdirSync(path(0));
  const runs = open().runs();
  expect(idsOf(count(16, () => runs.next().value ?? expect.unreachable()))).toEqual(count(16, (n) => uuid(15 - n)));
  expect(troubles).toEqual([]);
  expect(runs.next().done).toBe(true);
  expect(troubles).toHaveLength(1);
});

test('the newest runs are found without the old files if no record says that it is the first of its run', () => {
  const { open, blank } = journalOf(...count(12, (n) => count(400, (line) => status(n * 400 + line, 'COMPLETED'))));
  blank(0);
  const found = idsOf(open().runs({ only: 'newest' }));
  expect(found.slice(0, keptRuns)).toEqual(count(keptRuns, (n) => uuid(4799 - n)));
  // What the checkpoint and the newest two files hold.
  expect(found).toHaveLength(keptRuns + 2 * 400);
  expect(idsOf(open().runs())).toEqual(count(11 * 400, (n) => uuid(4799 - n)));
});

test('whether a later trigger has a run is asked of the files since then alone', () => {
  const { open, path, troubles } = journalOf(old, [status(4, 'RUNNING')], [triggered(5), accepted(5)]);
  rmSync(path(0));
  mkdirSync(path(0));
  expect(open().hasLaterRun({ baseUrl, target: nightly }, '2026-11-21T03:00:01.000Z')).toBe(false);
  expect(open().hasLaterRun({ baseUrl, target: nightly }, '2026-11-21T02:59:59.000Z')).toBe(true);
  expect(troubles).toHaveLength(1);
});

test('the runs since a time are of the files since then', () => {
  const { open, path, troubles } = journalOf(old, ...[4, 5].map((n) => [{ ...status(n, 'RUNNING'), first: true }]));
  rmSync(path(0));
  mkdirSync(path(0));
  expect(idsOf(open().runs({ since: '2026-11-21T03:00:01.000Z' }))).toEqual([uuid(5)]);
  expect(troubles).toEqual([]);
  expect(idsOf(open().runs({ since: at }))).toEqual([uuid(5), uuid(4)]);
  expect(troubles).toHaveLength(1);
});

test('a run that began before the files since a time is not taken for one that began then', () => {
  const since = '2026-11-21T03:00:01.000Z';
  const late = [{ type: 'not_found', baseUrl, target: nightly, executionId: uuid(1) } as const, status(2, 'FAILED')];
  const { open } = journalOf(old, [], [...late, { ...status(5, 'RUNNING'), first: true }, triggered(6), accepted(6)]);
  expect(idsOf(open().runs({ since }))).toEqual([uuid(6), uuid(5)]);
  expect(idsOf(open().runs())).toContain(uuid(1));
});
