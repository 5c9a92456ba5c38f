import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, type TestContext, test } from 'vitest';
import { shellWord } from '../../src/run/quote.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { needs } from '../helpers/needs.ts';
import { entry, runCommand } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const isRoot = process.geteuid?.() === 0;
const stranger = 54_321;
const eachStores = 5;

/** Makes it belong to another user, with all that is in it. */
const give = (path: string) => spawnSync('chown', ['-hR', `${stranger}:${stranger}`, path]);

/** The home of another user, with the folders of the program, which is given away once the test has filled it. */
function homeOfAnother() {
  const home = temporaryFolder();
  const [config, state] = [join(home, '.config/runctl'), join(home, '.local/state/runctl')];
  for (const folder of [config, state]) mkdirSync(folder, { recursive: true });
  return { home, config, state };
}

const asStranger = ['setpriv', '--reuid', `${stranger}`, '--regid', `${stranger}`, '--clear-groups', process.execPath];

/** Skips a test unless another user can start Node and reach the temporary folders. */
function needsStranger(context: TestContext): void {
  const [file = '', ...argv] = asStranger;
  const reach = spawnSync(file, [...argv, '-e', 'fs.accessSync(process.argv[1])', tmpdir()], { cwd: '/' });
  needs(context, 'root, setpriv, and a node and a TMPDIR for everybody', isRoot && reach.status === 0);
}

/** The program as that other user: a copy, for whoever has built it may have kept it for themselves. */
function runAsStranger(argv: string[], env: Record<string, string | undefined>) {
  const copy = temporaryFolder();
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(entry, '../..', part), join(copy, part), { recursive: true });
  give(copy);
  return runCommand([...asStranger, join(copy, 'bin/runctl.js'), ...argv], { env });
}

test('root with the home of another user triggers, and writes to nothing of theirs and through none of their links', async (context) => {
  needs(context, 'root', isRoot);
  const { emulator, env } = await withEmulator({});
  const { home, state } = homeOfAnother();
  const victim = join(temporaryFolder(), 'bashrc');
  writeFileSync(victim, '# of root\n');
  symlinkSync(victim, join(state, 'journal.jsonl'));
  give(home);
  const { RUNCTL_STATE_DIR: _, RUNCTL_CONFIG_DIR: __, ...settings } = env;
  const ended = await runProgram(['trigger', 'nightly'], { env: { ...settings, HOME: home } });
  expect(ended).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
  expect(ended.stderr.match(/the journal in .* can't be \w+ \(.* belongs to another user\)/g)).toHaveLength(1);
  expect(readFileSync(victim, 'utf8')).toBe('# of root\n');
  expect(readdirSync(state)).toEqual(['journal.jsonl']);
});

test('a state folder that the user may not read is named, and no fault of the program', async (context) => {
  needsStranger(context);
  const { env } = await withEmulator({});
  const { home, state } = homeOfAnother();
  give(home);
  chownSync(state, 0, 0);
  chmodSync(state, 0o700);
  const own = { ...env, RUNCTL_STATE_DIR: state, RUNCTL_CONFIG_DIR: home, HOME: home };
  expect(await runAsStranger(['list'], own)).toMatchObject({ code: 74, stderr: expect.stringContaining('EACCES') });
  const doctor = await runAsStranger(['doctor', '--offline', '--json'], own);
  const findings: { name: string; message: string }[] = JSON.parse(doctor.stdout).runctl.doctor;
  expect(findings.find(({ name }) => name === 'journal')?.message).toContain('EACCES');
});

test.for([
  { taken: '.config', command: 'list', own: {}, code: 2 },
  { taken: '.config', command: 'config set requestTimeout 5s', own: {}, code: 2 },
  { taken: '.local', command: 'list', own: { RUNCTL_CONFIG_DIR: '/dev/null' }, code: 74 },
  { taken: '.local', command: 'trigger nightly', own: { RUNCTL_CONFIG_DIR: '/dev/null' }, code: 0 },
])('what `sudo runctl` left in $taken ends `$command` with the command that takes it back', async (row, context) => {
  needsStranger(context);
  const { env } = await withEmulator({});
  const { RUNCTL_STATE_DIR: _, RUNCTL_CONFIG_DIR: __, ...settings } = env;
  const { home } = homeOfAnother();
  give(home);
  const part = join(home, row.taken);
  chownSync(part, 0, 0);
  chmodSync(part, 0o700);
  const ended = await runAsStranger(row.command.split(' '), { ...settings, HOME: home, ...row.own });
  expect(ended.code).toBe(row.code);
  expect(ended.stderr).toContain(`sudo chown -R $(id -u) ${shellWord(part)}\n`);
});

test('the config file of another user is refused for root', async (context) => {
  needs(context, 'root', isRoot);
  const { emulator, env } = await withEmulator({});
  const { home, config } = homeOfAnother();
  const profiles = { default: { baseUrl: env.RUNCTL_BASE_URL, project: env.RUNCTL_PROJECT } };
  writeFileSync(join(config, 'config.json'), JSON.stringify({ profiles }));
  give(home);
  const ofRoot = { HOME: home, RUNCTL_API_KEY: env.RUNCTL_API_KEY };
  const { code, stderr } = await runProgram(['trigger', 'nightly'], { env: ofRoot });
  expect(code).toBe(2);
  expect(stderr).toMatch(/belongs to another user[\s\S]*RUNCTL_CONFIG_DIR/);
  expect(emulator.requests).toEqual([]);
  for (const change of ['set requestTimeout 5s', 'unset requestTimeout', 'set profile staging'])
    expect(await runProgram(['config', ...change.split(' ')], { env: ofRoot })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('belongs to another user'),
    });
  expect(JSON.parse(readFileSync(join(config, 'config.json'), 'utf8'))).toEqual({ profiles });
  expect(readdirSync(config)).toEqual(['config.json']);
});

test('a user keeps a journal in a home of their own and takes settings of root, but none of a third user', async (context) => {
  needsStranger(context);
  const { emulator, env } = await withEmulator({});
  const { home, state } = homeOfAnother();
  give(home);
  const shared = temporaryFolder();
  chmodSync(shared, 0o755);
  const file = join(shared, 'config.json');
  writeFileSync(file, JSON.stringify({ profiles: { default: { baseUrl: env.RUNCTL_BASE_URL } } }), { mode: 0o644 });
  const { RUNCTL_API_KEY, RUNCTL_PROJECT } = env;
  const own = { HOME: home, RUNCTL_CONFIG_DIR: shared, RUNCTL_API_KEY, RUNCTL_PROJECT };
  const ended = await runAsStranger(['trigger', 'nightly', '-q'], own);
  expect(ended).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n`, stderr: '' });
  expect(existsSync(join(state, 'journal.jsonl'))).toBe(true);
  chownSync(file, 65_500, 65_500);
  const ignored = await runAsStranger(['trigger', 'nightly', '-q'], own);
  expect(ignored).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to another user') });
});

/** A process of its own that stores so many settings, one right after the other. */
const storer = `
  import { changeConfigFile } from './config-file.ts';
  const [path, from] = process.argv.slice(2);
  const store = (name) =>
    changeConfigFile(path, ({ profiles }) => ({ profiles: { ...profiles, [name]: { requestTimeout: '5s' } } }), {
      clock: { sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
      signal: new AbortController().signal,
    });
  const storeAll = async () => {
    for (let n = Number(from); n < Number(from) + ${eachStores}; n++) await store('profile-' + n);
  };
  void storeAll();`;

test('everything that four processes store at the same time is kept, in a file of mode 0600', async () => {
  const resolveDir = join(import.meta.dirname, '../../src/settings');
  const stdin = { contents: storer, resolveDir, loader: 'ts' as const };
  const { outputFiles } = buildSync({ stdin, bundle: true, platform: 'node', format: 'cjs', write: false });
  const folder = temporaryFolder();
  const path = join(folder, 'config.json');
  const options = { input: outputFiles[0]?.text, env: { HOME: folder } };
  const ended = await Promise.all(
    [0, 1, 2, 3].map((number) => runCommand([process.execPath, '-', path, `${number * eachStores}`], options)),
  );
  expect(ended.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0, 0]);
  const { profiles } = JSON.parse(readFileSync(path, 'utf8'));
  expect(Object.keys(profiles)).toHaveLength(4 * eachStores);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['config.json']);
});
