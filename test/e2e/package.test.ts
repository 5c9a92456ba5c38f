import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { version } from '../../package.json';
import { startEmulator } from '../../src/emulator/server.ts';
import { schemas } from '../../src/render/schemas.ts';
import { compiledCodeOf } from '../../src/startup/compiled-code.ts';
import { environmentIn } from '../helpers/environment-in.ts';
import { needs } from '../helpers/needs.ts';

const root = join(import.meta.dirname, '../..');
/** Also a home for npm, which needs one that it can write to. */
const folder = mkdtempSync(join(tmpdir(), 'runctl-package-'));

function npm(args: string[], cwd: string): string {
  // What npm itself was started with is not for the npm in here.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  return execFileSync('npm', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, HOME: folder },
  });
}

let packed: { filename: string; files: { path: string }[] };

beforeAll(() => {
  [packed] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the package holds the program, its compiled code, its page, its schemas, types and licences, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  const outside = paths.filter((path) => !path.startsWith('dist/'));
  expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'bin/runctl.js', 'package.json']);
  const inside = paths.filter((path) => path.startsWith('dist/') && !path.endsWith('.cjs'));
  const contract = Object.keys(schemas).map((name) => `dist/schema/${name}.json`);
  const compiled = ['dist/process.cjs', 'dist/undici.cjs'].map(compiledCodeOf);
  const made = ['dist/LICENSES.txt', 'dist/runctl.1', 'dist/runctl.d.ts', ...compiled, ...contract];
  expect(inside.sort()).toEqual(made.sort());
});

test('another build of the same source is the same, byte for byte but for what V8 compiled', () => {
  const again = join(folder, 'dist');
  execFileSync(process.execPath, [join(root, '.config/build.mjs'), again], { cwd: folder });
  const files = (place: string) =>
    readdirSync(place, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('.') && name !== 'schema')
      .sort();
  expect(files(again)).toEqual(files(join(root, 'dist')));
  const differing = files(again).filter(
    (name) => !readFileSync(join(again, name)).equals(readFileSync(join(root, 'dist', name))),
  );
  // When V8 compiles a function, and so the order of its code, differs from run to run.
  const compiled = ['process.cjs', 'undici.cjs'].map(compiledCodeOf);
  expect(differing.filter((name) => !compiled.includes(name))).toEqual([]);
});

test('every package that is bundled has its licence in the package', () => {
  const licences = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
  const programs = readdirSync(join(root, 'dist')).filter((name) => name.endsWith('.cjs'));
  const sources = programs.map((name) => readFileSync(join(root, 'dist', name), 'utf8')).join('\n');
  const bundled = [...sources.matchAll(/^\s*\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(([, name]) => name);
  expect(new Set(bundled).size).toBeGreaterThan(5);
  expect([...new Set(bundled)].filter((name) => !licences.includes(`--- ${name} `))).toEqual([]);
});

test('publint finds nothing to fix', async () => {
  const files = packed.files.map(({ path }) => ({ name: join('package', path), data: readFileSync(join(root, path)) }));
  const { messages } = await publint({ pkgDir: 'package', pack: { files }, strict: true, level: 'warning' });
  expect(messages).toEqual([]);
});

test('it installs without a network and without another package, and works', async () => {
  writeFileSync(join(folder, 'package.json'), '{}');
  npm(['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)], folder);
  const modules = join(folder, 'node_modules');
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['runctl']);

  const program = join(modules, '.bin/runctl');
  const emulator = await startEmulator({ scenario: {} });
  onTestFinished(() => emulator.close());
  const env = { ...environmentIn(folder, emulator), PATH: process.env.PATH };
  // Not the synchronous one: the emulator is in this process, and must go on answering.
  const run = async (...args: string[]) => (await promisify(execFile)(program, args, { env })).stdout;
  expect(await run('--version')).toBe(`${version}\n`);
  expect(await run('explain', '12')).toContain('outcome_unknown');
  expect(await run('config', 'set', 'project', emulator.projectId)).toBe('');
  const id = await run('trigger', 'nightly');
  expect(await run('status', '--field', 'executionId')).toBe(id);
  expect(existsSync(join(modules, 'runctl/dist/runctl.1'))).toBe(true);
}, 120_000);

test('the man page is good roff', (context) => {
  needs(context, 'mandoc');
  const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', join(root, 'dist/runctl.1')], {
    encoding: 'utf8',
  });
  // A date would make two builds of one source differ.
  expect(stdout.split('\n').filter((line) => line && !line.includes('missing date'))).toEqual([]);
});

test('no file of the package, and none that is tracked, names a path of the machine it was made on', () => {
  // A home of `/`, as in many a container, is in every path.
  const places = [root, homedir()].filter((place) => place !== '/').map((place) => `${place}/`);
  const tracked = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).stdout ?? '';
  const paths = [...packed.files.map(({ path }) => path), ...tracked.split('\0').filter(Boolean)];
  const read = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');
  expect(paths.filter((path) => places.some((place) => read(path).includes(place)))).toEqual([]);
});
