import { execFileSync } from 'node:child_process';
import fs, { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { hasNamespaces, needs } from '../helpers/needs.ts';
import { entry, type ProcessOptions, runCommand, runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Where the state folder is to be, and what the shell does before the program. */
interface Place {
  state: string;
  shell?: string;
  /** A file system that the program finds there: options of a tmpfs, and what the shell does in it first. */
  mount?: { options: string; first?: string };
}

const inFolder = (prepare: (state: string) => string | undefined) => (): Place => {
  const state = join(temporaryFolder(), 'state');
  return { state, shell: prepare(state) };
};

const withJournal = (make: (file: string) => string | undefined) =>
  inFolder((state) => {
    mkdirSync(state);
    return make(join(state, 'journal.jsonl'));
  });

const withMount = (options: string, first?: string) => (): Place => {
  return { state: temporaryFolder(), mount: { options: `mode=700,${options}`, first } };
};

const fill = 'dd if=/dev/zero of=fill bs=512 2> /dev/null';

/** What `recover` and `list` exit with: where the journal can be read, `list` says that something may be missing. */
const unreadable = { recover: 74, list: 74, says: /can't be read \(.+\)/ };
const unwritable = (says: RegExp) => ({ recover: 74, list: 0, says });

type Row = [where: string, place: () => Place, ends: { recover: number; list: number; says: RegExp }];

const rows: Row[] = [
  ['is a file', inFolder((state) => void writeFileSync(state, '')), unreadable],
  ['is under a file', () => ({ state: '/dev/null/deep/state' }), unreadable],
  ['holds a folder in place of the journal', withJournal((file) => void mkdirSync(file)), unreadable],
  ['holds a pipe that nobody reads', withJournal((file) => void execFileSync('mkfifo', [file])), unreadable],
  ['is where nothing can be made', () => ({ state: '/proc/nowhere/state' }), unwritable(/can't be written/)],
  ['is mounted read-only', withMount('ro'), unwritable(/read-only file system/)],
  ['is on a small disk that is full', withMount('size=64k', fill), unwritable(/the disk is full/)],
  [
    'takes half a record, because the size of files is limited',
    withJournal((file) => {
      writeFileSync(file, '\n'.repeat(1000));
      return 'ulimit -f 1';
    }),
    unwritable(/ulimit -f/),
  ],
  [
    'can be written to by others',
    inFolder((state) => {
      mkdirSync(state);
      chmodSync(state, 0o777);
      return undefined;
    }),
    unwritable(/RUNCTL_STATE_DIR=\S+\/state\/runctl, which runctl creates for you alone, or `chmod go-w \S+\/state`/),
  ],
];

const base = 'http://127.0.0.1:9';

/** As a process where a limit is set or something mounted first, which would bind this process too. */
function run(argv: readonly string[], { state, shell, mount }: Place, env: ProcessOptions['env']) {
  if (shell) return runProcess(argv, { env, shell });
  if (!mount) return runProgram(argv, { env });
  const first = mount.first ? `(cd '${state}'; ${mount.first}); ` : '';
  const script = `mount -t tmpfs -o ${mount.options} tmpfs '${state}' && { ${first}exec "$@"; }`;
  const inNamespace = ['unshare', '-rm', 'bash', '--norc', '-c', script, 'bash', process.execPath, entry];
  return runCommand([...inNamespace, ...argv], { env: { PATH: process.env.PATH, ...env } });
}

const oneLine =
  /^runctl: the journal in .* can't be (written|read|used) \(.+\); `runctl recover` and short run ids may not work.*$/gm;

describe.each(rows)('where the state folder %s', (_, prepare, { recover, list, says }) => {
  test('a trigger starts its run, and one line says what is lost', async (context) => {
    const { emulator, env } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
    const place = prepare();
    if (place.mount) needs(context, 'unshare', hasNamespaces);
    const broken = { ...env, RUNCTL_STATE_DIR: place.state };
    const started = await run(['trigger', 'nightly', '--watch', '--interval', '10ms', '--json'], place, broken);
    const [first] = emulator.runs();
    expect(JSON.parse(started.stdout)).toMatchObject({ executionId: first?.executionId, status: 'COMPLETED' });
    expect(started.stderr.match(oneLine), started.stderr).toHaveLength(1);
    expect(started.code).toBe(0);
    const named = `${emulator.projectId}/nightly/${first?.executionId}`;
    const polled = await run(['status', named, '--quiet', '--field', 'status'], place, broken);
    expect(polled).toMatchObject({ code: 0, stdout: 'COMPLETED\n', stderr: expect.not.stringContaining('runctl:') });
    expect(emulator.runs()).toHaveLength(1);
  });

  test.for<[string[], number]>([
    [['recover'], recover],
    [['recover', '--quiet'], recover],
    [['list', '--offline'], list],
    [['doctor', '--offline'], 74],
  ])('%j says that something may be missing, and exits with %i', async ([argv, code], context) => {
    const place = prepare();
    if (place.mount) needs(context, 'unshare', hasNamespaces);
    const env = { RUNCTL_BASE_URL: base, RUNCTL_API_KEY: 'test-key-123', RUNCTL_PROJECT: projectId };
    const ended = await run(argv, place, { ...env, RUNCTL_STATE_DIR: place.state });
    const said = ended.stdout + ended.stderr;
    expect([ended.code, said]).toEqual([code, expect.stringMatching(says)]);
    expect(said).toContain('RUNCTL_STATE_DIR');
    expect(said.match(/the journal in/g)).toHaveLength(1);
    expect(said).not.toMatch(/Nothing to recover|runctl trigger/);
  });
});

describe('without HOME and XDG folders', () => {
  const homeless = async () => {
    const { emulator, env } = await withEmulator({});
    const { RUNCTL_STATE_DIR: _, RUNCTL_CONFIG_DIR: __, ...rest } = env;
    return { emulator, env: rest };
  };

  test('a trigger starts its run, one line says what is lost, and the run can be polled', async () => {
    const { emulator, env } = await homeless();
    const { stdout, stderr, code } = await runProgram(['trigger', 'nightly'], { env });
    const [run] = emulator.runs();
    expect({ stdout, code }).toEqual({ stdout: `${run?.executionId}\n`, code: 0 });
    expect(stderr.match(/there is no folder for the journal \(set HOME or RUNCTL_STATE_DIR\)/g)).toHaveLength(1);
    const named = `${emulator.projectId}/nightly/${run?.executionId}`;
    expect(await runProgram(['status', named, '--field', 'status'], { env })).toMatchObject({
      code: 0,
      stdout: 'RUNNING\n',
    });
  });

  test.each([['list'], ['recover'], ['watch', '--all'], ['status'], ['result'], ['watch', 'nightly']])(
    '%s %s is refused in one line',
    async (...argv) => {
      const { stderr, code } = await runProgram(argv.filter(Boolean), { env: (await homeless()).env });
      expect(code).toBe(2);
      expect(stderr).toBe('runctl: there is no folder for the journal\n  -> set HOME or RUNCTL_STATE_DIR\n');
    },
  );
});

test('without a journal, a trigger whose answer is lost says how to repeat it, and that starts no second run', async () => {
  const { emulator, env } = await withEmulator({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
  const broken = { ...env, RUNCTL_STATE_DIR: '/proc/nowhere' };
  const lost = await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env: broken });
  expect(lost.code).toBe(12);
  const [, command = ''] = /`runctl (trigger [^`]+)`/.exec(lost.stderr) ?? [];
  const repeated = await runProgram(command.split(' '), { env: broken });
  expect(repeated.stdout).toBe(`${emulator.runs()[0]?.executionId}\n`);
  expect(emulator.runs()).toHaveLength(1);
});

test('where no folder can be made, neither a run nor a setting waits for one', async () => {
  const { env } = await withEmulator({});
  const broken = { ...env, RUNCTL_STATE_DIR: '/proc/nowhere', RUNCTL_CONFIG_DIR: '/proc/nowhere' };
  expect((await runProgram(['trigger', 'nightly'], { env: broken })).code).toBe(0);
  const { code, stderr } = await runProgram(['config', 'set', 'project', env.RUNCTL_PROJECT ?? ''], { env: broken });
  expect([code, stderr]).toEqual([2, expect.stringContaining("can't be written (ENOENT)")]);
});

test('a disk that fills up between trigger and outcome leaves an unresolved trigger, and `recover` finds its run', async () => {
  const { emulator, env } = await withEmulator({});
  const state = env.RUNCTL_STATE_DIR ?? '';
  await runProgram(['trigger', 'nightly'], { env });
  const file = join(state, 'journal.jsonl');
  const triggerBytes = readFileSync(file).indexOf('\n\n') + 1;
  writeFileSync(file, '\n'.repeat(1024 - triggerBytes - 100));
  const { stdout, stderr, code } = await runProcess(['trigger', 'weekly!'], { env, shell: 'ulimit -f 1' });
  expect({ stdout, code }).toEqual({ stdout: `${emulator.runs()[1]?.executionId}\n`, code: 0 });
  expect(stderr.match(oneLine)).toHaveLength(1);
  const recovered = await runProgram(['recover'], { env });
  expect(recovered).toMatchObject({ stdout, code: 0 });
  expect(emulator.runs()).toHaveLength(2);
});

test('a quota that only a write meets is said by `recover`, also with --quiet, and it exits with 74', async () => {
  const { emulator, env } = await withEmulator({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
  await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env });
  const full = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw Object.assign(new Error('EDQUOT: disk quota exceeded, write'), { code: 'EDQUOT' });
  });
  onTestFinished(() => {
    full.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const { code, stderr } = await runProgram(['recover', '--quiet'], { env });
  expect([code, stderr.match(/can't be written \(EDQUOT\)/g)]).toEqual([74, [expect.anything()]]);
  expect(emulator.runs()).toHaveLength(1);
});

test('what is written is for its owner alone, and holds no byte of the API key', async () => {
  const apiKey = 'sk-4f1b7c9d2e8a6053';
  const { env } = await withEmulator(
    {
      automations: { '*': { duration: '1ms', output: apiKey } },
      faults: [
        { on: 'trigger', nth: 1, do: 'status', status: 502, body: { message: `the key ${apiKey} is tired` } },
        { on: 'trigger', nth: 2, do: 'status', status: 429, headers: { 'retry-after': '1' } },
        { on: 'trigger', nth: 4, do: 'status', status: 402, body: { code: apiKey } },
      ],
    },
    { apiKey },
  );
  const usual = process.umask(0);
  onTestFinished(() => void process.umask(usual));
  await runProgram(['trigger', 'nightly', '--watch', '--interval', '10ms'], { env });
  expect((await runProgram(['trigger', 'nightly'], { env })).code).toBe(8);
  const state = env.RUNCTL_STATE_DIR ?? '';
  const entries = ['.', ...readdirSync(state, { recursive: true, encoding: 'utf8' })].map((name) => join(state, name));
  expect(entries).toContain(join(state, 'journal.jsonl'));
  for (const entry of entries) {
    const isFolder = statSync(entry).isDirectory();
    expect([entry, statSync(entry).mode & 0o777]).toEqual([entry, isFolder ? 0o700 : 0o600]);
    if (!isFolder) expect(readFileSync(entry, 'utf8')).not.toContain(apiKey.slice(3));
  }
});

test.each(['RUNCTL_STATE_DIR', 'RUNCTL_CONFIG_DIR'])(
  'where %s is a relative path and the current folder is gone, commands say so',
  async (variable) => {
    const { env, emulator } = await withEmulator({});
    for (const argv of [['trigger', 'nightly'], ['list']]) {
      const shell = `cd '${temporaryFolder()}' && rmdir "$PWD"`;
      const ended = await runProcess(argv, { env: { ...env, [variable]: 'state' }, shell });
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`${variable} is a relative path`) });
    }
    expect(emulator.requests).toEqual([]);
  },
);

test('what `list` learns and cannot record is said once', async (context) => {
  needs(context, 'unshare', hasNamespaces);
  const { env } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
  await runProgram(['trigger', 'nightly'], { env });
  const first = `cp '${env.RUNCTL_STATE_DIR}/journal.jsonl' . && mount -o remount,bind,ro .`;
  const place = { state: temporaryFolder(), mount: { options: 'mode=700,size=64k', first } };
  const { code, stdout, stderr } = await run(['list'], place, { ...env, RUNCTL_STATE_DIR: place.state });
  expect([code, stdout]).toEqual([0, expect.stringContaining('COMPLETED')]);
  expect(stderr.match(/journal/g)).toHaveLength(1);
});
