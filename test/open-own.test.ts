import { execFileSync, spawnSync } from 'node:child_process';
import nodeFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { makeOwnFolder, openOwn, readOwn } from '../src/open-own.ts';
import { withFailingClose } from './helpers/failing-close.ts';
import { hasNamespaces, needs } from './helpers/needs.ts';
import { cpuMsOf } from './helpers/real-time.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND } = fs.constants;
const isRoot = process.geteuid?.() === 0;
const stranger = 54_321;

/** What stands at `path`, and whose it is. */
type Thing = (path: string) => void;
const file: Thing = (path) => fs.writeFileSync(path, 'content');
const folder: Thing = (path) => fs.mkdirSync(path);
const pipe: Thing = (path) => void execFileSync('mkfifo', [path]);
const linkTo =
  (target: string): Thing =>
  (path) =>
    fs.symlinkSync(target, path);
const strangers =
  (make: Thing): Thing =>
  (path) => {
    make(path);
    fs.lchownSync(path, stranger, stranger);
  };
const withMode =
  (make: Thing, mode: number): Thing =>
  (path) => {
    make(path);
    fs.chmodSync(path, mode);
  };

const foreign = 'belongs to another user';
const opened = 'is opened';

interface Row {
  title: string;
  /** In the order in which they are made. */
  things: Record<string, Thing>;
  /** What becomes of `there/file`. */
  outcome: string;
}

/** Those that need root, which alone can give a file away. */
const strangersRows: Row[] = [
  { title: 'a file of another user', things: { there: folder, 'there/file': strangers(file) }, outcome: foreign },
  {
    title: 'a file in a folder of another user',
    things: { there: strangers(folder), 'there/file': file },
    outcome: foreign,
  },
  {
    title: 'a file in a folder of another group, which can write to it',
    things: {
      there: withMode((path) => {
        folder(path);
        fs.chownSync(path, 0, stranger);
      }, 0o770),
      'there/file': file,
    },
    outcome: 'can replace files',
  },
  {
    title: 'a file of another user in a sticky folder',
    things: { there: withMode(folder, 0o1777), 'there/file': strangers(file) },
    outcome: foreign,
  },
  {
    title: 'a link of another user to a file of mine',
    things: { there: folder, mine: file, 'there/file': strangers(linkTo('../mine')) },
    outcome: foreign,
  },
  {
    title: 'a link of mine to a file of another user',
    things: { there: folder, other: strangers(file), 'there/file': linkTo('../other') },
    outcome: foreign,
  },
  {
    title: 'a link of mine to a folder that a link of another user names',
    things: { real: folder, 'real/file': file, other: strangers(linkTo('real')), there: linkTo('other') },
    outcome: foreign,
  },
  {
    title: 'a link of another user in place of the folder',
    things: { real: folder, 'real/file': file, there: strangers(linkTo('real')) },
    outcome: foreign,
  },
  {
    title: 'a link of another user to nothing',
    things: { there: folder, 'there/file': strangers(linkTo('../nowhere')) },
    outcome: foreign,
  },
];

const rows: Row[] = [
  { title: 'a file of mine', things: { there: folder, 'there/file': file }, outcome: opened },
  {
    title: 'a file in a folder that everybody can write to',
    things: { there: withMode(folder, 0o777), 'there/file': file },
    outcome: 'can replace files',
  },
  {
    title: 'a file that a link reaches through a folder that everybody can write to',
    things: {
      there: folder,
      shared: withMode(folder, 0o777),
      'shared/inner': folder,
      'shared/inner/file': file,
      'there/file': linkTo('../shared/inner/file'),
    },
    outcome: 'can replace files',
  },
  {
    title: 'a file in a folder that everybody can write to, and that is sticky',
    things: { there: withMode(folder, 0o1777), 'there/file': file },
    outcome: opened,
  },
  {
    title: 'a file in a folder that my group can write to',
    things: { there: withMode(folder, 0o770), 'there/file': file },
    // A private group has the number of its user.
    outcome: process.getegid?.() === process.geteuid?.() ? opened : 'can replace files',
  },
  {
    title: 'a link of mine to a file of mine',
    things: { there: folder, dotfile: file, 'there/file': linkTo('../dotfile') },
    outcome: opened,
  },
  {
    title: 'a link of mine to a folder of mine, through another',
    things: { real: folder, 'real/file': file, first: linkTo('./real/../real'), there: linkTo('first') },
    outcome: opened,
  },
  { title: 'a link to itself', things: { there: linkTo('there') }, outcome: 'has too many links' },
  { title: 'a folder', things: { there: folder, 'there/file': folder }, outcome: 'is not a regular file' },
  { title: 'a named pipe', things: { there: folder, 'there/file': pipe }, outcome: 'is not a regular file' },
  { title: 'a device', things: { there: folder, 'there/file': linkTo('/dev/zero') }, outcome: 'is not a regular file' },
  { title: 'a file in place of the folder', things: { there: file }, outcome: 'ENOTDIR' },
  {
    title: 'a second name of a file in a folder that others can write to',
    things: {
      mine: file,
      there: withMode(folder, 0o1777),
      'there/file': (path) => fs.linkSync(join(path, '../../mine'), path),
    },
    outcome: 'is a hard link',
  },
  {
    title: 'a second name of a file in a folder of mine alone',
    things: { mine: file, there: folder, 'there/file': (path) => fs.linkSync(join(path, '../../mine'), path) },
    outcome: opened,
  },
];

describe('opened for reading and for appending', () => {
  const check = ({ things, outcome }: Row) => {
    const base = temporaryFolder();
    for (const [name, make] of Object.entries(things)) make(join(base, name));
    for (const flags of [O_RDONLY, O_WRONLY | O_APPEND | O_CREAT]) {
      const open = () => fs.closeSync(openOwn(join(base, 'there/file'), flags));
      if (outcome === opened) open();
      else expect(open).toThrow(outcome);
    }
    expect(fs.existsSync(join(base, 'nowhere'))).toBe(false);
  };

  test.each(rows)('$title: $outcome', check);

  test.for(strangersRows)('$title: $outcome', (row, context) => {
    needs(context, 'root', isRoot);
    check(row);
  });
});

test('what was read stays read where closing fails, as on a network file system', () => {
  const path = join(temporaryFolder(), 'file');
  fs.writeFileSync(path, 'content');
  withFailingClose(() => expect(readOwn(path, 1).bytes.toString()).toBe('content'));
});

test('a folder is made in one of mine, and in none of another user', (context) => {
  needs(context, 'root', isRoot);
  const base = temporaryFolder();
  expect(makeOwnFolder(join(base, 'a/b'))).toBe(join(base, 'a/b'));
  expect(fs.statSync(join(base, 'a')).mode & 0o777).toBe(0o700);
  strangers(folder)(join(base, 'other'));
  expect(() => makeOwnFolder(join(base, 'other/b'))).toThrow(foreign);
  expect(fs.readdirSync(join(base, 'other'))).toEqual([]);
});

test('a folder below three hundred others is made and found in no time', () => {
  const deep = join(temporaryFolder(), 'a/'.repeat(300));
  expect(cpuMsOf(() => makeOwnFolder(deep))).toBeLessThan(250);
  expect(cpuMsOf(() => makeOwnFolder(deep))).toBeLessThan(250);
});

test('where root has no number of its own, whoever owns the root folder takes its place', (context) => {
  needs(context, 'unshare', hasNamespaces);
  if (isRoot) needs(context, 'setpriv');
  // In its namespace a user other than root is root, and everything of the real root belongs to nobody.
  const script = `const { openOwn } = require(process.argv[1]); openOwn('/etc/passwd', 0); console.log(process.geteuid());`;
  const asOther = ['setpriv', '--reuid', String(stranger), '--regid', String(stranger), '--clear-groups'];
  const [command = '', ...args] = [
    ...(isRoot ? asOther : []),
    'unshare',
    '-r',
    process.execPath,
    '-e',
    script,
    bundle(),
  ];
  // Not the environment of the tests, which names a file of an authority that the other user may not read.
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { PATH: process.env.PATH } });
  expect(stderr).toBe('');
  expect(stdout).toBe('0\n');
});

/** The module as one that plain Node can read. */
function bundle(): string {
  const outfile = join(temporaryFolder(), 'open-own.cjs');
  buildSync({
    entryPoints: [join(import.meta.dirname, '../src/open-own.ts')],
    outfile,
    bundle: true,
    platform: 'node',
  });
  fs.chmodSync(dirname(outfile), 0o755);
  return outfile;
}

describe('what is swapped between the check and the opening', () => {
  /** Opens `there/file`, while `swap` happens just before and `swapBack` just after the system call. */
  function openWhile(swap: () => void, swapBack = () => {}) {
    const { openSync } = nodeFs;
    nodeFs.openSync = (...args) => {
      nodeFs.openSync = openSync;
      swap();
      const fd = openSync(...args);
      swapBack();
      return fd;
    };
    syncBuiltinESMExports();
    try {
      const fd = openOwn(join(base, 'there/file'), O_WRONLY | O_APPEND | O_CREAT);
      fs.writeSync(fd, ' and more');
      fs.closeSync(fd);
    } finally {
      nodeFs.openSync = openSync;
      syncBuiltinESMExports();
    }
  }
  const exchange = (name: string, make: Thing) => () => {
    fs.renameSync(join(base, name), join(base, 'kept'));
    make(join(base, name));
  };
  const restore = (name: string) => () => {
    fs.rmSync(join(base, name));
    fs.renameSync(join(base, 'kept'), join(base, name));
  };

  let base = '';
  const prepare = () => {
    base = temporaryFolder();
    for (const name of ['there', 'victims']) fs.mkdirSync(join(base, name));
    for (const name of ['there/file', 'victims/file']) fs.writeFileSync(join(base, name), 'content');
  };

  test.each<[string, string, string, Thing]>([
    ['the file, by a link', 'there/file', 'ELOOP', linkTo('../victims/file')],
    ['the folder, by a link', 'there', 'was changed while it was opened', linkTo('victims')],
    ['the file, by a named pipe', 'there/file', 'ENXIO', pipe],
  ])('%s: %s is refused with %s, and nothing is written', (_, name, why, make) => {
    prepare();
    expect(() => openWhile(exchange(name, make), restore(name))).toThrow(why);
    expect(fs.readFileSync(join(base, 'victims/file'), 'utf8')).toBe('content');
  });

  test('the file, by another that is mine, is opened: settings are replaced like that', () => {
    prepare();
    openWhile(exchange('there/file', file));
    expect(fs.readFileSync(join(base, 'there/file'), 'utf8')).toBe('content and more');
  });

  test('the file, by one of another user, is refused', (context) => {
    needs(context, 'root', isRoot);
    prepare();
    expect(() => openWhile(exchange('there/file', strangers(file)))).toThrow(foreign);
    expect(fs.readFileSync(join(base, 'there/file'), 'utf8')).toBe('content');
  });
});
