import fs, { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loseResponse } from '../fault-kit/scenario.ts';
import { quick, withEmulator } from '../helpers/emulator.ts';
import { hasNamespaces, needs } from '../helpers/needs.ts';
import { entry, runCommand, runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Where the state folder is to be, and what a shell does before the program, which then is a process. */
interface Place {
  state: string;
  shell?: string;
  needsMount?: true; // in a namespace of its own
}

/** A state folder that a test makes. */
const inFolder =
  (make: (state: string) => void, shell?: string): (() => Place) =>
  () => {
    const state = join(temporaryFolder(), 'state');
    make(state);
    return { state, shell };
  };

/** A state folder with something in the place of the journal. */
const withJournal = (make: (file: string) => void, shell?: string) =>
  inFolder((state) => {
    mkdirSync(state);
    make(join(state, 'journal.jsonl'));
  }, shell);

/** A file system of its own, in which the shell does something first. */
const withMount =
  (options: string, first = ':') =>
  (): Place => {
    const state = temporaryFolder();
    const shell = `mount -t tmpfs -o mode=700,${options} tmpfs '${state}'; (cd '${state}'; ${first})`;
    return { state, shell, needsMount: true };
  };

const fill = 'dd if=/dev/zero of=fill bs=512 2> /dev/null';
const everybodys = (state: string) => {
  mkdirSync(state);
  chmodSync(state, 0o777);
};

/** `recover` and `doctor` exit with 74; `list` doesn't if the journal can be read. */
type Row = [where: string, place: () => Place, list: number, says: RegExp];
const unreadable = /can't be read \(.+\)/;

const rows: Row[] = [
  ['is a file', inFolder((state) => writeFileSync(state, '')), 74, unreadable],
  ['is under a file', () => ({ state: '/dev/null/deep/state' }), 74, unreadable],
  ['is where nothing can be made', () => ({ state: '/proc/nowhere/state' }), 0, /can't be written \((no file|EACCES)/],
  [
    'can be written to by others',
    inFolder(everybodys),
    0,
    /RUNCTL_STATE_DIR=.*\/state\/runctl.*\n +chmod go-w .*\/state'?\n/,
  ],
];

/** Each of them binds a whole process. */
const rowsOfProcesses: Row[] = [
  ['is mounted read-only', withMount('ro'), 0, /read-only file system/],
  ['is on a small disk that is full', withMount('size=64k', fill), 0, /the disk is full/],
  [
    'takes half a record, because the size of files is limited',
    withJournal((file) => writeFileSync(file, '\n'.repeat(1000)), 'ulimit -S -f 1'),
    0,
    /ulimit -f/,
  ],
];

function run(argv: readonly string[], { state, shell, needsMount }: Place, settings: Record<string, string>) {
  const env = { ...settings, RUNCTL_STATE_DIR: state };
  if (!shell) return runProgram(argv, { env });
  if (!needsMount) return runProcess(argv, { env, shell });
  const inNamespace = ['unshare', '-rm', 'bash', '--norc', '-c', `${shell}; exec "$@"`, 'bash'];
  return runCommand([...inNamespace, process.execPath, entry, ...argv], { env: { PATH: process.env.PATH, ...env } });
}

const oneLine = /^runctl: the journal in .* can't be (written|read|used) \(.+\); .*'runctl recover'/gm;
const settings = { RUNCTL_BASE_URL: 'http://127.0.0.1:9', RUNCTL_API_KEY: 'test-key-123', RUNCTL_PROJECT: projectId };

describe.for([...rows, ...rowsOfProcesses])('if the state folder %s', ([, prepare, list, says]) => {
  test('a trigger starts its run, and one line says what is lost', async (context) => {
    const { emulator, env } = await withEmulator(quick);
    const place = prepare();
    if (place.needsMount) needs(context, 'unshare', hasNamespaces);
    const started = await run(['trigger', 'nightly', '--watch', '--interval', '10ms', '--json'], place, env);
    const [first] = emulator.runs();
    expect(started.code).toBe(0);
    expect(JSON.parse(started.stdout)).toMatchObject({ executionId: first?.executionId, status: 'COMPLETED' });
    expect(started.stderr.match(oneLine), started.stderr).toHaveLength(1);
    expect(started.stderr).toMatch(says);
    if (place.shell) return;
    const named = `${emulator.projectId}/nightly/${first?.executionId}`;
    const polled = await run(['status', named, '--quiet', '--field', 'status'], place, env);
    expect(polled).toMatchObject({ code: 0, stdout: 'COMPLETED\n', stderr: '' });
    expect(emulator.runs()).toHaveLength(1);
  });

  test('recover, list and doctor say that something may be missing', async (context) => {
    const place = prepare();
    if (place.needsMount) needs(context, 'unshare', hasNamespaces);
    for (const [line, code] of [
      ['recover --quiet', 74],
      ['recover', 74],
      ['list --offline', list],
      ['list --offline --status FAILED', list],
      ['watch --all', list],
      ['doctor --offline', 74],
    ] as const) {
      const ended = await run(line.split(' '), place, settings);
      const said = ended.stdout + ended.stderr;
      expect([line, ended.code, said]).toEqual([line, code, expect.stringMatching(says)]);
      expect(said).toContain('RUNCTL_STATE_DIR');
      expect(said.match(/the journal in/g)).toHaveLength(1);
      expect(said).not.toContain('runctl trigger');
      // Nobody knows whether there is nothing.
      expect(said).not.toMatch(/^(No|Nothing) /m);
      if (place.shell) return;
    }
  });
});

describe('without HOME and XDG folders', () => {
  const homeless = async () => {
    const { emulator, env } = await withEmulator({});
    const { RUNCTL_STATE_DIR: _, RUNCTL_CONFIG_DIR: __, ...rest } = env;
    return { emulator, env: rest };
  };

  test.each(['list', 'recover', 'watch --all', 'status @last', 'result @last', 'watch nightly'])(
    '%s is refused',
    async (line) => {
      const { stderr, code } = await runProgram(line.split(' '), { env: (await homeless()).env });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^runctl: .*\n {2}-- set HOME or RUNCTL_STATE_DIR\n$/)]);
    },
  );
});

test('without a journal, the hint after a lost response repeats the trigger without a second run', async () => {
  const { emulator, env } = await withEmulator({ faults: [loseResponse({ nth: 1 })] });
  const broken = { ...env, RUNCTL_STATE_DIR: '/proc/nowhere' };
  const lost = await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env: broken });
  expect(lost.code).toBe(12);
  const [, command = ''] = /^ +runctl (trigger .+)$/m.exec(lost.stderr) ?? [];
  const repeated = await runProgram(command.split(' '), { env: broken });
  expect(repeated.stdout).toBe(`${emulator.runs()[0]?.executionId}\n`);
  expect(emulator.runs()).toHaveLength(1);
});

test('if no folder can be made, no command that stores a setting waits for it', async () => {
  const env = { RUNCTL_CONFIG_DIR: '/proc/nowhere' };
  const { code, stderr } = await runProgram(['config', 'set', 'project', projectId], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('(ENOENT)')]);
});

describe('on a disk that stops taking records', () => {
  const fillDisk = (code: string) => {
    const full = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      full.mockRestore();
      syncBuiltinESMExports();
    });
  };

  // As a process, because `recover` leaves alone what its own process may still send.
  test('between a trigger and its outcome, the trigger stays unresolved, and `recover` finds its run', async () => {
    const { emulator, env } = await withEmulator({});
    const state = env.RUNCTL_STATE_DIR ?? '';
    await runProgram(['trigger', 'nightly'], { env });
    const file = join(state, 'journal.jsonl');
    const triggerBytes = readFileSync(file).indexOf('\n\n') + 1;
    writeFileSync(file, '\n'.repeat(1024 - triggerBytes - 100));
    const { stdout, stderr, code } = await runProcess(['trigger', 'weekly!'], { env, shell: 'ulimit -f 1' });
    expect({ stdout, code }).toEqual({ stdout: `${emulator.runs()[1]?.executionId}\n`, code: 0 });
    expect(stderr.match(oneLine)).toHaveLength(1);
    expect(await runProgram(['recover'], { env })).toMatchObject({ stdout, code: 0 });
    expect(emulator.runs()).toHaveLength(2);
  });

  test('at a write, `recover` says so, even with --quiet, and exits with 74', async () => {
    const { emulator, env } = await withEmulator({ faults: [loseResponse({ nth: 1 })] });
    await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env });
    fillDisk('EDQUOT');
    const { code, stderr } = await runProgram(['recover', '--quiet'], { env });
    expect([code, stderr.match(/\(EDQUOT\)/g)]).toEqual([74, ['(EDQUOT)']]);
    expect(emulator.runs()).toHaveLength(1);
  });

  test('while `list` records statuses, one warning is printed', async () => {
    const { env } = await withEmulator(quick);
    await runProgram(['trigger', 'nightly'], { env });
    fillDisk('EROFS');
    const { code, stdout, stderr } = await runProgram(['list'], { env });
    expect([code, stdout]).toEqual([0, expect.stringContaining('COMPLETED')]);
    expect(stderr.match(/journal/g)).toHaveLength(1);
  });
});

test.each(['RUNCTL_STATE_DIR', 'RUNCTL_CONFIG_DIR'])('if %s is no absolute path, commands say so', async (variable) => {
  const { env, emulator } = await withEmulator({});
  for (const [argv, folder] of [
    [['trigger', 'nightly'], 'state'],
    [['list'], '~/state'],
  ] as const) {
    const ended = await runProgram(argv, { env: { ...env, [variable]: folder } });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(variable) });
  }
  expect(emulator.requests).toEqual([]);
});
