import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTail } from '../../src/journal/tail.ts';
import { accepted, status, triggered, uuid } from './records.ts';
import { createStateFolder } from './state-folder.ts';

const idsOf = (records: object[]) => records.flatMap((record) => ('executionId' in record ? [record.executionId] : []));

test('what is appended after the making of a tail is read once', () => {
  const { folder, open } = createStateFolder();
  const journal = open();
  journal.append(accepted(1));
  const tail = createTail(folder);
  expect(tail.read()).toEqual([]);
  journal.append(accepted(2));
  open().append(status(2, 'COMPLETED'));
  expect(idsOf(tail.read())).toEqual([uuid(2), uuid(2)]);
  expect(tail.read()).toEqual([]);
});

test('of a journal of many files, nothing is read that stood there before', () => {
  const { folder, open } = createStateFolder();
  const small = open(1);
  for (const n of [1, 2, 3, 4]) small.append(accepted(n));
  const tail = createTail(folder);
  expect(tail.read()).toEqual([]);
  small.append(accepted(5));
  expect(idsOf(tail.read())).toEqual([uuid(5)]);
});

test('a journal that does not exist yet is read from its beginning', () => {
  const { folder, open } = createStateFolder();
  const tail = createTail(folder);
  expect(tail.read()).toEqual([]);
  open().append(accepted(1));
  expect(idsOf(tail.read())).toEqual([uuid(1)]);
});

test('half a line is read when it is whole, and a torn one is left out', () => {
  const { folder, file, open } = createStateFolder();
  open().append(triggered(1));
  const tail = createTail(folder);
  const line = JSON.stringify({ schema: 1, at: '2026-11-21T03:00:00.000Z', ...accepted(2), target: 'agent/x' });
  appendFileSync(file, `\n${line.slice(0, 50)}`);
  expect(tail.read()).toEqual([]);
  appendFileSync(file, `${line.slice(50)}\n`);
  expect(idsOf(tail.read())).toEqual([uuid(2)]);
  appendFileSync(file, '\n{"schema":1,"at"');
  open().append(accepted(3));
  expect(idsOf(tail.read())).toEqual([uuid(3)]);
});

test('files that are begun later are read, and the one before them too, to which somebody may still write', () => {
  const { folder, open } = createStateFolder();
  const small = open(1);
  small.append(accepted(1));
  const tail = createTail(folder);
  for (const n of [2, 3, 4]) small.append(accepted(n));
  expect(idsOf(tail.read())).toEqual([uuid(2), uuid(3), uuid(4)]);
  small.append(accepted(5));
  const late = { schema: 1, at: '2026-11-21T03:00:00.000Z', ...accepted(6), target: 'agent/x' };
  appendFileSync(join(folder, 'journal-3.jsonl'), `\n${JSON.stringify(late)}\n`);
  expect(idsOf(tail.read()).sort()).toEqual([uuid(5), uuid(6)]);
});

test('a file that was pruned is not missed, and a journal that was removed begins anew', () => {
  const { folder, file, open } = createStateFolder();
  const small = open(1);
  for (const n of [1, 2, 3]) small.append(accepted(n));
  const tail = createTail(folder);
  rmSync(file);
  small.append(accepted(4));
  expect(idsOf(tail.read())).toEqual([uuid(4)]);
  rmSync(folder, { recursive: true });
  expect(tail.read()).toEqual([]);
  mkdirSync(folder, { recursive: true });
  open().append(accepted(5));
  expect(idsOf(tail.read())).toEqual([uuid(5)]);
});

test('a journal that was replaced since the last reading is read from its beginning', () => {
  const { folder, file, open } = createStateFolder();
  const small = open(1);
  for (const n of [1, 2, 3]) small.append(accepted(n));
  const tail = createTail(folder);
  rmSync(folder, { recursive: true });
  for (const n of [4, 5]) open().append(accepted(n));
  expect(idsOf(tail.read())).toEqual([uuid(4), uuid(5)]);
  // The one file by another, which is shorter.
  rmSync(file);
  open().append(accepted(6));
  expect(idsOf(tail.read())).toEqual([uuid(6)]);
});

test('a file is read no more once two newer ones were begun', () => {
  const { folder, file, open } = createStateFolder();
  const small = open(1);
  small.append(accepted(1));
  const tail = createTail(folder);
  for (const n of [2, 3]) small.append(accepted(n));
  tail.read();
  const late = { schema: 1, at: '2026-11-21T03:00:00.000Z', ...accepted(4), target: 'agent/x' };
  appendFileSync(file, `\n${JSON.stringify(late)}\n`);
  expect(tail.read()).toEqual([]);
});

test("a folder that can't be read is an error", () => {
  const { folder, file, open } = createStateFolder();
  open().append(accepted(1));
  expect(() => createTail(file)).toThrow('ENOTDIR');
  expect(createTail(join(folder, 'nowhere')).read()).toEqual([]);
});
