import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pruneFiles } from '../../src/journal/log.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import { accepted, baseUrl, key, refused, status, triggered, uuid } from './records.ts';
import { createStateFolder, lineOf } from './state-folder.ts';

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
  ['are removed with the unresolved triggers in them', yearMs + 1, [unresolved], ['journal-1.jsonl']],
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

test('nothing is removed before a new file is begun', () => {
  const { open, clock, folder } = createStateFolder();
  for (const record of resolved) open(1).append(record);
  clock.nowMs += yearMs + 1;
  open().append(status(3, 'COMPLETED'));
  expect(readdirSync(folder)).toHaveLength(2);
});

test('a file of which a record is exactly a year old stays', () => {
  const { open, clock, folder } = createStateFolder();
  open().append(status(1, 'RUNNING'));
  clock.nowMs += 1;
  open().append(status(2, 'RUNNING'));
  open(1).append(status(3, 'RUNNING'));
  pruneFiles(folder, clock.nowMs + yearMs);
  expect(readdirSync(folder)).toHaveLength(2);
  pruneFiles(folder, clock.nowMs + yearMs + 1);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('no file is removed that is newer than one with a younger record', () => {
  const { open, clock, folder, file } = createStateFolder();
  for (const record of [status(1, 'FAILED'), status(2, 'FAILED'), status(3, 'FAILED')]) open(1).append(record);
  const nowMs = clock.nowMs + 2 * yearMs;
  writeFileSync(file, lineOf(status(1, 'FAILED'), new Date(nowMs).toISOString()));
  pruneFiles(folder, nowMs);
  expect(readdirSync(folder)).toHaveLength(3);
});

test('the newest file is not even read if no other is old', () => {
  const { open, clock, folder } = createStateFolder();
  open().append(status(1, 'FAILED'));
  mkdirSync(join(folder, 'journal-1.jsonl'));
  expect(() => pruneFiles(folder, clock.nowMs)).not.toThrow();
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
  expect([...open().runs({ baseUrl })].map(({ executionId }) => executionId)).toEqual([uuid(4), uuid(99)]);
  expect(open().findKey(key(1))).toBeUndefined();
});
