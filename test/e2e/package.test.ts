import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { version } from '../../package.json';
import { startEmulator } from '../../src/emulator/server.ts';
import { environmentIn } from '../helpers/environment-in.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');

function npm(args: string[], folder: string): string {
  // What npm itself was started with is not for the npm in here.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env });
}

let packed: { filename: string; files: { path: string }[] };

beforeAll(() => {
  [packed] = JSON.parse(npm(['pack', '--dry-run', '--json', '--ignore-scripts'], root));
});

test('the package holds the program, its page and its licences, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  const outside = paths.filter((path) => !path.startsWith('dist/'));
  expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'bin/runctl.js', 'package.json']);
  const inside = paths.filter((path) => path.startsWith('dist/') && !path.endsWith('.cjs'));
  expect(inside.sort()).toEqual(['dist/LICENSES.txt', 'dist/runctl.1']);
});

test('publint finds nothing to mend', async () => {
  const files = packed.files.map(({ path }) => ({ name: join('package', path), data: readFileSync(join(root, path)) }));
  const { messages } = await publint({ pkgDir: 'package', pack: { files }, strict: true, level: 'warning' });
  expect(messages).toEqual([]);
});

test('it installs without a network and without another package, and works', async () => {
  const folder = temporaryFolder();
  npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], root);
  npm(['init', '--yes'], folder);
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
});

const hasMandoc = spawnSync('mandoc', ['-h']).error === undefined;

test.skipIf(!hasMandoc)('the man page is good roff', () => {
  const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', join(root, 'dist/runctl.1')], {
    encoding: 'utf8',
  });
  // A date would make two builds of one source differ.
  expect(stdout.split('\n').filter((line) => line && !line.includes('missing date'))).toEqual([]);
});

test('no file names a path of the machine it was made on', () => {
  const folders = ['.ci', '.config', 'bin', 'dist', 'src', 'test'];
  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(root, folder, name)),
  );
  const atTop = readdirSync(root).map((name) => join(root, name));
  const files = [...inFolders, ...atTop].filter((path) => statSync(path).isFile());
  const places = [root, homedir()].map((path) => `${path}/`);
  expect(files.filter((path) => places.some((place) => readFileSync(path, 'utf8').includes(place)))).toEqual([]);
});
