import { execFileSync } from 'node:child_process';
import nodeFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeOwnFolder, openOwn, readOwn, repairOwn } from '../../src/system/own-file.ts';
import { withFailingClose } from '../helpers/failing-close.ts';
import { needs } from '../helpers/needs.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND } = fs.constants;
const appending = O_WRONLY | O_APPEND | O_CREAT;
const isRoot = process.geteuid?.() === 0;
const stranger = 54_321;

/**
 * Makes one thing: a folder `there/`, a file `there/file`, either with a mode (`there/:777`), a link `file>../other` or a
 * named pipe `file|`. With `@` at its end, it belongs to somebody else, for which only root can give it away.
 */
function make(base: string, thing: string): void {
  const [, path = '', kind, mode = '', target = '', owner] =
    /^([\w/]+?)(\/|\||(?=>)|)(?::(\d+))?(?:>(.+?))?(@)?$/.exec(thing) ?? [];
  const place = join(base, path);
  if (target) fs.symlinkSync(target, place);
  else if (kind === '|') execFileSync('mkfifo', [place]);
  else if (kind === '/') fs.mkdirSync(place);
  else fs.writeFileSync(place, 'content');
  if (!target) fs.chmodSync(place, Number.parseInt(mode || (kind === '/' ? '755' : '600'), 8));
  if (owner) fs.lchownSync(place, stranger, stranger);
}

/** A folder with these things, made in this order, and the file in it that a test is about. */
function makeAll(things: string): { base: string; file: string } {
  const base = temporaryFolder();
  for (const thing of things.split(' ')) make(base, thing);
  return { base, file: join(base, 'there/file') };
}

const modeOf = (path: string) => (fs.statSync(path).mode & 0o7777).toString(8);

describe('for reading and for appending', () => {
  const opened = 'is opened';
  const shared = 'other users can write to';
  const foreign = 'belongs to another user';
  const irregular = 'is not a regular file';

  test.for([
    ['a file of mine', 'there/ there/file', opened],
    ['a file that others can read', 'there/ there/file:644', opened],
    ['a file that others can write to', 'there/ there/file:602', shared],
    ['a file that a group can write to', 'there/ there/file:620', shared],
    ['a file in a folder that others can write to', 'there/:777 there/file', shared],
    ['a file in a folder that a group can write to', 'there/:770 there/file', shared],
    ['a file in a sticky folder', 'there/:1777 there/file', shared],
    ['a file in a folder of mine, in one for everybody', 'all/:1777 all/mine/ all/mine/file there>all/mine', opened],
    ['a link to a file of mine', 'there/ dotfile there/file>../dotfile', opened],
    ['a link to a folder of mine', 'real/ real/file there>./real/../real', opened],
    ['a link to a file in a shared folder', 'there/ all/:777 all/file there/file>../all/file', shared],
    ['a link to itself', 'there>there', 'ELOOP'],
    ['a device', 'there/ there/file>/dev/zero', irregular],
    ['a file in place of the folder', 'there', 'ENOTDIR'],
    ['a file of another user', 'there/ there/file@', foreign],
    ['a file in a folder of another user', 'there/@ there/file', foreign],
    ['a link to a file of another user', 'there/ other@ there/file>../other', foreign],
  ] as const)('%s: %s', ([, things, outcome], context) => {
    if (outcome === foreign) needs(context, 'root', isRoot);
    const { file } = makeAll(things);
    for (const flags of [O_RDONLY, appending]) {
      const open = () => fs.closeSync(openOwn(file, flags));
      if (outcome === opened) expect(open).not.toThrow();
      else expect(open).toThrow(outcome);
    }
  });

  test.each([
    ['a named pipe', 'there/ there/file|', /is not a regular file|ENXIO/],
    ['a folder', 'there/ there/file/', /is not a regular file|EISDIR/],
    ['a link to nothing', 'there/ there/file>../nowhere', /ENOENT|ELOOP/],
  ])('%s is neither waited for, read nor written', (_, things, why) => {
    const { base, file } = makeAll(things);
    for (const flags of [O_RDONLY, appending]) expect(() => openOwn(file, flags)).toThrow(why);
    expect(fs.existsSync(join(base, 'nowhere'))).toBe(false);
  });
});

test.each([
  ['a link', 'there/file>../victim'],
  ['a named pipe', 'there/file|'],
  ['a file of another user', isRoot ? 'there/file@' : 'there/file>../victim'],
])('a file that is swapped for %s just before it is opened is not written', (_, thing) => {
  const { base, file } = makeAll('there/ there/file victim');
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

test('a file or a folder is made for its owner alone, with its parents, and never where it can be none', () => {
  const base = temporaryFolder();
  const folder = join(base, 'a/b');
  expect(makeOwnFolder(folder)).toBe(folder);
  fs.closeSync(openOwn(join(folder, 'file'), appending));
  expect(['a', 'a/b', 'a/b/file'].map((name) => modeOf(join(base, name)))).toEqual(['700', '700', '600']);
  expect(() => makeOwnFolder('/proc/nowhere/state')).toThrow('ENOENT');
  fs.chmodSync(folder, 0o770);
  expect(() => makeOwnFolder(folder)).toThrow('other users');
});

test('a file above the limit is not read, and one whose closing fails, as on a network file system, is', () => {
  const { file } = makeAll('there/ there/file');
  withFailingClose(() => expect(readOwn(file, 1).bytes.toString()).toBe('content'));
  fs.truncateSync(file, 2 ** 20 + 1);
  expect(() => readOwn(file, 1)).toThrow('1 MiB');
});

describe('what others can write to is repaired', () => {
  test.each([
    ['both, and nothing else about them', 'there/:2777 there/file:666', ['2755', '644'], 2],
    ['the file alone', 'there/:700 there/file:620', ['700', '600'], 1],
    ['nothing that is right', 'there/:750 there/file:640', ['750', '640'], 0],
    ['no folder that is for everybody on purpose', 'there/:1777 there/file:602', ['1777', '600'], 1],
  ])('%s', (_, things, modes, count) => {
    const { base, file } = makeAll(things);
    expect(repairOwn(file)).toHaveLength(count);
    expect([modeOf(join(base, 'there')), modeOf(file)]).toEqual(modes);
  });

  test('if it is not a device, which `RUNCTL_CONFIG_DIR=/dev/null` names', () => {
    const before = modeOf('/dev/null');
    expect([repairOwn('/dev/null/config.json'), modeOf('/dev/null')]).toEqual([[], before]);
  });

  test('if it belongs to no other user', (context) => {
    needs(context, 'root', isRoot);
    const { file } = makeAll('there/ there/file:666@');
    expect([repairOwn(file), modeOf(file)]).toEqual([[], '666']);
  });
});
