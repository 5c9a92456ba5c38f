import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFinalHooks, createLimit, runHook } from '../../src/output/on-final.ts';
import { systemClock } from '../../src/process.ts';
import { type RunEvent, silentReporter } from '../../src/run/events.ts';
import type { OutcomeOf } from '../../src/run/outcome.ts';
import type { JsonObject } from '../../src/system/json.ts';
import { runShellCommand } from '../../src/system/shell-command.ts';
import { createFastClock } from '../helpers/fast-clock.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

const clock = createFastClock();

const finished: OutcomeOf<'status'> = {
  kind: 'status',
  run,
  snapshot: { executionId: run.executionId, status: 'COMPLETED', isFinal: true, document: {} },
};

/** Runs a hook; returns why it failed, and what was written to stderr, piece by piece. */
async function hooked(
  command: string,
  { outcome = finished, document = { a: 1 } as JsonObject, isInterrupted = false, env = {} } = {},
) {
  const memory = createMemory({ PATH: process.env.PATH, ...env });
  const written: string[] = [];
  const context = { ...memory, clock };
  context.stderr.write = (text) => written.push(text);
  const running = runHook(command, outcome, document, context);
  if (isInterrupted) memory.interrupt('SIGTERM');
  return { failure: await running, written };
}

/** It isn't if it is gone, or dead and not collected yet. */
const isRunning = (pid: number) =>
  /^[^Z]/.test(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout);

test('a hook of a command that a hook runs gets its own variables', async () => {
  const { written } = await hooked('echo $RUNCTL_STATUS', {
    env: { RUNCTL_STATUS: 'FAILED' },
    document: { status: 'COMPLETED' },
  });
  expect(written).toEqual(['COMPLETED\n']);
});

test('what a hook prints in pieces is written by whole lines', async () => {
  const { written } = await hooked('printf uploading; printf " ... done\\nno end"');
  expect(written).toEqual(['uploading ... done\n', 'no end\n']);
});

test('a line that is too long is left out, whatever pieces it comes in, and those around it are shown', async () => {
  const long = 'head -c 65537 /dev/zero | tr "\\0" x';
  const { written } = await hooked(`echo before; ${long}; sleep 0.1; ${long}; echo; echo after; ${long}`);
  expect(written.join('')).toMatch(/^before\n\(.* 64 KiB .*\)\nafter\n\(.* 64 KiB .*\)\n$/);
});

test('a line of 64 KiB is shown whole, and only the first megabyte of a hook that prints without end', async () => {
  const whole = await hooked('head -c 65536 /dev/zero | tr "\\0" x');
  expect(whole.written).toEqual([`${'x'.repeat(65_536)}\n`]);
  const { failure, written } = await hooked('yes | head -c 5000000');
  const text = written.join('');
  expect(failure).toBeUndefined();
  expect(text.length).toBeLessThan(1_200_000);
  expect(text).toMatch(/y\n\(.* left out\)\n$/);
});

test.each([
  ['fails', 'exit 3', 'exited with 3'],
  ['fails, and leaves a process that holds its pipes', 'sleep 2 & exit 3', 'exited with 3'],
  ['is killed', 'kill -9 $$', 'was killed by SIGKILL'],
  ['is not there', '/nowhere/hook', 'exited with 127'],
  ['reads all its input', 'cat >/dev/null', undefined],
  ['reads no input', 'true', undefined],
  ['waits for more input than there is', 'read a; read b; test -z "$b"', undefined],
  ['needs a terminal', '(read a </dev/tty) || exit 4', 'exited with 4'],
])('a hook that %s: %j', async (_, command, expected) => {
  const { failure } = await hooked(command);
  expect(failure).toBe(expected);
});

test('a background process of a hook is neither waited for nor stopped', async () => {
  const file = join(temporaryFolder(), 'pid');
  // Shorter than the time limit of the test, so that a hook that was waited for is what turns it red.
  const { failure } = await hooked(`sleep 20 & echo $! > '${file}'`);
  expect(failure).toBeUndefined();
  const pid = Number(readFileSync(file, 'utf8'));
  expect(isRunning(pid)).toBe(true);
  process.kill(pid);
});

/** Runs a command of the shell that has so long; returns why it failed. */
const limited = (command: string, limitMs: number, own = clock) =>
  runShellCommand({ command, limitMs, onOutput() {} }, { ...createMemory({ PATH: process.env.PATH }), clock: own });

test('a command that hangs is stopped when its time has passed, with the processes that it started', async () => {
  const file = join(temporaryFolder(), 'pid');
  const failure = await limited(`sleep 60 & echo $! > '${file}'; wait; true`, 1_500);
  expect(failure).toBe('took longer than 1.5s and was stopped');
  expect(isRunning(Number(readFileSync(file, 'utf8')))).toBe(false);
});

test('the time limit of a command ends with it, so that no background process is stopped', async () => {
  const limits: (AbortSignal | undefined)[] = [];
  const sleep = (ms: number, signal?: AbortSignal) => {
    limits.push(signal);
    return clock.sleep(ms, signal);
  };
  expect(await limited('true', 30_000, { ...clock, sleep })).toBeUndefined();
  expect(limits.map((signal) => signal?.aborted)).not.toContain(false);
  expect(limits).not.toEqual([]);
});

test('a command that ignores SIGTERM is killed', async () => {
  const failure = await limited("trap '' TERM; while :; do sleep 1; done", 500);
  expect(failure).toBe('took longer than 500ms and was stopped');
});

test('a signal of the user ends the hook', async () => {
  expect((await hooked('sleep 60', { isInterrupted: true })).failure).toBe('was interrupted');
});

test('a hook that ignores SIGTERM does not outlive a signal of the user', async () => {
  const file = join(temporaryFolder(), 'pid');
  const memory = createMemory({ PATH: process.env.PATH });
  const command = `trap '' TERM; echo $$ > '${file}'; while :; do sleep 1; done`;
  const running = runHook(command, finished, {}, { ...memory, clock });
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/\n$/);
  memory.interrupt('SIGINT');
  expect(await running).toBe('was interrupted');
  expect(() => process.kill(Number(readFileSync(file, 'utf8')), 0)).toThrow('ESRCH');
});

test('variables that no process can be started with are cut', async () => {
  const target = { ...run.target, automationName: 'x'.repeat(200_000) };
  const given = {
    outcome: { ...finished, run: { ...run, target } },
    document: { a: 1, status: '../odd', runctl: { outcome: 'a\0b' } },
  };
  const { failure, written } = await hooked(
    'printf %s "$RUNCTL_AUTOMATION" | wc -c; echo $RUNCTL_OUTCOME "$RUNCTL_STATUS"',
    given,
  );
  expect({ failure, written: written.join('') }).toEqual({ failure: undefined, written: '32000\nab \n' });
});

describe('the hooks for runs that finished', () => {
  test('are not run after a signal, and a warning says so', async () => {
    const events: RunEvent[] = [];
    const memory = createMemory({ PATH: process.env.PATH });
    const reporter = { ...silentReporter, emit: (event: RunEvent) => void events.push(event) };
    const hooks = createFinalHooks('exit 3', { ...memory, clock: systemClock, reporter });
    memory.interrupt('SIGTERM');
    void hooks.start(finished, {});
    await hooks.waitForAll();
    const message = expect.stringContaining('not run');
    expect(events).toMatchObject([{ event: 'warning', name: 'hook_failed', message }]);
  });

  test('run at most eight at the same time', async () => {
    const folder = temporaryFolder();
    const [log, go] = [join(folder, 'log'), join(folder, 'go')];
    writeFileSync(log, '');
    onTestFinished(() => writeFileSync(go, ''));
    const command = `printf + >> '${log}'; until [ -e '${go}' ]; do sleep 0.02; done; printf - >> '${log}'`;
    const hooks = createFinalHooks(command, { ...createMemory({ PATH: process.env.PATH }), clock: systemClock });
    for (let n = 0; n < 12; n++) void hooks.start(finished, {});
    await expect.poll(() => readFileSync(log, 'utf8').length).toBeGreaterThanOrEqual(8);
    writeFileSync(go, '');
    await hooks.waitForAll();
    const signs = readFileSync(log, 'utf8');
    let running = 0;
    const counts = [...signs].map((sign) => (running += sign === '+' ? 1 : -1));
    expect([signs.length, Math.max(...counts)]).toEqual([24, 8]);
  });

  test('run in the order in which the runs finished, also after one that failed', async () => {
    const clock = createVirtualClock();
    const inTurn = createLimit(2);
    const begun: string[] = [];
    const action = (name: string) => async () => {
      begun.push(`${name} ${clock.elapsedMs()}`);
      await clock.sleep(name === 'a' ? 100 : 300);
      if (name === 'a') throw new Error('failed');
    };
    const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => inTurn(action(name))));
    expect(begun).toEqual(['a 0', 'b 0', 'c 100', 'd 300']);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    begun.length = 0;
    const later = clock.elapsedMs();
    await Promise.all(['e', 'f', 'g'].map((name) => inTurn(action(name))));
    expect(begun).toEqual([`e ${later}`, `f ${later}`, `g ${later + 300}`]);
  });
});
