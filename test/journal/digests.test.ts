import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDigests, keptRuns } from '../../src/journal/checkpoint.ts';
import { fileNameOf } from '../../src/journal/files.ts';
import { type NewRecord, pathOf, recordsIn } from '../../src/journal/records.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accepted, agent, baseUrl, key, nightly, refused, status, triggered, uuid, weekly } from './records.ts';

const at = '2026-11-21T03:00:00.000Z';
const elsewhere = 'https://other.example.com';

const textOf = (records: NewRecord[]) =>
  records
    .map(({ type, target, ...rest }) => JSON.stringify({ schema: 1, at, type, target: pathOf(target), ...rest }))
    .join('\n');

/** A journal whose oldest files hold these records, before two more files, which may still grow. */
function journalOf(...full: NewRecord[][]) {
  const folder = temporaryFolder();
  const pathOfFile = (number: number) => join(folder, fileNameOf(number));
  for (const [number, records] of [...full, [], []].entries()) {
    writeFileSync(pathOfFile(number), textOf(records));
    utimesSync(pathOfFile(number), 1e9, 1e9);
  }
  const checkpoint = join(folder, 'checkpoint.jsonl');
  /** What `digest`, or that of another process, says, with the numbers of the files that it does not cover. */
  const read = (digest = createDigests(folder)) => {
    const { files, omitted } = digest() ?? expect.unreachable();
    const bytes = files.find(({ path }) => path === checkpoint)?.bytes ?? Buffer.of();
    return {
      rest: files.flatMap(({ path, number }) => (path === checkpoint ? [] : number)),
      text: bytes.toString(),
      kept: textsOf(recordsIn(bytes)),
      omitted: [...omitted],
    };
  };
  return { folder, pathOfFile, checkpoint, read };
}

const textsOf = (records: object[]) => records.map((record) => JSON.stringify(record));
const linesOf = (records: NewRecord[]) => (records.length === 0 ? [] : textOf(records).split('\n'));
const times = <T>(count: number, of: (n: number) => T) => Array.from({ length: count }, (_, n) => of(n));

const forgotten = (n: number) => ({ type: 'forgotten', ...key(n) }) as const;
const superseded = (n: number) => ({ type: 'superseded', ...key(n) }) as const;
const inDoubt = (n: number) => ({ type: 'in_doubt', ...key(n), reason: 'lost', attempt: 'attempt-1' }) as const;
const notFound = (n: number) => ({ type: 'not_found', baseUrl, target: nightly, executionId: uuid(n) }) as const;
const hook = { type: 'hook_begun', baseUrl, target: nightly, executionId: uuid(1) } as const;
const completed = (n: number) => status(n, 'COMPLETED');
const enough = times(keptRuns, (n) => completed(n + 1));

test.each<[string, NewRecord[], NewRecord[]]>([
  ['a trigger without an outcome', [triggered(1)], []],
  ['a trigger in doubt', [triggered(1), inDoubt(1)], []],
  ['a superseded trigger, whose key may be given again', [triggered(1), superseded(1)], []],
  [
    'a refused trigger that was sent in doubt, whose key may be given again',
    [triggered(1), { ...inDoubt(1), sentAt: at }, refused(1)],
    [],
  ],
  ['a run with its trigger', [triggered(1), accepted(1), completed(1)], []],
  [
    'a run whose id is written in two ways',
    ['abc', 'ABC'].map((executionId) => ({ ...completed(1), executionId })),
    [],
  ],
  ['as many finished runs as are enough', enough, []],
  ['any number of unfinished runs', times(keptRuns + 5, (n) => accepted(n)), []],
  ['any number of runs with an unknown status', times(keptRuns + 5, (n) => status(n, 'PAUSED')), []],
  ['as many runs of each target', [completed(99), ...times(keptRuns, (n) => status(n, 'COMPLETED', weekly))], []],
  ['as many runs of each status', [status(99, 'FAILED'), ...enough], []],
  ['as many runs of each service', [{ ...completed(1), baseUrl: elsewhere }, ...enough], []],
  ['no refused trigger', [], [triggered(1), refused(1)]],
  ['no forgotten trigger', [], [triggered(1), forgotten(1)]],
  ['no refusal of a trigger that nobody knows', [], [refused(1)]],
  ['no hook, even of a run that it keeps', [accepted(1)], [hook, { ...hook, type: 'hook_ended' }]],
])('a checkpoint keeps %s', (_, kept, left) => {
  const { read } = journalOf([...left, ...kept]);
  expect(read()).toMatchObject({ rest: [2, 1], kept: linesOf(kept), omitted: [] });
});

test.each<[string, NewRecord[], NewRecord[], string]>([
  ['a finished run', [completed(99)], enough, 'COMPLETED'],
  ['a finished run with its trigger', [triggered(99), accepted(99), completed(99)], enough, 'COMPLETED'],
  ['a status in lower case', [status(99, 'completed')], times(keptRuns, (n) => status(n, 'completed')), 'COMPLETED'],
  ['a run of an agent', [status(99, 'STUCK', agent)], times(keptRuns, (n) => status(n, 'STUCK', agent)), 'STUCK'],
  ['a run that was not found', [notFound(99)], times(keptRuns, (n) => notFound(n)), 'NOT_FOUND'],
])('a checkpoint leaves out the oldest of too many finished runs, and names its status: %s', (_, left, kept, name) => {
  const { read } = journalOf([...left, ...kept]);
  expect(read()).toMatchObject({ rest: [2, 1], kept: linesOf(kept), omitted: [name] });
});

test('a checkpoint begins with what it covers, and ends with a line that shows that it is whole', () => {
  const records = [completed(99), ...enough];
  const { read, checkpoint } = journalOf(records);
  const { text } = read();
  const size = textOf(records).length;
  const [header, ...rest] = text.split('\n');
  expect(JSON.parse(header ?? '')).toEqual({
    schema: 1,
    at,
    type: 'checkpoint',
    rules: 1,
    covered: [[0, size, 1e12]],
    omitted: ['COMPLETED'],
  });
  expect(rest).toEqual([...linesOf(enough), '{"end":true}', '']);
  expect(readFileSync(checkpoint, 'utf8')).toBe(text);
});

test('a checkpoint that keeps nothing is written all the same', () => {
  const { read, checkpoint } = journalOf([triggered(1), refused(1)]);
  expect(read().text).toBe(
    `{"schema":1,"at":"","type":"checkpoint","rules":1,"covered":${JSON.stringify([[0, textOf([triggered(1), refused(1)]).length, 1e12]])},"omitted":[]}\n{"end":true}\n`,
  );
  expect(existsSync(checkpoint)).toBe(true);
});

test('a journal of two files, which may still grow, has no checkpoint, not even one that lies there', () => {
  const { read, folder, checkpoint } = journalOf();
  writeFileSync(checkpoint, textOf([completed(1)]));
  const files = createDigests(folder)()?.files.map(({ number }) => number);
  expect(files).toEqual([1, 0]);
  expect(read()).toMatchObject({ omitted: [], rest: [1, 0] });
});

test('each reading covers four more files, until all that are full are covered', () => {
  const early = [completed(900), ...enough];
  const files = times(9, (n) => (n === 0 ? early : [status(100 + n, 'RUNNING')]));
  const { read, folder } = journalOf(...files);
  const digest = createDigests(folder);
  const all = [...enough, ...files.slice(1).flat()];
  expect(read(digest)).toMatchObject({ rest: [10, 9, 8, 7, 6, 5, 4], kept: linesOf(all.slice(0, keptRuns + 3)) });
  // The next process goes on where the last one has stopped.
  expect(read()).toMatchObject({ rest: [10, 9, 8], kept: linesOf(all.slice(0, keptRuns + 7)) });
  for (const rest of [
    [10, 9, 8],
    [10, 9],
    [10, 9],
  ])
    expect(read(digest)).toMatchObject({ rest, omitted: ['COMPLETED'] });
  expect(read().kept).toEqual(linesOf(all));
  expect(readdirSync(folder).filter((name) => !name.startsWith('journal'))).toEqual(['checkpoint.jsonl']);
});

test('a checkpoint that is known, or that another process has written, is not written again', () => {
  const { read, folder, checkpoint } = journalOf(enough);
  const digest = createDigests(folder);
  const known = read(digest);
  utimesSync(checkpoint, 1e9, 1e9);
  const marked = readFileSync(checkpoint, 'utf8').replace(at, '2020-01-01T00:00:00.000Z');
  writeFileSync(checkpoint, marked);
  expect(read(digest)).toEqual(known);
  expect(read().text).toBe(marked);
  expect(readFileSync(checkpoint, 'utf8')).toBe(marked);
});

const late = `\n${textOf([triggered(500)])}`;

test.each<[string, (journal: ReturnType<typeof journalOf>) => void]>([
  ['the oldest covered file was written to', ({ pathOfFile }) => appendFileSync(pathOfFile(0), late)],
  ['the newest covered file was written to', ({ pathOfFile }) => appendFileSync(pathOfFile(1), late)],
  [
    'a covered file has another text of the same length',
    ({ pathOfFile }) => writeFileSync(pathOfFile(0), textOf([triggered(2)])),
  ],
  [
    'the covered files were removed, and newer ones were written',
    ({ pathOfFile }) => {
      for (const number of [0, 1, 2, 3]) rmSync(pathOfFile(number));
      for (const number of [5, 6, 7]) writeFileSync(pathOfFile(number), textOf([triggered(number)]));
    },
  ],
  ['the checkpoint is gone', ({ checkpoint }) => rmSync(checkpoint)],
  ['the checkpoint lacks its last line', ({ checkpoint }) => truncateSync(checkpoint, 300)],
  ['the checkpoint has one byte less', (journal) => truncateSync(journal.checkpoint, journal.read().text.length - 1)],
  ['the checkpoint has one byte more', ({ checkpoint }) => appendFileSync(checkpoint, '\n')],
  ['the checkpoint is empty', ({ checkpoint }) => truncateSync(checkpoint, 0)],
  ['the checkpoint is no JSON', ({ checkpoint }) => truncateSync(checkpoint, 9)],
  [
    'the checkpoint is of another version',
    ({ checkpoint }) => writeFileSync(checkpoint, readFileSync(checkpoint, 'utf8').replace('"rules":1', '"rules":0')),
  ],
  [
    'the checkpoint cannot be written',
    ({ checkpoint }) => {
      rmSync(checkpoint);
      mkdirSync(checkpoint);
    },
  ],
])('what is kept is found anew if %s', (_, spoil) => {
  const journal = journalOf([triggered(1)], [triggered(3), accepted(3)]);
  journal.read();
  const digest = createDigests(journal.folder);
  journal.read(digest);
  spoil(journal);
  const found = journal.read();
  // What another folder with the same files says, where nothing was known before.
  rmSync(journal.checkpoint, { recursive: true, force: true });
  expect(found).toEqual(journal.read());
  expect(journal.read(digest)).toEqual(found);
  expect(readdirSync(journal.folder).filter((name) => /\d+$/.test(name))).toEqual([]);
});

test('old files that are removed, as a journal loses them after a year, leave what is kept', () => {
  const { read, folder, pathOfFile } = journalOf([triggered(1)], [accepted(2)]);
  const digest = createDigests(folder);
  const known = read(digest);
  rmSync(pathOfFile(0));
  expect(read(digest)).toEqual(known);
  expect(read()).toEqual(known);
});

test('nothing is said of a journal that cannot be read', () => {
  const { folder, pathOfFile } = journalOf([triggered(1)]);
  rmSync(pathOfFile(0));
  mkdirSync(pathOfFile(0));
  expect(createDigests(folder)()).toBe(undefined);
  expect(createDigests(join(folder, 'nowhere'))()).toBe(undefined);
});
