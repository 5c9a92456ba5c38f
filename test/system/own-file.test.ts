import { execFileSync } from 'node:child_process';
import nodeFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeOwnFolder, openOwn, readOwn, repairOwn } from '../../src/system/own-file.ts';
import { withFailingClose } from '../helpers/failing-close.ts';
import { needs } from '../helpers/needs.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND } = fs.constants;
const appending = O_WRONLY | O_APPEND | O_CREAT;
const strangerId = 54_321;
/** Root may, but not in a container that has no other users. */
const mayGiveAway = (() => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'runctl-test-'));
  try {
    fs.chownSync(folder, strangerId, strangerId);
    return true;
  } catch {
    return false;
  } finally {
    fs.rmdirSync(folder);
  }
})();

/**
 * Makes one thing: `folder there`, `file there/file`, either `with 777` as its mode, `link there/file to ../other`, or
 * `pipe there/file`. What is `of a stranger` belongs to another user, to whom only root can give it.
 */
function make(base: string, thing: string): void {
  const [, kind, path = '', target = '', mode, stranger] =
    /^(folder|file|link|pipe) (\S+)(?: to (\S+))?(?: with (\d+))?( of a stranger)?$/.exec(thing) ?? [];
  const place = join(base, path);
  if (kind === 'link') fs.symlinkSync(target, place);
  else if (kind === 'pipe') execFileSync('mkfifo', [place]);
  else if (kind === 'folder') fs.mkdirSync(place);
  else if (kind === 'file') fs.writeFileSync(place, 'content');
  else throw new Error(`no such thing: ${thing}`);
  if (kind !== 'link') fs.chmodSync(place, Number.parseInt(mode ?? (kind === 'folder' ? '755' : '600'), 8));
  if (stranger) fs.lchownSync(place, strangerId, strangerId);
}

/** A folder with these things, made in this order, and the file in it that a test is about. */
function makeAll(things: string): { base: string; file: string } {
  const base = temporaryFolder();
  for (const thing of things.split(', ')) make(base, thing);
  return { base, file: join(base, 'there/file') };
}

const modeOf = (path: string) => (fs.statSync(path).mode & 0o7777).toString(8);

describe('opening a file for reading and for appending', () => {
  const opened = 'is opened';
  const shared = 'other users can write to';
  const foreign = 'belongs to another user';
  const irregular = 'is not a regular file';

  test.for([
    ['a file of mine', 'folder there, file there/file', opened],
    ['a file that others can read', 'folder there, file there/file with 644', opened],
    ['a file that others can write to', 'folder there, file there/file with 602', shared],
    ['a file that a group can write to', 'folder there, file there/file with 620', shared],
    ['a file in a folder that others can write to', 'folder there with 777, file there/file', shared],
    ['a file in a folder that a group can write to', 'folder there with 770, file there/file', shared],
    ['a file in a sticky folder', 'folder there with 1777, file there/file', shared],
    [
      'a file in a folder of mine, in one for everybody',
      'folder all with 1777, folder all/mine, file all/mine/file, link there to all/mine',
      opened,
    ],
    ['a link to a file of mine', 'folder there, file dotfile, link there/file to ../dotfile', opened],
    ['a link to a folder of mine', 'folder real, file real/file, link there to ./real/../real', opened],
    [
      'a link to a file in a shared folder',
      'folder there, folder all with 777, file all/file, link there/file to ../all/file',
      shared,
    ],
    ['a link to itself', 'link there to there', 'ELOOP'],
    ['a device', 'folder there, link there/file to /dev/zero', irregular],
    ['a file in place of the folder', 'file there', 'ENOTDIR'],
    ['a file of another user', 'folder there, file there/file of a stranger', foreign],
    ['a file in a folder of another user', 'folder there of a stranger, file there/file', foreign],
    [
      'a link to a file of another user',
      'folder there, file other of a stranger, link there/file to ../other',
      foreign,
    ],
  ] as const)('%s: %s', ([, things, outcome], context) => {
    if (outcome === foreign) needs(context, 'root', mayGiveAway);
    const { file } = makeAll(things);
    for (const flags of [O_RDONLY, appending]) {
      const open = () => fs.closeSync(openOwn(file, flags));
      if (outcome === opened) expect(open).not.toThrow();
      else expect(open).toThrow(outcome);
    }
  });

  test.each([
    ['a named pipe', 'folder there, pipe there/file', /is not a regular file|ENXIO/],
    ['a folder', 'folder there, folder there/file', /is not a regular file|EISDIR/],
    ['a link to nothing', 'folder there, link there/file to ../nowhere', /ENOENT|ELOOP/],
  ])('does not wait for %s, and neither reads nor writes it', (_, things, why) => {
    const { base, file } = makeAll(things);
    for (const flags of [O_RDONLY, appending]) expect(() => openOwn(file, flags)).toThrow(why);
    expect(fs.existsSync(join(base, 'nowhere'))).toBe(false);
  });
});

test.each([
  ['a link', 'link there/file to ../victim'],
  ['a named pipe', 'pipe there/file'],
  ['a file of another user', mayGiveAway ? 'file there/file of a stranger' : 'link there/file to ../victim'],
])('a file that is swapped for %s just before it is opened is not written', (_, thing) => {
  const { base, file } = makeAll('folder there, file there/file, file victim');
  const { openSync } = nodeFs;
  nodeFs.openSync = (...args) => {
    nodeFs.openSync = openSync;
    syncBuiltinESMExports();
    fs.rmSync(file);
    make(base, thing);
    return openSync(...args);
  };
  syncBuiltinESMExports();
  expect(() => openOwn(file, appending)).toThrow(/ELOOP|ENXIO|another user/);
  expect(fs.readFileSync(join(base, 'victim'), 'utf8')).toBe('content');
});

test('a file or a folder is made for its owner alone, with its parents, and fails where none can be made', () => {
  const base = temporaryFolder();
  const folder = join(base, 'a/b');
  expect(makeOwnFolder(folder)).toBe(folder);
  fs.closeSync(openOwn(join(folder, 'file'), appending));
  expect(['a', 'a/b', 'a/b/file'].map((name) => modeOf(join(base, name)))).toEqual(['700', '700', '600']);
  expect(() => makeOwnFolder('/proc/nowhere/state')).toThrow('ENOENT');
  fs.chmodSync(folder, 0o770);
  expect(() => makeOwnFolder(folder)).toThrow('other users');
});

test('a file above the limit is not read, and a file whose closing fails, as on a network file system, is read', () => {
  const { file } = makeAll('folder there, file there/file');
  withFailingClose(() => expect(readOwn(file, 1).bytes.toString()).toBe('content'));
  fs.truncateSync(file, 2 ** 20 + 1);
  expect(() => readOwn(file, 1)).toThrow('1 MiB');
});

describe('repairOwn repairs the modes of a folder with its file', () => {
  test.each([
    ['both, and nothing else about them', 'folder there with 2777, file there/file with 666', ['2755', '644'], 2],
    ['the file alone', 'folder there with 700, file there/file with 620', ['700', '600'], 1],
    ['nothing that is right', 'folder there with 750, file there/file with 640', ['750', '640'], 0],
    [
      'no folder that is for everybody on purpose',
      'folder there with 1777, file there/file with 602',
      ['1777', '600'],
      1,
    ],
  ])('%s', (_, things, modes, count) => {
    const { base, file } = makeAll(things);
    expect(repairOwn(file)).toHaveLength(count);
    expect([modeOf(join(base, 'there')), modeOf(file)]).toEqual(modes);
  });

  test('but not if it is a device, as with `RUNCTL_CONFIG_DIR=/dev/null`', () => {
    const before = modeOf('/dev/null');
    expect([repairOwn('/dev/null/config.json'), modeOf('/dev/null')]).toEqual([[], before]);
  });

  test('but not if it belongs to another user', (context) => {
    needs(context, 'root', mayGiveAway);
    const { file } = makeAll('folder there, file there/file with 666 of a stranger');
    expect([repairOwn(file), modeOf(file)]).toEqual([[], '666']);
  });
});
