import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compiledCodeOf } from '../../src/startup/compiled-code.ts';
import { runProcess } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');

test.each(['process.cjs', 'undici.cjs'])('V8 takes the code that the build has compiled of %s', (name) => {
  const path = join(root, 'dist', name);
  // In a process of its own: other tests may have set flags of V8, under which it would refuse the code.
  const check = `const [source, code] = process.argv.slice(1).map((each) => fs.readFileSync(each, 'latin1'));
    const cachedData = Buffer.from(code, 'latin1').subarray(0, -'runctl'.length);
    console.log(new vm.Script(module.constructor.wrap(source), { cachedData }).cachedDataRejected);`;
  const argv = ['-e', check, path, compiledCodeOf(path)];
  expect(spawnSync(process.execPath, argv, { encoding: 'utf8', env: {} }).stdout).toBe('false\n');
});

test('a command that sends nothing loads neither sockets nor what starts processes', () => {
  const print = join(temporaryFolder(), 'print.cjs');
  writeFileSync(print, `process.on('exit', () => require('fs').writeSync(2, process.moduleLoadList.join('\\n')))`);
  const argv = ['--require', print, join(root, 'bin/runctl.js'), 'explain', '3'];
  const { stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', env: {} });
  const loaded = stderr.split('\n').filter((name) => /^NativeModule (net|child_process|stream|crypto)$/.test(name));
  expect([loaded, stderr.includes('NativeModule fs')]).toEqual([[], true]);
});

test('undici is loaded once, however many triggers have a connection of their own', () => {
  const print = join(temporaryFolder(), 'print.cjs');
  writeFileSync(
    print,
    `const fs = require('fs');
    const { readFileSync } = fs;
    fs.readFileSync = (path, ...rest) => {
      if (/undici.cjs$/.test(path)) fs.writeSync(2, 'undici is read\\n');
      return readFileSync(path, ...rest);
    };`,
  );
  const project = '00000000-0000-4000-8000-000000000001';
  const names = ['trigger', 'a', 'b', 'c', '--project', project, '--give-up-after', '1ms'];
  const env = { RUNCTL_BASE_URL: 'http://127.0.0.1:9', RUNCTL_API_KEY: 'not-a-real-key' };
  const argv = ['--require', print, join(root, 'bin/runctl.js'), ...names];
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', env });
  expect([status, stderr.match(/undici is read/g)]).toEqual([10, ['undici is read']]);
});

const torn = (code: Buffer) => code.fill(0, code.length - 4096);

const inPlace: [title: string, put: (path: string, code: Buffer) => void][] = [
  ['that V8 refuses', (path) => writeFileSync(path, 'of another version, runctl')],
  ['that is not there', () => {}],
  ['that is empty', (path) => writeFileSync(path, '')],
  ['whose last blocks never reached the disk', (path, code) => writeFileSync(path, torn(code))],
  ['that is a pipe which nobody writes to', (path) => execFileSync('mkfifo', [path])],
  ['that is a link to an endless device', (path) => symlinkSync('/dev/zero', path)],
  ['that is a folder', (path) => mkdirSync(path)],
];

/** A copy of the program, and what `explain 3` does there. */
function copyOfProgram() {
  const copy = temporaryFolder();
  for (const part of ['bin', 'dist'])
    cpSync(join(root, part), join(copy, part), { recursive: true, preserveTimestamps: true });
  const dist = join(copy, 'dist');
  const explain = () =>
    spawnSync(process.execPath, [join(copy, 'bin/runctl.js'), 'explain', '3'], {
      encoding: 'utf8',
      timeout: 20_000,
      env: {},
    });
  return { dist, explain };
}

test('compiled code of another version, none, torn, and what is no file in its place change nothing', () => {
  const { dist, explain } = copyOfProgram();
  const { stdout, ...usual } = explain();
  expect(usual).toMatchObject({ status: 0, stderr: '' });
  const compiled = ['process.cjs', 'undici.cjs'].map((name) => compiledCodeOf(join(dist, name)));
  const codes = compiled.map((path) => readFileSync(path));
  for (const [title, put] of inPlace) {
    for (const path of compiled) rmSync(path, { recursive: true, force: true });
    for (const [index, path] of compiled.entries()) put(path, Buffer.from(codes[index] ?? ''));
    expect(explain(), title).toMatchObject({ status: 0, stdout, stderr: '' });
  }
});

test('a file that was changed in place does not run the code of what it was', () => {
  const { dist, explain } = copyOfProgram();
  const path = join(dist, 'process.cjs');
  const [title = ''] = explain().stdout.split('\n');
  const [meaning = ''] = /the run .*/.exec(title) ?? [];
  const source = readFileSync(path, 'latin1');
  const changed = source.replaceAll(meaning, meaning.toUpperCase());
  expect([changed === source, changed.length]).toEqual([false, source.length]);
  writeFileSync(path, changed, 'latin1');
  expect(explain().stdout).toContain(meaning.toUpperCase());
});

test('code that Node compiles is kept in no folder of the user and in no temporary one', async () => {
  const home = temporaryFolder();
  const env = { HOME: home, XDG_CACHE_HOME: home, TMPDIR: home };
  expect(await runProcess(['explain', '3'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(home)).toEqual([]);
});
