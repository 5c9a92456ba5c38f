import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { accepted, baseUrl, key, status, triggered, uuid } from './records.ts';
import { createStateFolder, linesIn, stateFolderAt } from './state-folder.ts';

describe('the file', () => {
  test('and its folder are private', () => {
    const { open, folder, file } = createStateFolder();
    expect(open().append(triggered(1))).toBe(true);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is not created by reading', () => {
    const { open, folder, troubles } = createStateFolder();
    expect([...open().runs()]).toEqual([]);
    expect(open().findKey(key(1))).toBeUndefined();
    expect(() => statSync(folder)).toThrow('ENOENT');
    expect(troubles).toEqual([]);
  });

  test('holds one JSON object a line, and a blank line before each', () => {
    const { open, file } = createStateFolder();
    open().append(triggered(1));
    expect(readFileSync(file, 'utf8')).toMatch(
      /^\n\{"schema":1,"at":"2026-11-21T03:00:00.000Z","type":"triggered".*\}\n$/,
    );
  });

  test.each([
    ['a torn one', '\n{"schema":1,"at":"2026-11-21T03:00'],
    ['one of another schema', '\n{"schema":2,"type":"triggered"}\n'],
    [
      'one of another type',
      '\n{"schema":1,"at":"2026-11-21T03:00:00Z","baseUrl":"x","target":"automation/x/y","type":"new"}\n',
    ],
    [
      'a run of an Agent, as rc.1 wrote it',
      `\n{"schema":1,"at":"2026-11-21T03:00:00Z","type":"status","baseUrl":"x","target":"agent/a","executionId":"${uuid(2)}","status":"RUNNING"}\n`,
    ],
    ['JSON that is no object', '\nnull\n[]\n"triggered"\n1\n'],
    ['zeros that a power failure left', '\0'.repeat(5000)],
    ['bytes that are no text', Buffer.from([10, 0xff, 0xfe, 0xc3, 10])],
    ['the same with Windows line ends', '\r\n\r\n{}\r\n'],
  ])('may hold foreign lines: %s', (_, foreign) => {
    const { open, file, troubles } = createStateFolder();
    const journal = open();
    journal.append(triggered(1));
    appendFileSync(file, foreign);
    journal.append(accepted(1));
    appendFileSync(file, foreign);
    expect(open().runs({}).next().value).toMatchObject({ executionId: uuid(1), idempotencyKey: 'key-1' });
    expect(troubles).toEqual([]);
  });

  test.each([
    ['at', 5],
    ['at', 'yesterday'],
    ['baseUrl', null],
    ['target', 'nightly'],
    ['target', { projectId: 'x', automationName: 'y' }],
    ['executionId', 7],
    ['status', ['RUNNING']],
    ['startedAt', 0],
    ['creditsCharged', '2'],
  ])('may hold lines with a wrong %s: %j', (field, value) => {
    const { open, file } = createStateFolder();
    open().append(status(1, 'RUNNING'));
    const [record] = linesIn(dirname(file)).filter((line) => line !== '');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(record ?? ''), [field]: value }));
    expect([...open().runs()]).toEqual([]);
  });

  test('may hold lines longer than what is read at a time', () => {
    const { open } = createStateFolder();
    const body = JSON.stringify({ message: 'é'.repeat(1_500_000) });
    const journal = open();
    journal.append({ ...triggered(1), body });
    journal.append({ ...triggered(2), body: '{}' });
    expect(
      open()
        .unresolvedTriggers({ baseUrl })
        .map((one) => one.body),
    ).toEqual(['{}', body]);
  });
});

describe('a full file', () => {
  test('is followed by another, and all is read on', () => {
    const { open, folder } = createStateFolder();
    for (let n = 0; n < 20; n++) open(400).append(status(n, 'RUNNING'));
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining(['journal.jsonl', 'journal-1.jsonl', 'journal-9.jsonl']),
    );
    expect([...open().runs()].map(({ executionId }) => executionId)).toEqual(
      Array.from({ length: 20 }, (_, n) => uuid(19 - n)),
    );
  });

  test('may be thrown away', () => {
    const { open, file } = createStateFolder();
    for (let n = 0; n < 3; n++) open(1).append(status(n, 'RUNNING'));
    rmSync(file);
    open(1).append(status(3, 'RUNNING'));
    expect([...open().runs()].map(({ executionId }) => executionId)).toEqual([uuid(3), uuid(2), uuid(1)]);
  });

  test('is not read where the newest two suffice', () => {
    const { open, file, troubles } = createStateFolder();
    for (let n = 1; n <= 3; n++) open(1).append(triggered(n));
    rmSync(file);
    mkdirSync(file);
    const runs = open().runs();
    expect([runs.next(), runs.next()].map(({ value }) => value?.idempotencyKey)).toEqual(['key-3', 'key-2']);
    expect(troubles).toEqual([]);
    expect(runs.next().done).toBe(true);
    expect(troubles).toHaveLength(1);
  });
});

describe('trouble is said once, and the journal is done without', () => {
  test.each<[string, string, (state: ReturnType<typeof createStateFolder>) => void]>([
    ['the file is a folder', 'EISDIR', ({ file }) => mkdirSync(file, { recursive: true })],
    ['the folder is a file', 'ENOTDIR', ({ folder }) => writeFileSync(folder, '')],
    [
      'its parent is a file',
      'ENOTDIR',
      ({ folder }) => {
        rmSync(dirname(folder), { recursive: true });
        writeFileSync(dirname(folder), '');
      },
    ],
    [
      'the file is a device',
      'journal.jsonl is not a regular file',
      ({ folder, file }) => {
        mkdirSync(folder);
        symlinkSync('/dev/null', file);
      },
    ],
  ])('when %s', (_, why, prepare) => {
    const state = createStateFolder();
    prepare(state);
    const journal = state.open();
    expect(journal.append(triggered(1))).toBe(false);
    expect(journal.append(accepted(1))).toBe(false);
    expect([...journal.runs()]).toEqual([]);
    expect(journal.find(uuid(1), { baseUrl })).toBeUndefined();
    expect(state.troubles).toEqual([
      expect.stringMatching(`^the journal in ${state.folder} can't be written \\(.*${why}\\)$`),
    ]);
  });

  test('when there is no folder for it', () => {
    const troubles: string[] = [];
    const onTrouble = (what: string, lack: string) => troubles.push(`${lack}: ${what}`);
    const journal = openJournal({ folder: undefined, nowMs: () => 0, onTrouble });
    expect(journal.runs({}).next().value).toBeUndefined();
    expect(troubles).toEqual([]);
    expect(journal.append(triggered(1))).toBe(false);
    journal.append(accepted(1));
    expect(journal.unresolvedTriggers({ baseUrl })).toEqual([]);
    expect(troubles).toEqual([expect.stringContaining('written: there is no folder for the journal')]);
  });

  test("when a part of it can't be read; the rest is", () => {
    const { open, file, troubles } = createStateFolder();
    for (const n of [1, 2, 3]) open(1).append(triggered(n));
    rmSync(file);
    mkdirSync(file);
    expect(open().unresolvedTriggers({ baseUrl })).toHaveLength(2);
    expect(troubles).toEqual([expect.stringContaining('is not a regular file)')]);
  });

  test('when the place is one where nothing can be made', () => {
    const { open, troubles } = stateFolderAt('/proc/nowhere');
    expect(open().append(triggered(1))).toBe(false);
    expect(troubles).toHaveLength(1);
  });
});
