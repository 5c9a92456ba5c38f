import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../package.json';
import { withEmulator } from '../helpers/emulator.ts';
import { needs } from '../helpers/needs.ts';
import { runCommand } from '../helpers/run-process.ts';

const agentId = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const root = join(import.meta.dirname, '../..');
/** Also a home for npm, which needs one that it can write to. */
const folder = mkdtempSync(join(tmpdir(), 'runctl-package-'));

// What npm itself was started with is not for the npm in here; to trust an authority takes each process a while.
const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_EXTRA_CA_CERTS$)/i.test(name));
const npmEnv = { ...Object.fromEntries(inherited), HOME: folder };

/** Runs a part of the build, which writes into the folder. */
const node = (script: string, into: string) =>
  execFileSync(process.execPath, [join(root, '.config', script), into], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, GOGC: 'off' }, // esbuild is over before there is much garbage
  });

const entryPoints = ['main', 'process', 'undici', 'conf', 'ora', 'chalk'];
/** Where npm puts the package, and every file of it. */
const prefix = join(folder, 'prefix');
const modules = join(prefix, 'lib/node_modules');
const installed = join(modules, 'runctl');
let paths: string[];

// As the README tells to, from a folder that is gone when the tests begin.
beforeAll(() => {
  node('pack.mjs', folder);
  const [, install = ''] =
    /^npm ci && npm run pack && (npm install .*)$/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  const source = join(folder, 'source');
  mkdirSync(source);
  copyFileSync(join(folder, `runctl-${version}.tgz`), join(source, `runctl-${version}.tgz`));
  execFileSync('sh', ['-c', `${install} --offline --prefix "$0"`, prefix], {
    cwd: source,
    env: npmEnv,
    stdio: 'ignore',
  });
  rmSync(source, { recursive: true });
  const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  paths = names.filter((name) => statSync(join(installed, name)).isFile());
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the package holds the program, the documents and the licenses, and nothing else', () => {
  const dist = ['LICENSES.txt', 'runctl.1', ...entryPoints.map((name) => `${name}.cjs`)];
  const made = dist.map((name) => `dist/${name}`);
  const listed = execFileSync('git', ['ls-files', 'docs'], { cwd: root, encoding: 'utf8' });
  const docs = listed.split('\n').filter(Boolean);
  expect(paths.sort()).toEqual(['LICENSE', 'README.md', 'bin/runctl.js', 'package.json', ...docs, ...made].sort());
});

test('the program can be run as it is in the archive, without npm', () => {
  const listed = execFileSync('tar', ['-tvzf', join(folder, `runctl-${version}.tgz`)], { encoding: 'utf8' });
  expect(listed).toMatch(/^-rwxr-xr-x .* package\/bin\/runctl\.js$/m);
});

test('installing the package warns of no script and of no dependency, because it has none', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const npmWarnsOf = ['scripts', 'devDependencies', 'dependencies', 'allowScripts'];
  expect(Object.keys(manifest).filter((name) => npmWarnsOf.includes(name))).toEqual([]);
  expect(manifest).toMatchObject({ name: 'runctl', version, bin: { runctl: 'bin/runctl.js' } });
});

/** A build and a pack that only show that nothing differs: where `CI` is set, and again before a release. */
const again = test.runIf(process.env.CI);

again(
  'another build of the same source is the same, byte for byte',
  () => {
    const other = join(folder, 'dist');
    node('build.mjs', other);
    const files = (place: string) =>
      readdirSync(place, { recursive: true, encoding: 'utf8' })
        .filter((name) => !/^\./.test(name))
        .sort();
    expect(files(other)).toEqual(files(join(root, 'dist')));
    const differing = files(other).filter(
      (name) => !readFileSync(join(other, name)).equals(readFileSync(join(root, 'dist', name))),
    );
    expect(differing).toEqual([]);
  },
  120_000,
);

again(
  'packed again, whatever the umask, it is the same byte for byte',
  () => {
    const other = join(folder, 'again');
    mkdirSync(other);
    const script = 'umask 077 && node .config/stage.mjs "$0/package" && cd "$0" && npm pack ./package';
    execFileSync('sh', ['-c', script, other], { cwd: root, stdio: 'ignore' });
    const name = `runctl-${version}.tgz`;
    expect(readFileSync(join(other, name)).equals(readFileSync(join(folder, name)))).toBe(true);
  },
  120_000,
);

test('the checksum beside the package is right', () => {
  const name = `runctl-${version}.tgz`;
  const archive = readFileSync(join(folder, name));
  const sum = createHash('sha256').update(archive).digest('hex');
  expect(readFileSync(join(folder, `${name}.sha256`), 'utf8')).toBe(`${sum}  ${name}\n`);
});

test('every package that is bundled has its license in the package', () => {
  const licenses = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
  const programs = readdirSync(join(root, 'dist')).filter((name) => name.endsWith('.cjs'));
  const sources = programs.map((name) => readFileSync(join(root, 'dist', name), 'utf8')).join('\n');
  const bundled = [...sources.matchAll(/^\s*\/\/ (?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(
    ([, name]) => name,
  );
  const [, ...parts] = licenses.split(/^--- (?=.*\)$)/m);
  const named = parts.map((part) => part.split(' ')[0]);
  expect(named.sort()).toEqual([...new Set(bundled)].sort());
  expect(parts.filter((part) => part.length < 400)).toEqual([]);
});

test('publint finds nothing to fix', async () => {
  const files = paths.map((path) => ({ name: join('package', path), data: readFileSync(join(installed, path)) }));
  const { messages } = await publint({ pkgDir: 'package', pack: { files }, strict: true, level: 'warning' });
  expect(messages).toEqual([]);
});

test('the package installs without a network and without another package, with its page', () => {
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['runctl']);
  expect(existsSync(join(installed, 'dist/runctl.1'))).toBe(true);
});

test('the installed program is a copy that does not need the folder it came from', () => {
  const ended = spawnSync(join(prefix, 'bin/runctl'), ['--version'], { cwd: folder, encoding: 'utf8' });
  expect(ended).toMatchObject({ status: 0, stdout: `${version}\n` });
});

test('what was installed is what was built, byte for byte', () => {
  const differs = (path: string) => !readFileSync(join(installed, path)).equals(readFileSync(join(root, path)));
  // Their links are made when the package is staged (release.test.ts).
  const staged = ['README.md', 'package.json'];
  expect(paths.filter((path) => differs(path) && !staged.includes(path))).toEqual([]);
});

const runInstalled = (argv: string[], env: Record<string, string | undefined> = {}) =>
  runCommand([join(prefix, 'bin/runctl'), ...argv], { env: { ...env, PATH: process.env.PATH } });

// One for each part that is loaded when it is asked for; what the commands do is tested in one process with the tests.
test.each<[argv: string[], stdout: RegExp]>([
  [['trigger', 'weekly'], /^[\da-f-]{36}\n$/],
  [['config', 'set', 'project', agentId], /^$/],
  [['emulator', '--quiet', '--', 'true'], /^$/],
])('the program that was installed does `runctl %j`', async (argv, stdout) => {
  const { env } = await withEmulator({});
  expect(await runInstalled(argv, env)).toMatchObject({ code: 0, stdout: expect.stringMatching(stdout) });
});

test.each([
  ['programs', 'docs/for-programs.md'],
  ['troubleshooting', 'docs/troubleshooting.md'],
  ['man', 'dist/runctl.1'],
])('the `runctl help %s` that was installed prints %s', async (topic, page) => {
  const stdout = readFileSync(join(root, page), 'utf8');
  expect(await runInstalled(['help', topic])).toMatchObject({ code: 0, stdout, stderr: '' });
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
