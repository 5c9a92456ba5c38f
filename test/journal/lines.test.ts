import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { begunAt, fileNameOf, filesIn, type LineFilter, readFiles, readLines } from '../../src/journal/files.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { baseUrl, triggered } from './records.ts';

const begun = (minute: number) => `{"schema":1,"at":"2026-11-22T03:0${minute}:00.000Z"}`;

/** A folder with these files: the first one is `journal.jsonl`, the next `journal-1.jsonl`. */
function folderOf(...texts: string[]) {
  const folder = temporaryFolder();
  for (const [n, text] of texts.entries()) writeFileSync(join(folder, fileNameOf(n)), text);
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  return {
    folder,
    errors,
    lines: (filter: LineFilter = {}) => [...readLines(folder, filter, onError)],
    texts: (filter: Parameters<typeof readFiles>[1] = {}) =>
      Array.from(readFiles(folder, filter, onError), (bytes) => bytes.toString()),
  };
}

test('the files of a journal are those that are named so, newest first', () => {
  const { folder } = folderOf();
  const others = ['journal-01.jsonl', 'journal-x.jsonl', 'journal-0.jsonl', 'xjournal.jsonl', 'journal.jsonl.bak'];
  for (const name of ['journal-1.jsonl', 'journal.jsonl', 'journal-12.jsonl', 'checkpoint.jsonl', ...others])
    writeFileSync(join(folder, name), '');
  expect(filesIn(folder).map(({ number, path }) => [number, path])).toEqual([
    [12, join(folder, 'journal-12.jsonl')],
    [1, join(folder, 'journal-1.jsonl')],
    [0, join(folder, 'journal.jsonl')],
  ]);
});

test.each([
  [begun(1), '2026-11-22T03:01:00.000Z'],
  [`\n${begun(1)}\n\n${begun(2)}\n`, '2026-11-22T03:01:00.000Z'],
  [`\n\n\n${begun(1)}`, '2026-11-22T03:01:00.000Z'],
  ['', '~'],
  ['\n{"schema":1,"at"', '~'],
  [`torn\n${begun(1)}`, '~'],
  ['{"schema":2,"at":"2026"}', '~'],
])('a file %j was begun at %s', (text, at) => {
  expect(begunAt(join(folderOf(text).folder, 'journal.jsonl'))).toBe(at);
});

test('a line is whole though an expression sees each of its bytes as a character', () => {
  expect(folderOf('é one\n\nzwölf é two\n').lines({ needle: /two/g })).toEqual(['zwölf é two']);
});

describe('the lines of a journal', () => {
  const { lines } = { lines: (filter?: LineFilter) => folderOf('a1\n\nb1\n', '\nb2\n\nab\n\nc').lines(filter) };

  test.each<[LineFilter, string[]]>([
    [{}, ['c', 'ab', 'b2', 'b1', 'a1']],
    [{ oldestFirst: true }, ['a1', 'b1', 'b2', 'ab', 'c']],
    [{ needle: 'a' }, ['ab', 'a1']],
    [{ needle: 'b', oldestFirst: true }, ['b1', 'b2', 'ab']],
    [{ needle: 'c' }, ['c']],
    [{ needle: 'nothing' }, []],
    [{ needle: /A/gi }, ['ab', 'a1']],
    [{ needle: /[12]/g, oldestFirst: true }, ['a1', 'b1', 'b2']],
  ])('are chosen and ordered by %j', (filter, expected) => {
    expect(lines(filter)).toEqual(expected);
  });

  test('are each read once, however often they hold what is sought, and whole', () => {
    const long = `x${'-é'.repeat(500)}x`;
    expect(folderOf('ax', `${long}\nyxx`).lines({ needle: 'x' })).toEqual(['yxx', long, 'ax']);
  });
});

describe('the files since a time', () => {
  const files = [1, 2, 3].map((minute) => `${begun(minute)}\n`);

  test.each<[string, string, number[]]>([
    ['in the middle of one', '2026-11-22T03:02:30.000Z', [2, 3]],
    ['at which one was begun, since the one before may hold records of it, too', '2026-11-22T03:02:00.000Z', [1, 2, 3]],
    ['after all were begun', '2026-11-22T03:09:00.000Z', [3]],
    ['before all were begun', '2026-11-22T03:00:00.000Z', [1, 2, 3]],
  ])('%s are the newest ones', (_, since, minutes) => {
    const expected = minutes.map((minute) => `${begun(minute)}\n`);
    expect(folderOf(...files).texts({ since, oldestFirst: true })).toEqual(expected);
    expect(folderOf(...files).texts({ since })).toEqual(expected.toReversed());
  });

  test('are not cut off by one of which nobody knows when it was begun', () => {
    const { texts } = folderOf(files[0] ?? '', 'torn\n', files[2] ?? '');
    expect(texts({ since: '2026-11-22T03:02:30.000Z' })).toEqual([files[2], 'torn\n', files[0]]);
  });
});

test('a file that cannot be read is reported and left out, and one that is gone is none', () => {
  const { folder, errors, lines } = folderOf('a', 'b');
  mkdirSync(join(folder, 'journal-2.jsonl'));
  expect(lines()).toEqual(['b', 'a']);
  expect(errors).toHaveLength(1);
  const gone = { number: 0, path: join(folder, 'gone.jsonl') };
  expect(lines({ files: () => [{ ...gone, bytes: Buffer.from('known') }, gone] })).toEqual(['known']);
  expect(errors).toHaveLength(1);
  expect([...readLines(join(folder, 'nowhere'), {}, (error) => expect.unreachable(String(error)))]).toEqual([]);
});

test.each([
  ['writing', 'written', (journal: ReturnType<typeof openJournal>) => journal.append(triggered(1))],
  ['reading', 'read', (journal: ReturnType<typeof openJournal>) => journal.unresolvedTriggers({ baseUrl })],
  ['reading', 'read', (journal: ReturnType<typeof openJournal>) => journal.recentRuns({}, 0)],
])('trouble says that it came while %s', (doing, be, act) => {
  const { folder } = folderOf();
  mkdirSync(join(folder, 'journal.jsonl'));
  const troubles: string[] = [];
  const onTrouble = (what: string, while_: string) => troubles.push(`${while_}: ${what}`);
  act(openJournal({ folder, nowMs: () => 0, onTrouble }));
  expect(troubles).toEqual([expect.stringContaining(`${doing}: the journal in ${folder} cannot be ${be} (`)]);
});
