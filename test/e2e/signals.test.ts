// What only a process shows of a signal: its exit code, and that nothing keeps it alive. What is said then is in
// test/program/codes.test.ts and test/words.txt.
import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { going, quick, withEmulator } from '../helpers/emulator.ts';
import { interrupted, interruptedCommand, longest } from '../helpers/interrupted.ts';
import { hasNamespaces, isInstalled, needs } from '../helpers/needs.ts';
import { entry, runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openTerminal } from '../helpers/screen.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { withBareMachine } from '../recipes/bare-machine.ts';

const trigger = async (env: Record<string, string>) =>
  (await runProgram(['trigger', 'nightly', '-q'], { env })).stdout.trim();

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s during a watch exits with %i, prints the document and does not touch the run', async (signal, code) => {
  const { env, emulator } = await withEmulator(going);
  const id = await trigger(env);
  const argv = ['watch', id, '--json', '--interval', '20ms'];
  const ended = await interrupted(argv, { env, emulator, signal, requests: 2 });
  expect(ended).toMatchObject({ code });
  expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  expect(ended.stderr).toContain(`runctl watch ${id}`);
  expect(ended.stderr.includes('setsid')).toBe(signal === 'SIGHUP');
  expect(JSON.parse(ended.stdout)).toMatchObject({ executionId: id, runctl: { exitCode: code } });
  expect(emulator.runs()).toMatchObject([{ status: 'RUNNING' }]);
});

test('SIGTERM while a trigger is being sent leaves it unresolved, and `recover` resolves it', async () => {
  const faults: Scenario['faults'] = [{ on: 'trigger', nth: 1, do: 'hang', acts: true }];
  const { env, emulator } = await withEmulator({ ...going, faults });
  const ended = await interrupted(['trigger', 'nightly', '--json'], { env, emulator, signal: 'SIGTERM', requests: 1 });
  expect(ended).toMatchObject({ code: 143 });
  expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  expect(JSON.parse(ended.stdout).runctl).toMatchObject({ exitCode: 143, trigger: { started: 'unknown' } });
  const [run] = emulator.runs();
  expect(await runProgram(['recover'], { env })).toMatchObject({ code: 0, stdout: `${run?.executionId}\n` });
});

describe('Ctrl-C', () => {
  test('ends the command of --on-final, too, and decides the exit code', async () => {
    const { env, emulator } = await withEmulator(quick);
    const argv = ['trigger', 'nightly', '--watch', '--interval', '20ms', '--on-final', 'echo begun >&2; sleep 60'];
    const around = { ...env, PATH: process.env.PATH ?? '' };
    const ended = await interrupted(argv, { env: around, emulator, words: /begun/ });
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  });

  test('ends the program while an API key is read from a pipe that nobody writes to', async () => {
    const { env, emulator } = await withEmulator(going);
    const pipe = join(temporaryFolder(), 'key');
    execFileSync('mkfifo', [pipe]);
    const isReady = (pid?: number) => pathsOpenIn(pid).includes(pipe);
    const ended = await interrupted(['status', '@last', '--api-key-file', pipe], { env, isReady });
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(emulator.requests).toEqual([]);
  });

  test('ends the program while the resolution of a name hangs', async (context) => {
    needs(context, 'unshare and ip', hasNamespaces && isInstalled('ip'));
    const folder = temporaryFolder();
    const [pid, asked] = [join(folder, 'pid'), join(folder, 'asked')];
    writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:30\n');
    // In a network of its own, with a name server that never answers.
    const silent = `const server = require('dgram').createSocket('udp4');
      server.on('message', () => require('fs').writeFileSync('${asked}', ''));
      server.bind(53, () => require('fs').writeFileSync('${pid}', String(process.pid)));`;
    const script = `ip link set lo up; mount --bind '${folder}/resolv.conf' /etc/resolv.conf
      "$1" -e "${silent}" > /dev/null 2>&1 & until [ -s '${pid}' ]; do sleep 0.02; done; exec "$@"`;
    onTestFinished(() => void process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL'));
    const status = [process.execPath, entry, 'status', `${projectId}/nightly/${executionId}`];
    const ended = await interruptedCommand(['unshare', '-rmn', 'bash', '--norc', '-c', script, 'bash', ...status], {
      env: { RUNCTL_BASE_URL: 'https://api.test', RUNCTL_API_KEY: 'a-key', PATH: process.env.PATH ?? '' },
      isReady: () => existsSync(asked),
    });
    // Node's own exit would wait for the look-up. For a shell, this is 130.
    expect(ended).toMatchObject({ code: 'SIGINT', stderr: expect.stringMatching(/^runctl: /m) });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  });
});

/** The files that a process has open. */
function pathsOpenIn(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((fd) => {
    try {
      return readlinkSync(join(folder, fd));
    } catch {
      return []; // it has just been closed
    }
  });
}

test('a process that is stopped (SIGSTOP) with a request in flight reads the response when it continues', async () => {
  const { env, emulator } = await withEmulator({
    ...quick,
    faults: [{ on: 'status', nth: 1, do: 'delay', delay: '500ms' }],
  });
  const id = await trigger(env);
  let child: ChildProcess | undefined;
  const ended = runProcess(['watch', id, '--give-up-after', '1s'], {
    env: { ...env, RUNCTL_REQUEST_TIMEOUT: '1s' },
    onStart: (started) => {
      child = started;
    },
  });
  await vi.waitUntil(() => emulator.requests.some(({ method }) => method === 'GET'), longest);
  child?.kill('SIGSTOP');
  // Longer than the request may take, and than the service may be silent.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  child?.kill('SIGCONT');
  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('COMPLETED') });
});

test('a watch in the background of a terminal that is closed exits with the code of its run', async (context) => {
  needs(context, 'setsid');
  const { env, emulator, endRuns } = await withEmulator(going);
  const id = await trigger(env);
  const log = join(temporaryFolder(), 'log');
  const WATCH = `'${process.execPath}' '${entry}' watch ${id} --interval 100ms > '${log}' 2>&1; echo $? >> '${log}'`;
  const hasPolled = () => {
    const before = emulator.requests.length;
    return vi.waitUntil(() => emulator.requests.length > before + 1, longest);
  };
  // Its stdin stays the terminal.
  const terminal = openTerminal('/bin/sh', ['-c', 'setsid -f sh -c "$WATCH"; read line'], { env: { ...env, WATCH } });
  await hasPolled();
  terminal.hangUp();
  await terminal.exit;
  await hasPolled();
  endRuns();
  await vi.waitFor(() => expect(readFileSync(log, 'utf8')).toMatch(/^\d+\n$/m), longest);
  expect(readFileSync(log, 'utf8')).toMatch(/COMPLETED[\s\S]*\n0\n$/);
});

test('SIGTERM ends the emulator with its command', async () => {
  const { run } = await withBareMachine();
  const { code, stderr } = await run(['runctl', 'emulator', '--', 'sh', '-c', 'echo ready; exec sleep 60'], {
    onOutput: (_, stderr, child) => stderr === '' && child.kill('SIGTERM'),
  });
  expect([code, stderr]).toEqual([143, 'emulator: 0 triggers, 0 runs, 0 runs started twice, 0 results not read\n']);
});
