import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProcess } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function createHome() {
  const home = temporaryFolder();
  const caches = join(home, '.cache');
  const explain = (code = '3') => runProcess(['explain', code], { env: { HOME: home } });
  const files = () =>
    readdirSync(join(caches, 'runctl'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  return { home, caches, explain, files };
}

function flipBit(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length >> 2] = (bytes[bytes.length >> 2] ?? 0) ^ 4;
  writeFileSync(file, bytes);
}

const inodesOf = (files: string[]) => files.map((file) => statSync(file).ino);

test('what was compiled is kept in the cache folder of the user, for the user alone, and taken from there', async () => {
  const { caches, explain, files } = createHome();
  expect(await explain()).toMatchObject({ code: 0, stderr: '' });
  const kept = files();
  expect(kept.length).toBeGreaterThan(0);
  for (const path of [caches, ...kept]) expect(statSync(path).mode & 0o077).toBe(0);
  const inodes = inodesOf(kept);
  expect(await explain()).toMatchObject({ code: 0, stderr: '' });
  expect(inodesOf(files())).toEqual(inodes);
});

test('a typing error keeps nothing', async () => {
  const { caches, explain } = createHome();
  expect(await explain('nothing')).toMatchObject({ code: 2 });
  expect(existsSync(caches)).toBe(false);
});

describe('what V8 does not take', () => {
  test.each<[string, (file: string) => void]>([
    ['is cut short', (file) => truncateSync(file, statSync(file).size >> 1)],
    ['is empty', (file) => truncateSync(file)],
    ['has lost a bit', (file) => flipBit(file)],
    ['is something else', (file) => writeFileSync(file, 'x'.repeat(1000))],
  ])('%s, and is replaced', async (_, spoil) => {
    const { explain, files } = createHome();
    const { stdout } = await explain();
    for (const file of files()) spoil(file);
    const spoilt = files().map((file) => readFileSync(file));
    expect(await explain()).toMatchObject({ code: 0, stdout, stderr: '' });
    expect(files().map((file) => readFileSync(file).equals(spoilt.shift() ?? Buffer.of()))).not.toContain(true);
    expect(await explain()).toMatchObject({ code: 0, stdout, stderr: '' });
  });
});

test('a folder that others may write to is not used', async () => {
  const { explain, files, caches } = createHome();
  await explain();
  const [build = ''] = readdirSync(join(caches, 'runctl'));
  chmodSync(join(caches, 'runctl', build), 0o777);
  for (const file of files()) writeFileSync(file, 'x');
  expect(await explain()).toMatchObject({ code: 0, stderr: '' });
  expect(files().map((file) => readFileSync(file, 'utf8'))).toEqual(files().map(() => 'x'));
});

test('a folder behind a link, which another user may have made, is not used', async () => {
  const { home, caches, explain, files } = createHome();
  await explain();
  renameSync(join(caches, 'runctl'), join(home, 'elsewhere'));
  symlinkSync(join(home, 'elsewhere'), join(caches, 'runctl'));
  const kept = files();
  for (const file of kept) writeFileSync(file, 'x');
  expect(await explain()).toMatchObject({ code: 0, stderr: '' });
  expect(files().map((file) => readFileSync(file, 'utf8'))).toEqual(kept.map(() => 'x'));
});

test('a file that somebody else loads into the process is left to Node', async () => {
  const { home, files } = createHome();
  const agent = join(home, 'agent.cjs');
  writeFileSync(agent, `process.nextTick(() => require('./late.cjs'));`);
  writeFileSync(join(home, 'late.cjs'), `#!/usr/bin/env node\nprocess.stderr.write(require.resolve(__filename));`);
  const env = { HOME: home, NODE_OPTIONS: `--require ${agent}` };
  expect(await runProcess(['explain', '3'], { env })).toMatchObject({ code: 0, stderr: join(home, 'late.cjs') });
  expect(files().filter((file) => file.includes('late'))).toEqual([]);
});

test('what is loaded after the first request is taken from there as well', async () => {
  const { home, files } = createHome();
  const { env } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
  const watch = (name: string) =>
    runProcess(['trigger', name, '--watch', '--interval', '20ms'], { env: { ...env, HOME: home } });
  expect((await watch('nightly')).code).toBe(0);
  const inodes = inodesOf(files());
  expect((await watch('weekly')).code).toBe(0);
  expect(inodesOf(files())).toEqual(inodes);
});

test('nothing is kept where there is no place for it, or where nothing is wanted', async () => {
  const { home, caches } = createHome();
  const environments = [
    { HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' },
    { HOME: '/proc' },
    { HOME: join(home, 'nothing/here') },
    { XDG_CACHE_HOME: '/proc' },
    { XDG_CACHE_HOME: 'cache' },
    {},
  ];
  for (const env of environments) {
    expect(await runProcess(['explain', '3'], { env })).toMatchObject({ code: 0, stderr: '' });
  }
  expect(existsSync(caches)).toBe(false);
});

test('a cache folder of the user is taken as it is', async () => {
  const { home, caches, explain } = createHome();
  mkdirSync(caches, { mode: 0o755 });
  await explain();
  expect(readdirSync(join(home, '.cache'))).toEqual(['runctl']);
  expect(statSync(caches).mode & 0o777).toBe(0o755);
});
