import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileNameOf, filesIn } from '../../src/journal/files.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { type LogPart, openLog } from '../../src/journal/log.ts';
import { recordsIn } from '../../src/journal/records.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { baseUrl, nightly, status, triggered, uuid } from './records.ts';
import { lineOf } from './state-folder.ts';

/** A folder with these files: the first one is `journal.jsonl`, the next `journal-1.jsonl`. */
function folderOf(...texts: string[]) {
  const folder = temporaryFolder();
  for (const [n, text] of texts.entries()) writeFileSync(join(folder, fileNameOf(n)), text);
  return folder;
}

test('the files of a journal are those that are named so, newest first', () => {
  const folder = folderOf();
  const others = ['journal-01.jsonl', 'journal-x.jsonl', 'journal-0.jsonl', 'xjournal.jsonl', 'journal.jsonl.bak'];
  for (const name of ['journal-1.jsonl', 'journal.jsonl', 'journal-12.jsonl', 'follower-1.json', ...others])
    writeFileSync(join(folder, name), '');
  expect(filesIn(folder).map(({ number, path }) => [number, path])).toEqual([
    [12, join(folder, 'journal-12.jsonl')],
    [1, join(folder, 'journal-1.jsonl')],
    [0, join(folder, 'journal.jsonl')],
  ]);
});

test.each<[string[] | undefined, number[]]>([
  [undefined, [1, 2, 3]],
  [[uuid(2)], [2]],
  [['FAILED'], [1, 3]],
  [
    [uuid(2), 'FAILED'],
    [1, 2, 3],
  ],
  [['é'], [3]],
  [['nothing'], []],
])('with the texts %j the records are those of the lines in which one of them stands', (texts, expected) => {
  const target = { ...nightly, automationName: 'zwölf é' };
  const records = [status(1, 'FAILED'), status(2, 'RUNNING'), status(3, 'FAILED', target)];
  const bytes = Buffer.from(records.map((record) => lineOf(record, '2026-11-22T03:00:00Z')).join('{"torn"\n'));
  expect(recordsIn(bytes, texts).map((record) => 'executionId' in record && record.executionId)).toEqual(
    expected.map(uuid),
  );
});

describe('of the files', () => {
  const begun = (hour: number) =>
    lineOf(status(hour, 'RUNNING'), `2026-11-22T0${hour}:00:00.000Z`) + lineOf(status(9, 'RUNNING'), '2026');
  const numbersIn = (part: LogPart, ...files: string[]) => {
    const log = openLog({ folder: folderOf(...files), nowMs: () => 0, onTrouble: (what) => expect.unreachable(what) });
    return Array.from(log.read(part), ([first]) => Number(first && 'executionId' in first && first.executionId.at(-1)));
  };

  test.each<[string, LogPart, number[]]>([
    ['all are read, the oldest first', {}, [1, 2, 3]],
    ['all are read, the newest first', { newestFirst: true }, [3, 2, 1]],
    ['the newest are read', { files: 2 }, [2, 3]],
    ['those since a time in the middle of one are read', { sinceMs: Date.UTC(2026, 10, 22, 2, 30) }, [2, 3]],
    [
      'those since a time at which one was begun are read, with the one before, which may hold records of it, too',
      { sinceMs: Date.UTC(2026, 10, 22, 2) },
      [1, 2, 3],
    ],
    ['one is read for a time after all were begun', { sinceMs: Date.UTC(2026, 10, 22, 9) }, [3]],
    ['all are read for a time before', { sinceMs: Date.UTC(2026, 10, 22, 0) }, [1, 2, 3]],
  ])('%s', (_, part, expected) => {
    expect(numbersIn(part, begun(1), begun(2), begun(3))).toEqual(expected);
  });

  test('one of which nobody knows when it was begun hides no older one', () => {
    const sinceMs = Date.UTC(2026, 10, 22, 2, 30);
    expect(numbersIn({ sinceMs }, begun(1), 'torn\n', begun(3))).toEqual([1, Number.NaN, 3]);
  });
});

test.each<[string, (folder: string) => void, (journal: ReturnType<typeof openJournal>) => unknown]>([
  ['written', noFile, (journal) => journal.append(triggered(1))],
  ['read', noFile, (journal) => journal.unresolvedTriggers({ baseUrl })],
  ['read', noFile, (journal) => [...journal.runs()]],
  ['used', (folder) => chmodSync(folder, 0o777), (journal) => journal.append(triggered(1))],
  ['used', (folder) => chmodSync(folder, 0o777), (journal) => [...journal.runs()]],
])("trouble says that the journal can't be %s", (lack, prepare, act) => {
  const folder = folderOf();
  prepare(folder);
  const troubles: string[] = [];
  act(openJournal({ folder, nowMs: () => 0, onTrouble: (what, lack) => troubles.push(`${lack}: ${what}`) }));
  expect(troubles).toEqual([expect.stringContaining(`${lack}: the journal in ${folder} can't be ${lack} (`)]);
});

function noFile(folder: string): void {
  mkdirSync(join(folder, 'journal.jsonl'));
}
