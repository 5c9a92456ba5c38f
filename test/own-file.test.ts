import { execFileSync } from 'node:child_process';
import nodeFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeOwnFolder, openOwn, readOwn, repairOwn } from '../src/own-file.ts';
import { withFailingClose } from './helpers/failing-close.ts';
import { needs } from './helpers/needs.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND } = fs.constants;
const appending = O_WRONLY | O_APPEND | O_CREAT;
const isRoot = process.geteuid?.() === 0;
const stranger = 54_321;

/** What stands at a path, and whose it is. */
type Thing = (path: string) => void;
const withMode =
  (mode: number, make: Thing): Thing =>
  (path) => {
    make(path);
    fs.chmodSync(path, mode);
  };
const strangers =
  (make: Thing): Thing =>
  (path) => {
    make(path);
    fs.lchownSync(path, stranger, stranger);
  };
const file = withMode(0o600, (path) => fs.writeFileSync(path, 'content'));
const folder = withMode(0o755, (path) => fs.mkdirSync(path));
const pipe: Thing = (path) => void execFileSync('mkfifo', [path]);
const linkTo =
  (target: string): Thing =>
  (path) =>
    fs.symlinkSync(target, path);

const opened = 'is opened';
const shared = 'other users can write to';
const foreign = 'belongs to another user';
const irregular = 'is not a regular file';

/** In the order in which they are made, and what becomes of `there/file`. */
type Row = [title: string, things: Record<string, Thing>, outcome: string];

const rows: Row[] = [
  ['a file of mine', { there: folder, 'there/file': file }, opened],
  ['a file that others can read', { there: folder, 'there/file': withMode(0o644, file) }, opened],
  ['a file that others can write to', { there: folder, 'there/file': withMode(0o602, file) }, shared],
  ['a file that a group can write to', { there: folder, 'there/file': withMode(0o620, file) }, shared],
  ['a file in a folder that others can write to', { there: withMode(0o777, folder), 'there/file': file }, shared],
  ['a file in a folder that a group can write to', { there: withMode(0o770, folder), 'there/file': file }, shared],
  ['a file in a sticky folder', { there: withMode(0o1777, folder), 'there/file': file }, shared],
  [
    'a file in a folder of mine, in one that is for everybody',
    { all: withMode(0o1777, folder), 'all/mine': folder, 'all/mine/file': file, there: linkTo('all/mine') },
    opened,
  ],
  ['a link to a file of mine', { there: folder, dotfile: file, 'there/file': linkTo('../dotfile') }, opened],
  ['a link to a folder of mine', { real: folder, 'real/file': file, there: linkTo('./real/../real') }, opened],
  [
    'a link to a file in a folder that others can write to',
    { there: folder, all: withMode(0o777, folder), 'all/file': file, 'there/file': linkTo('../all/file') },
    shared,
  ],
  ['a link to itself', { there: linkTo('there') }, 'ELOOP'],
  ['a device', { there: folder, 'there/file': linkTo('/dev/zero') }, irregular],
  ['a file in place of the folder', { there: file }, 'ENOTDIR'],
];

/** Only root can give a file away. */
const strangersRows: Row[] = [
  ['a file of another user', { there: folder, 'there/file': strangers(file) }, foreign],
  ['a file in a folder of another user', { there: strangers(folder), 'there/file': file }, foreign],
  [
    'a link to a file of another user',
    { there: folder, other: strangers(file), 'there/file': linkTo('../other') },
    foreign,
  ],
];

function makeAll(things: Record<string, Thing>): string {
  const base = temporaryFolder();
  for (const [name, make] of Object.entries(things)) make(join(base, name));
  return base;
}

describe('for reading and for appending', () => {
  const check = (things: Record<string, Thing>, outcome: string) => {
    const base = makeAll(things);
    for (const flags of [O_RDONLY, appending]) {
      const open = () => fs.closeSync(openOwn(join(base, 'there/file'), flags));
      if (outcome === opened) expect(open).not.toThrow();
      else expect(open).toThrow(outcome);
    }
  };

  test.each(rows)('%s', (_, things, outcome) => check(things, outcome));

  test.for(strangersRows)('%s is refused', ([, things, outcome], context) => {
    needs(context, 'root', isRoot);
    check(things, outcome);
  });
});

test.each<[string, Thing, why: RegExp]>([
  ['a named pipe', pipe, /is not a regular file|ENXIO/],
  ['a folder', folder, /is not a regular file|EISDIR/],
  ['a link to nothing', linkTo('../nowhere'), /ENOENT|ELOOP/],
])('%s is neither waited for, read nor written', (_, make, why) => {
  const base = makeAll({ there: folder, 'there/file': make });
  for (const flags of [O_RDONLY, appending]) expect(() => openOwn(join(base, 'there/file'), flags)).toThrow(why);
  expect(fs.existsSync(join(base, 'nowhere'))).toBe(false);
});

test('a file is made for its owner alone', () => {
  const base = makeAll({ there: folder });
  fs.closeSync(openOwn(join(base, 'there/file'), appending));
  expect(fs.statSync(join(base, 'there/file')).mode & 0o777).toBe(0o600);
});

test('a file above the limit is not read, and one whose closing fails, as on a network file system, is', () => {
  const path = join(makeAll({ file }), 'file');
  withFailingClose(() => expect(readOwn(path, 1).bytes.toString()).toBe('content'));
  fs.truncateSync(path, 2 ** 20 + 1);
  expect(() => readOwn(path, 1)).toThrow('is larger than 1 MiB');
});

test('a folder is made for its owner alone, with its parents, and never where it can be none', () => {
  const base = temporaryFolder();
  expect(makeOwnFolder(join(base, 'a/b'))).toBe(join(base, 'a/b'));
  for (const name of ['a', 'a/b']) expect(fs.statSync(join(base, name)).mode & 0o777).toBe(0o700);
  expect(() => makeOwnFolder('/proc/nowhere/state')).toThrow('ENOENT');
  fs.chmodSync(join(base, 'a/b'), 0o770);
  expect(() => makeOwnFolder(join(base, 'a/b'))).toThrow(shared);
});

test.each<[string, Thing]>([
  ['a link', linkTo('../victim')],
  ['a named pipe', pipe],
  ['a file of another user', isRoot ? strangers(file) : linkTo('../victim')],
])('a file that is swapped for %s just before it is opened is not written', (_, make) => {
  const base = makeAll({ there: folder, 'there/file': file, victim: file });
  const path = join(base, 'there/file');
  const { openSync } = nodeFs;
  nodeFs.openSync = (...args) => {
    fs.rmSync(path);
    make(path);
    return openSync(...args);
  };
  syncBuiltinESMExports();
  try {
    expect(() => openOwn(path, appending)).toThrow(/ELOOP|ENXIO|another user/);
  } finally {
    nodeFs.openSync = openSync;
    syncBuiltinESMExports();
  }
  expect(fs.readFileSync(join(base, 'victim'), 'utf8')).toBe('content');
});

describe('what others can write to is repaired', () => {
  const modesIn = (base: string) =>
    ['there', 'there/file'].map((name) => (fs.statSync(join(base, name)).mode & 0o7777).toString(8));

  test.each<[string, number, number, string[]]>([
    ['both', 0o777, 0o666, ['755', '644']],
    ['the file alone', 0o700, 0o620, ['700', '600']],
    ['nothing that is right', 0o750, 0o640, ['750', '640']],
    ['no folder that is for everybody on purpose', 0o1777, 0o602, ['1777', '600']],
  ])('%s', (_, folderMode, fileMode, modes) => {
    const base = makeAll({ there: withMode(folderMode, folder), 'there/file': withMode(fileMode, file) });
    const before = modesIn(base);
    const repaired = repairOwn(join(base, 'there/file'));
    expect(modesIn(base)).toEqual(modes);
    expect(repaired).toHaveLength(modes.filter((mode, index) => mode !== before[index]).length);
  });

  test('if it is not a device, which `RUNCTL_CONFIG_DIR=/dev/null` names', () => {
    const before = fs.statSync('/dev/null').mode;
    expect(repairOwn('/dev/null/config.json')).toEqual([]);
    expect(fs.statSync('/dev/null').mode).toBe(before);
  });

  test('if it belongs to no other user', (context) => {
    needs(context, 'root', isRoot);
    const base = makeAll({ there: folder, 'there/file': strangers(withMode(0o666, file)) });
    expect(repairOwn(join(base, 'there/file'))).toEqual([]);
    expect(() => readOwn(join(base, 'there/file'), 1)).toThrow(foreign);
  });
});
