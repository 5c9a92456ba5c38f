import nodeFs, {
  appendFileSync,
  chmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { appendLine } from '../../src/journal/append-line.ts';
import { fileNameOf, filesIn } from '../../src/journal/files.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { type JournalPart, openRecordStore, pruneFiles } from '../../src/journal/record-store.ts';
import { createRecorder } from '../../src/journal/recorder.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import type { Entry } from '../../src/run/entry.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { running } from '../helpers/scripted-service.ts';
import { sendAndSettle } from '../helpers/send-and-settle.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import { accepted, account, baseUrl, idOf, key, refused, status, triggered, uuid } from './records.ts';
import { createStateFolder, lineOf, linesIn, type StateFolder } from './state-folder.ts';

/** A folder with these files: the first one is `journal.jsonl`, the next `journal-1.jsonl`. */
function folderOf(...texts: string[]) {
  const folder = temporaryFolder();
  for (const [n, text] of texts.entries()) writeFileSync(join(folder, fileNameOf(n)), text);
  return folder;
}

/** Writes each of these records to a file of its own. */
function writeFiles({ open }: StateFolder, ...records: NewRecord[]) {
  for (const record of records) open(1).append(record);
}

const idsIn = (entries: Iterable<Entry>) => Array.from(entries, idOf);

test('the files of a journal are found by their names, newest first', () => {
  const folder = folderOf('', '');
  const others = ['journal-01.jsonl', 'journal-x.jsonl', 'journal-0.jsonl', 'xjournal.jsonl', 'journal.jsonl.bak'];
  for (const name of ['journal-12.jsonl', ...others]) writeFileSync(join(folder, name), '');
  expect(filesIn(folder)).toMatchObject(
    [12, 1, 0].map((number) => ({ number, path: join(folder, fileNameOf(number)) })),
  );
});

describe('a file of the journal', () => {
  test('is private, and so is its folder', () => {
    const { open, folder, file } = createStateFolder();
    expect(open().append(triggered(1))).toBe(true);
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test('is not created by reading', () => {
    const { open, folder, troubles } = createStateFolder();
    expect([[...open().entries()], open().findKey(key(1))]).toEqual([[], undefined]);
    expect(() => statSync(folder)).toThrow('ENOENT');
    expect(troubles).toEqual([]);
  });

  test('holds one JSON object a line, and a blank line before each', () => {
    const { open, file } = createStateFolder();
    open().append(triggered(1));
    const line = /^\n\{"schema":1,"at":"2026-11-21T03:00:00.000Z","type":"triggered".*\}\n$/;
    expect(readFileSync(file, 'utf8')).toMatch(line);
  });

  test.each([
    ['a torn one', '\n{"schema":1,"at":"2026-11-21T03:00'],
    ['one of another schema', '\n{"schema":2,"type":"triggered"}\n'],
    ['JSON that is no object', '\nnull\n[]\n"triggered"\n1\n'],
    ['zeros that a power failure left', '\0'.repeat(5000)],
    ['bytes that are no text', Buffer.from([10, 0xff, 0xfe, 0xc3, 10])],
    ['one with Windows line ends', '\r\n\r\n{}\r\n'],
  ])('is read even if it has other lines: %s', (_, foreign) => {
    const { open, file, troubles } = createStateFolder();
    for (const record of [triggered(1), accepted(1)]) {
      open().append(record);
      appendFileSync(file, foreign);
    }
    expect([...open().entries()]).toMatchObject([{ executionId: uuid(1), idempotencyKey: 'key-1' }]);
    expect(troubles).toEqual([]);
  });

  test('is read even if a line is longer than what is read at a time', () => {
    const { open } = createStateFolder();
    const body = JSON.stringify({ message: 'é'.repeat(1_500_000) });
    for (const record of [{ ...triggered(1), body }, triggered(2)]) open().append(record);
    expect(open().unresolved({ baseUrl })).toMatchObject([{ body: '{}' }, { body }]);
  });

  test('is followed by another file when it is full, and all are read except a deleted one', () => {
    const state = createStateFolder();
    for (let n = 0; n < 20; n++) state.open(400).append(status(n, 'RUNNING'));
    const names = ['journal.jsonl', 'journal-1.jsonl', 'journal-9.jsonl'];
    expect(readdirSync(state.folder)).toEqual(expect.arrayContaining(names));
    expect(idsIn(state.open().entries())).toEqual(Array.from({ length: 20 }, (_, n) => uuid(19 - n)));
    rmSync(state.file);
    state.open(1).append(status(20, 'RUNNING'));
    expect(idsIn(state.open().entries())).toEqual(Array.from({ length: 19 }, (_, n) => uuid(20 - n)));
  });
});

describe('a line', () => {
  const append = (folder: string, fileBytes = 1000) =>
    appendLine('one', { folder, fileBytes, durable: true, sync: { file() {}, folder() {} } });

  test.each([
    ['as large as it may be', 5, false],
    ['larger than that', 4, true],
  ])('is appended to a file that is %s, or else to the next one', (_, fileBytes, isNext) => {
    const folder = temporaryFolder();
    expect([append(folder), append(folder, fileBytes)]).toEqual([true, isNext]);
    expect(readdirSync(folder)).toHaveLength(isNext ? 2 : 1);
  });

  test('leaves no file and no folder open', () => {
    const folder = temporaryFolder();
    const nextDescriptor = () => {
      const fd = openSync(folder, 'r');
      nodeFs.closeSync(fd);
      return fd;
    };
    const before = nextDescriptor();
    append(folder);
    expect(nextDescriptor()).toBe(before);
  });

  test('fails if the disk takes only a part of it', () => {
    const { writeSync } = nodeFs;
    const full = vi.spyOn(nodeFs, 'writeSync').mockImplementation((fd) => writeSync(fd, '\non'));
    syncBuiltinESMExports();
    onTestFinished(() => {
      full.mockRestore();
      syncBuiltinESMExports();
    });
    expect(() => append(temporaryFolder())).toThrow('3 of 5');
  });
});

describe('a file system', () => {
  /** A journal whose file can't be synchronized because of this error. */
  const openBroken = (error: object) => {
    const { folder, open } = createStateFolder();
    const troubles: string[] = [];
    const file = () => {
      throw Object.assign(new Error('fdatasync'), error);
    };
    const onFailure = (what: string) => void troubles.push(what);
    const journal = openJournal({ folder, nowMs: () => 0, onFailure, sync: { file, folder() {} } });
    return { journal, folder, troubles, open };
  };

  test.each(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])(
    'may be unable to synchronize a file (%s), and each record is still written once',
    (code) => {
      const { journal, folder, troubles } = openBroken({ code });
      const trigger = { ...key(1), account, userProvided: false, body: '{}' };
      const record = createRecorder(journal, { ...trigger, wasSentBefore: false });
      record.triggered();
      record.accepted({ executionId: uuid(1), status: 'RUNNING', isFinal: false, document: {} }, 'generated_key');
      const types = linesIn(folder).flatMap((line) => (line === '' ? [] : JSON.parse(line).type));
      expect([types, troubles]).toEqual([['triggered', 'accepted'], []]);
    },
  );

  test.runIf(process.platform === 'linux').each([
    ['EDQUOT', { errno: -122, code: 'Unknown system error -122' }],
    ['ESTALE', { errno: -116, code: 'UNKNOWN' }],
    ['EIO', { errno: -5, code: 'EIO' }],
  ])('is named by its error if it fails: %s', (name, error) => {
    const { journal, troubles } = openBroken(error);
    expect(journal.append(triggered(1))).toBe(false);
    expect(troubles).toEqual([expect.stringContaining(`can't be written (${name})`)]);
  });
});

describe('fsync', () => {
  /** A journal that says what it puts on the disk, in order, and triggers that say when they are sent. */
  function openWatched(fileBytes?: number) {
    const { folder, file } = createStateFolder();
    const happened: string[] = [];
    const nameOf = (inode: number) =>
      ['the folder', 'its parent'][[folder, dirname(folder)].findIndex((path) => statSync(path).ino === inode)];
    const journal = openJournal({
      folder,
      fileBytes,
      nowMs: () => 0,
      onFailure: (what) => expect.unreachable(what),
      sync: {
        file(fd) {
          happened.push(`file of ${readFileSync(file, 'utf8').split('\n').filter(Boolean).length} records`);
          fdatasyncSync(fd);
        },
        folder(fd) {
          happened.push(nameOf(fstatSync(fd).ino) ?? 'something else');
          fsyncSync(fd);
        },
      },
    });
    const send = async (number: number) => {
      const trigger = { ...key(number), account, userProvided: false, body: '{}' };
      const clock = createVirtualClock();
      const answer = async () => {
        happened.push('request');
        return running();
      };
      const ports = {
        service: { trigger: answer },
        limiter: createRateLimiter(10, clock),
        record: createRecorder(journal, { ...trigger, wasSentBefore: false }),
        clock,
        random: () => 0,
        signal: new AbortController().signal,
        giveUpAfterMs: 0,
      };
      await sendAndSettle(trigger, {}, ports);
      return happened.splice(0);
    };
    return { journal, happened, send };
  }

  test('is called for a trigger, its file and its folder before the first request, and then for each trigger alone', async () => {
    const { send } = openWatched();
    expect(await send(1)).toEqual(['file of 1 records', 'the folder', 'its parent', 'request']);
    expect(await send(2)).toEqual(['file of 3 records', 'request']);
  });

  test('is called for the folder of every new file, too', async () => {
    const { send } = openWatched(1);
    await send(1);
    expect((await send(2)).slice(0, 4)).toEqual(['file of 1 records', 'the folder', 'its parent', 'request']);
  });

  test('is called for no other record, but for a file that such a record begins', () => {
    const { journal, happened } = openWatched();
    for (const n of [1, 2]) expect(journal.append(refused(n))).toBe(true);
    expect(happened).toEqual(['the folder', 'its parent']);
  });
});

describe('reading files', () => {
  const day = (n: number) => Date.UTC(2026, 10, n);
  const begun = (n: number, atMs = day(n)) =>
    lineOf(status(n, 'RUNNING'), new Date(atMs).toISOString()) + lineOf(status(9, 'RUNNING'), '2026');
  const numbersIn = (part: JournalPart, ...files: string[]) => {
    const log = openRecordStore({
      folder: folderOf(...files),
      nowMs: () => 0,
      onFailure: (what) => expect.unreachable(what),
    });
    return Array.from(log.read(part), ([first]) => Number(first && 'executionId' in first && first.executionId.at(-1)));
  };
  const hour = 3_600_000;

  test.each<[string, JournalPart, number[]]>([
    ['reads all, the oldest first', {}, [1, 2, 3, 4, 5, 6]],
    ['reads all, the newest first', { newestFirst: true }, [6, 5, 4, 3, 2, 1]],
    ['reads the newest', { maxFiles: 2 }, [5, 6]],
    ['reads all since a time in the middle of one', { sinceMs: day(2) + hour }, [2, 3, 4, 5, 6]],
    ['reads all since the begin of one, and the one before', { sinceMs: day(2) }, [1, 2, 3, 4, 5, 6]],
    [
      'reads all since five minutes after the begin of one, and the one before, because the clock may have been off',
      { sinceMs: day(2) + 300_000 },
      [1, 2, 3, 4, 5, 6],
    ],
    ['reads the newest four for a time after all were begun', { sinceMs: day(9) }, [3, 4, 5, 6]],
    ['reads all for a time before', { sinceMs: day(0) }, [1, 2, 3, 4, 5, 6]],
  ])('%s', (_, part, expected) => {
    expect(numbersIn(part, ...[1, 2, 3, 4, 5, 6].map((n) => begun(n)))).toEqual(expected);
  });

  test.each([
    ['two days back', day(3)],
    ['400 days ahead', day(400)],
  ])('skips no older file because one of the newest three was begun while the clock was %s', (_, wrongMs) => {
    for (const wrong of [4, 5, 6]) {
      const files = [1, 2, 3, 4, 5, 6].map((n) => begun(n, n === wrong ? wrongMs : day(n)));
      expect(numbersIn({ sinceMs: day(2) + hour }, ...files)).toEqual([2, 3, 4, 5, 6]);
    }
  });

  test('skips no older file because nobody knows when a file was begun', () => {
    const files = [begun(1), 'torn\n', begun(3), begun(4), begun(5)];
    expect(numbersIn({ sinceMs: day(2) + hour }, ...files)).toEqual([1, Number.NaN, 3, 4, 5]);
  });
});

describe('a failure is reported once, and the command goes on without the journal', () => {
  const asFolder = (path: string) => mkdirSync(path, { recursive: true });
  const unused = ({ folder }: StateFolder) => {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
  };
  const device = ({ folder, file }: StateFolder) => {
    mkdirSync(folder);
    symlinkSync('/dev/null', file);
  };
  const fileAsParent = ({ folder }: StateFolder) => {
    rmSync(dirname(folder), { recursive: true });
    writeFileSync(dirname(folder), '');
  };

  test.each<[string, lack: string, why: string, (state: StateFolder) => void]>([
    ['the file is a folder', 'written', 'EISDIR', ({ file }) => asFolder(file)],
    ['the folder is a file', 'written', 'ENOTDIR', ({ folder }) => writeFileSync(folder, '')],
    ['its parent is a file', 'written', 'ENOTDIR', fileAsParent],
    ['the file is a device', 'written', 'not a regular file', device],
    ['others can write to the folder', 'used', 'other users', unused],
  ])('if %s, because it can not be %s', (_, lack, why, prepare) => {
    const state = createStateFolder();
    prepare(state);
    const troubles: string[] = [];
    const onFailure = (what: string, lack: string) => void troubles.push(`${lack}: ${what}`);
    const open = () => openJournal({ folder: state.folder, nowMs: () => 0, onFailure });
    const journal = open();
    expect([journal.append(triggered(1)), journal.append(accepted(1))]).toEqual([false, false]);
    expect([[...journal.entries()], journal.find(uuid(1), { baseUrl })]).toEqual([[], undefined]);
    const clause = new RegExp(`^${lack}: .* in ${state.folder} can't be ${lack} \\(.*${why}`);
    expect(troubles.splice(0)).toEqual([expect.stringMatching(clause)]);
    // One that only reads is told what it can't do.
    expect([...open().entries()]).toEqual([]);
    expect(troubles).toEqual([expect.stringContaining(`can't be ${lack === 'used' ? 'used' : 'read'} (`)]);
  });

  test('if there is no folder for it', () => {
    const troubles: string[] = [];
    const onFailure = (what: string, lack: string) => troubles.push(`${lack}: ${what}`);
    const journal = openJournal({ folder: undefined, nowMs: () => 0, onFailure });
    expect([[...journal.entries()], journal.unresolved({ baseUrl }), troubles]).toEqual([[], [], []]);
    expect([journal.append(triggered(1)), journal.append(accepted(1))]).toEqual([false, false]);
    expect(troubles).toEqual([expect.stringMatching(/^written: .*RUNCTL_STATE_DIR/)]);
  });

  test("if a part of it can't be read: the rest is read, and the newest two files are enough for the newest runs", () => {
    const state = createStateFolder();
    writeFiles(state, triggered(1), triggered(2), triggered(3));
    rmSync(state.file);
    asFolder(state.file);
    const runs = state.open().entries();
    expect([runs.next(), runs.next()]).toMatchObject([3, 2].map((n) => ({ value: { idempotencyKey: `key-${n}` } })));
    expect(state.troubles).toEqual([]);
    expect([runs.next().done, state.open().unresolved({ baseUrl }).length]).toEqual([true, 2]);
    expect(state.troubles).toEqual([0, 1].map(() => expect.stringContaining('is not a regular file)')));
  });
});

describe('old files', () => {
  const yearMs = 365 * 24 * 3_600_000;
  const nowMs = Date.parse('2026-11-21T03:00:00.000Z');
  const seen = (n: number) => status(n, 'RUNNING');
  /** Which files are left when so much time has passed since these were written. */
  const leftOf = (state: StateFolder, passedMs: number) => {
    pruneFiles(state.folder, state.clock.nowMs + passedMs);
    return filesIn(state.folder).map(({ number }) => number);
  };

  test.each<[string, number, number[]]>([
    ['a year', yearMs, [6, 5, 4, 3, 2, 1, 0]],
    ['longer', yearMs + 1, [6, 5, 4, 3]],
  ])(
    'with something unresolved are kept for a year, and the newest four forever: after %s',
    (_, passedMs, expected) => {
      const state = createStateFolder();
      writeFiles(state, triggered(1), refused(2), ...[3, 4, 5, 6, 7].map(seen));
      expect(leftOf(state, passedMs)).toEqual(expected);
    },
  );

  test('are removed only when a new file is begun, and the others can still be read and appended to', () => {
    const state = createStateFolder();
    writeFiles(state, triggered(1), ...[2, 3, 4].map(seen), accepted(1));
    state.clock.nowMs += yearMs + 1;
    state.open().append(seen(5));
    expect(filesIn(state.folder)).toHaveLength(5);
    state.open(1).append(seen(6));
    expect(filesIn(state.folder)).toHaveLength(4);
    expect(idsIn(state.open().entries({ baseUrl }))).toEqual([6, 5, 1, 4, 3].map(uuid));
    expect(state.open().findKey(key(1))).toMatchObject({ kind: 'run' });
  });

  test('are not removed because a clock was 400 days ahead when a new file was begun', () => {
    const state = createStateFolder();
    writeFiles(state, triggered(1));
    state.clock.nowMs += 400 * 24 * 3_600_000;
    writeFiles(state, seen(2), seen(3), seen(4));
    state.clock.nowMs -= 400 * 24 * 3_600_000;
    expect(state.open().unresolved({ baseUrl })).toMatchObject([{ idempotencyKey: 'key-1' }]);
  });

  test.each<[string, (state: StateFolder) => void]>([
    ['hold a younger record', ({ file }) => appendFileSync(file, lineOf(seen(1), new Date(nowMs).toISOString()))],
    ['hold but a torn one', ({ file }) => writeFileSync(file, '{"schema":1,"at":"2020-01-01T00:00:00.000Z","ty')],
  ])('are kept, with all after them, if they %s', (_, change) => {
    const state = createStateFolder();
    state.clock.nowMs = nowMs - 2 * yearMs;
    writeFiles(state, ...[1, 2, 3, 4, 5, 6].map(seen));
    change(state);
    expect(leftOf(state, 2 * yearMs)).toEqual([5, 4, 3, 2, 1, 0]);
  });

  test('are looked for without reading the newest files', () => {
    const state = createStateFolder();
    writeFiles(state, seen(1));
    mkdirSync(join(state.folder, fileNameOf(1)));
    expect(leftOf(state, 0)).toEqual([1, 0]);
  });
});
