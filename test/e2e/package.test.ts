import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../package.json';
import { schemas } from '../../src/render/schemas.ts';
import { compiledCodeOf } from '../../src/startup/compiled-code.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { needs } from '../helpers/needs.ts';
import { runCommand } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';

const agentId = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const root = join(import.meta.dirname, '../..');
/** Also a home for npm, which needs one that it can write to. */
const folder = mkdtempSync(join(tmpdir(), 'runctl-package-'));

function npm(args: string[], cwd: string): string {
  // What npm itself was started with is not for the npm in here; to trust an authority takes each process a while.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_EXTRA_CA_CERTS$)/i.test(name));
  return execFileSync('npm', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(inherited), HOME: folder },
  });
}

/** Where npm puts the package, and every file of it. */
const installed = join(folder, 'node_modules/runctl');
let paths: string[];

// With --install-links npm packs the folder, and installs what it has packed. Scripts would build it again. From a copy,
// since npm reads the package.json of everything in `node_modules` for it.
beforeAll(() => {
  const isCopied = (path: string) => !['node_modules', '.git'].some((name) => path === join(root, name));
  cpSync(root, join(folder, 'copy'), { recursive: true, filter: isCopied });
  writeFileSync(join(folder, 'package.json'), '{}');
  npm(['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--install-links', './copy'], folder);
  const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  paths = names.filter((name) => statSync(join(installed, name)).isFile());
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the package holds the program, its compiled code, its page, its schemas, types and licences, and nothing else', () => {
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
  execFileSync(process.execPath, [join(root, '.config/build.mjs'), again], {
    cwd: folder,
    env: { PATH: process.env.PATH, GOGC: 'off' }, // esbuild is over before there is much garbage
  });
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
  const files = paths.map((path) => ({ name: join('package', path), data: readFileSync(join(installed, path)) }));
  const { messages } = await publint({ pkgDir: 'package', pack: { files }, strict: true, level: 'warning' });
  expect(messages).toEqual([]);
});

test('it installs without a network and without another package, with its page', () => {
  const modules = join(folder, 'node_modules');
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['runctl']);
  expect(existsSync(join(installed, 'dist/runctl.1'))).toBe(true);
});

test('what was installed is what was built, byte for byte', () => {
  const differs = (path: string) => !readFileSync(join(installed, path)).equals(readFileSync(join(root, path)));
  expect(paths.filter(differs)).toEqual([]);
});

// Once each as a process; what the commands do is tested in one process with the tests.
test.each<[argv: string[], code: number, stdout: RegExp]>([
  [['--version'], 0, new RegExp(`^${version}\\n$`)],
  [['--help'], 0, /Usage: runctl/],
  [['trigger', '--help'], 0, /Usage: runctl trigger/],
  [['trigger', 'weekly'], 0, /^[\da-f-]{36}\n$/],
  [['watch', '--interval', '20ms'], 0, /COMPLETED nightly/],
  [['status'], 0, /^status +COMPLETED\n/],
  [['result'], 0, /COMPLETED/],
  [['list'], 0, /nightly/],
  [['recover'], 0, /^$/],
  [['agent', 'trigger', agentId], 11, /^\n$/],
  [['config', 'list'], 0, /RUNCTL_BASE_URL/],
  [['config', 'set', 'project', agentId], 0, /^$/],
  [['explain', '12'], 0, /outcome_unknown/],
  [['schema', 'event'], 0, /run_done/],
  [['completion', 'bash'], 0, /complete -/],
  [['emulator', '--quiet', '--', 'true'], 0, /^$/],
  [['nonsense'], 2, /^$/],
])('the program that was installed does `runctl %j`', async (argv, code, stdout) => {
  const { env } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
  if (['watch', 'status', 'result', 'list'].includes(argv[0] ?? '')) await runProgram(['trigger', 'nightly'], { env });
  const program = join(folder, 'node_modules/.bin/runctl');
  const ended = await runCommand([program, ...argv], { env: { ...env, PATH: process.env.PATH } });
  expect(ended).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
});

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
  const named = [...paths, ...tracked.split('\0').filter(Boolean)];
  const read = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');
  expect(named.filter((path) => places.some((place) => read(path).includes(place)))).toEqual([]);
});
