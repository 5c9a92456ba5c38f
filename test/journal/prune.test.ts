import { readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pruneFiles } from '../../src/journal/prune.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import { accepted, baseUrl, key, refused, status, triggered, uuid } from './records.ts';
import { createStateFolder } from './state-folder.ts';

const yearMs = 365 * 24 * 3_600_000;

/** Writes each list of records to a file of its own, then a new file when so much time has passed. */
function filesAfter(passedMs: number, files: NewRecord[][]) {
  const { open, clock, folder } = createStateFolder();
  for (const records of files) {
    const [first, ...others] = records;
    if (first) open(1).append(first);
    for (const record of others) open().append(record);
  }
  clock.nowMs += passedMs;
  open(1).append(status(99, 'COMPLETED'));
  return { names: readdirSync(folder).sort(), open };
}

const resolved = [triggered(1), accepted(1)];
const unresolved = [triggered(2)];

test.each<[string, number, NewRecord[][], string[]]>([
  [
    'are removed when a new one is begun, but not the newest',
    yearMs + 1,
    [resolved, [refused(3)]],
    ['journal-2.jsonl'],
  ],
  ['stay for a year', yearMs - 1, [resolved], ['journal-1.jsonl', 'journal.jsonl']],
  ['stay while they hold an unresolved trigger', yearMs + 1, [unresolved], ['journal-1.jsonl', 'journal.jsonl']],
  [
    'stay while they hold the outcome of a trigger in a file that stays',
    yearMs + 1,
    [[triggered(1), ...unresolved], [accepted(1)], [status(3, 'FAILED')]],
    ['journal-1.jsonl', 'journal-3.jsonl', 'journal.jsonl'],
  ],
])('old files %s', (_, passedMs, files, names) => {
  expect(filesAfter(passedMs, files).names).toEqual(names);
});

test('a file stays for a year after its last record', () => {
  const { open, clock, folder } = createStateFolder();
  for (const record of resolved) open().append(record);
  clock.nowMs += yearMs - 1000;
  open().append(status(3, 'COMPLETED'));
  clock.nowMs += 2000;
  open(1).append(status(99, 'COMPLETED'));
  expect(readdirSync(folder).sort()).toEqual(['journal-1.jsonl', 'journal.jsonl']);
});

test('a trigger and its refusal in two files are both removed, and the newest file never', () => {
  const { open, clock, folder } = createStateFolder();
  for (const record of [triggered(1), refused(1), status(3, 'FAILED')]) open(1).append(record);
  pruneFiles(folder, clock.nowMs + yearMs + 1);
  expect(readdirSync(folder)).toEqual(['journal-2.jsonl']);
});

test('a file that holds but a torn record stays', () => {
  const { open, clock, folder, file } = createStateFolder();
  for (const record of [status(1, 'RUNNING'), status(2, 'RUNNING')]) open(1).append(record);
  writeFileSync(file, '{"schema":1,"at":"2020-01-01T00:00:00.000Z","ty');
  pruneFiles(folder, clock.nowMs);
  expect(readdirSync(folder).sort()).toEqual(['journal-1.jsonl', 'journal.jsonl']);
});

test('what is left can be appended to and read', () => {
  const { open } = filesAfter(yearMs + 1, [resolved, unresolved, [status(3, 'FAILED')]]);
  open().append(status(4, 'COMPLETED'));
  expect([...open().runs({ baseUrl })].map(({ executionId }) => executionId)).toEqual([uuid(4), uuid(99), null]);
  expect(open().findKey(key(1))).toBeUndefined();
  expect(open().findKey(key(2))?.state).toBe('open');
});
