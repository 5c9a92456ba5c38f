import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { hasNamespaces, isInstalled, needs } from '../helpers/needs.ts';
import { atOnceAfter } from '../helpers/real-time.ts';
import { entry, runCommand, runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** A shell makes 129 of it. */
const ends = { ...codes, SIGHUP: 'SIGHUP' } as const;
type Signal = keyof typeof codes;
const signals = Object.keys(codes) as Signal[];
const slow: Scenario = { automations: { '*': { duration: '1h' } } };
/** For a busy machine to start the program. */
const longest = { timeout: 25_000, interval: 10 };

/** Sends a signal to the program as soon as it is ready for that. */
const interrupted = (args: string[], when: Interruption) =>
  interruptedCommand([process.execPath, entry, ...args], when);

async function interruptedCommand(argv: string[], { env, signal = 'SIGINT', isReady, words, ...asked }: Interruption) {
  let child: ChildProcess | undefined;
  let stderr = '';
  const running = runCommand(argv, {
    env,
    onStart: (process) => {
      child = process;
    },
    onOutput: (_stdout, text) => {
      stderr = text;
    },
  });
  const { emulator, requests = 0 } = asked;
  const before = emulator?.requests.length ?? 0;
  const isAsked = () => (emulator?.requests.length ?? 0) >= before + requests;
  const isTold = () => !words || words.test(stderr);
  const startMs = performance.now();
  const hasStarted = () => stderr !== '' || (emulator ? emulator.requests.length > before : isReady?.(child?.pid));
  await vi.waitUntil(hasStarted, longest);
  const atOnceMs = atOnceAfter(performance.now() - startMs);
  await vi.waitUntil(() => isAsked() && isTold() && isReady?.(child?.pid) !== false, longest);
  // The request has arrived; now it is waited for.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const killedMs = performance.now();
  child?.kill(signal);
  const ended = await running;
  return { ...ended, lastedMs: performance.now() - killedMs, atOnceMs };
}

interface Interruption {
  env: Record<string, string>;
  signal?: Signal;
  /** Ready once these stand on stderr, */
  words?: RegExp;
  /** and this has been asked so many times, */
  emulator?: Emulator;
  requests?: number;
  /** and this is true. */
  isReady?(pid: number | undefined): boolean;
}

/** The files that a process has open. */
function pathsOpenIn(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((fd) => {
    try {
      return readlinkSync(join(folder, fd));
    } catch {
      return [];
    }
  });
}

const hangs = (on: 'trigger' | 'status' | 'result'): Scenario => ({ ...slow, faults: [{ on, do: 'hang' }] });
const trigger = async (env: Record<string, string>, name = 'nightly') =>
  (await runProgram(['trigger', name, '-q'], { env })).stdout.trim();
const statesOf = (emulator: Emulator) => emulator.runs().map(({ status }) => status);

/** Every line of the journal. A half-written one makes this throw. */
function journalOf(env: Record<string, string>): { type: string }[] {
  const folder = env.RUNCTL_STATE_DIR ?? '';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  return texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line));
}

describe.each(signals)('%s', (signal) => {
  test('during a watch leaves the run alone, says how to resume, and still prints the document', async () => {
    const { env, emulator } = await withEmulator(slow);
    const id = await trigger(env);
    const ended = await interrupted(['watch', id, '--json', '--interval', '20ms'], {
      env,
      emulator,
      signal,
      requests: 2,
    });
    expect(ended).toMatchObject({ code: ends[signal] });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(ended.stderr).toContain(`runctl watch ${id}`);
    expect(ended.stderr).toContain('the run was left alone');
    expect(JSON.parse(ended.stdout)).toMatchObject({
      executionId: id,
      status: 'RUNNING',
      runctl: { exitCode: codes[signal], outcome: 'interrupted', lastConfirmed: { status: 'RUNNING' } },
    });
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });

  test('while a trigger is on its way leaves an unresolved one, which `recover` resolves', async () => {
    const { env, emulator } = await withEmulator({
      ...slow,
      faults: [{ on: 'trigger', nth: 1, do: 'hang', acts: true }],
    });
    const ended = await interrupted(['trigger', 'nightly', '--json'], { env, emulator, signal, requests: 1 });
    expect(ended).toMatchObject({ code: ends[signal] });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(ended.stderr).toContain('runctl recover');
    expect(JSON.parse(ended.stdout).runctl).toMatchObject({ exitCode: codes[signal], trigger: { started: 'unknown' } });
    expect(journalOf(env).map(({ type }) => type)).toContain('triggered');
    const recovered = await runProgram(['recover'], { env });
    expect(recovered).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });
});

test.each([['trigger', 'weekly'], ['list', '--json'], ['status'], ['completion', 'bash']])(
  'a full disk under the output of `%s` is reported, and is no success',
  async (...argv) => {
    const { env } = await withEmulator(slow);
    await trigger(env);
    const { code, stderr } = await runProcess(argv, { env, shell: 'exec >/dev/full' });
    expect([code, stderr]).toEqual([74, expect.stringContaining('could not be written: ENOSPC')]);
  },
);

test.each(signals)('%s while the result is waited for reports how the run ended, and no more', async (signal) => {
  const { env, emulator } = await withEmulator({ ...hangs('result'), automations: { '*': { duration: '1ms' } } });
  const id = await trigger(env);
  const ended = await interrupted(['watch', id], { env, emulator, signal, requests: 2 });
  expect(ended).toMatchObject({ code: ends[signal], stdout: expect.stringContaining('COMPLETED nightly') });
  expect(ended.stderr).toContain(`runctl result ${id}`);
});

describe('Ctrl-C', () => {
  test.each<[string, Scenario, string[], Partial<Interruption>]>([
    ['a poll hangs', hangs('status'), ['trigger', 'nightly', '--watch'], { requests: 2 }],
    [
      'a result hangs',
      { ...hangs('result'), automations: { '*': { duration: '1ms' } } },
      ['trigger', 'nightly', '--watch', '--interval', '20ms'],
      { requests: 3 },
    ],
    ['events are written', slow, ['trigger', 'nightly', '--watch', '--events'], { requests: 1 }],
    ['nothing is printed', slow, ['trigger', 'nightly', '--watch', '-q'], { requests: 1 }],
  ])(
    'of a `trigger --watch` while %s names the run and the command that takes it up again',
    async (_, scenario, args, when) => {
      const { env, emulator } = await withEmulator(scenario);
      const ended = await interrupted(args, { env, emulator, ...when });
      expect(ended).toMatchObject({ code: 130 });
      expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
      expect(ended.stderr).toMatch(new RegExp(`runctl (watch|result) ${emulator.runs()[0]?.executionId}`));
      expect(emulator.runs()).toHaveLength(1);
    },
  );

  test('during --splay starts nothing', async () => {
    const { env, emulator } = await withEmulator(slow);
    const args = ['trigger', 'nightly', '--splay', '1h', '--json'];
    const { code, stdout, lastedMs, atOnceMs } = await interrupted(args, { env, words: /waiting/ });
    expect(code).toBe(130);
    expect(lastedMs).toBeLessThan(atOnceMs);
    expect(JSON.parse(stdout)).toMatchObject({
      automationName: 'nightly',
      runctl: { trigger: { how: 'not_started', started: 'no', safeToRepeat: true } },
    });
    expect(emulator.requests).toEqual([]);
  });

  test('while --if-active waits for the slot starts nothing', async () => {
    const { env, emulator } = await withEmulator(slow);
    await trigger(env);
    const args = ['trigger', 'nightly', '--if-active', 'wait', '--json'];
    const ended = await interrupted(args, { env, emulator, requests: 1, words: /waiting/ });
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(ended.stderr).toContain('no run was started');
    expect(JSON.parse(ended.stdout)).toMatchObject({ runctl: { trigger: { started: 'no' } } });
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });

  test('between two attempts of a trigger starts nothing where nothing was in doubt', async () => {
    const faults: Scenario['faults'] = [{ on: 'trigger', do: 'status', status: 429, headers: { 'retry-after': '20' } }];
    const { env, emulator } = await withEmulator({ ...slow, faults });
    const ended = await interrupted(['trigger', 'nightly', '--json'], {
      env,
      emulator,
      requests: 1,
      words: /retrying/,
    });
    expect(ended).toMatchObject({ code: 130 });
    expect(JSON.parse(ended.stdout)).toMatchObject({ runctl: { trigger: { started: 'no' } } });
    expect((await runProgram(['recover'], { env })).stderr).toContain('Nothing to recover');
  });

  test('during `recover` leaves the intent open', async () => {
    const faults: Scenario['faults'] = [{ on: 'trigger', to: 2, do: 'hang', acts: true }];
    const { env, emulator } = await withEmulator({ ...slow, faults });
    await interrupted(['trigger', 'nightly'], { env, emulator, requests: 1 });
    const ended = await interrupted(['recover', '--json'], { env, emulator, requests: 1 });
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(JSON.parse(ended.stdout)).toMatchObject([
      { runctl: { outcome: 'interrupted', trigger: { started: 'unknown' } } },
    ]);
    expect((await runProgram(['recover'], { env })).stdout.trim()).toBe(emulator.runs()[0]?.executionId);
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });

  test.each(['status', 'result'] as const)('of a `%s` that hangs ends it', async (command) => {
    const { env, emulator } = await withEmulator(hangs(command));
    const id = await trigger(env);
    const ended = await interrupted([command, id, '--json'], { env, emulator, requests: 1 });
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(JSON.parse(ended.stdout)).toMatchObject({ executionId: id, runctl: { problem: { name: 'interrupted' } } });
  });

  test('of a watch of many runs reports each in one array, and all in one sentence', async () => {
    const { env, emulator } = await withEmulator(slow);
    const ids = [await trigger(env, 'a'), await trigger(env, 'b')];
    const ended = await interrupted(['watch', ...ids, '--json', '--interval', '20ms'], { env, emulator, requests: 3 });
    expect(ended).toMatchObject({ code: 130 });
    expect(JSON.parse(ended.stdout).map(({ executionId }: { executionId: string }) => executionId)).toEqual(ids);
    expect(ended.stderr).toContain('stopped watching 2 runs, which are still running');
    expect(ended.stderr).toContain('`runctl watch --all`');
  });

  test('during --on-final ends it and its command', async () => {
    const { env, emulator } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
    const onFinal = ['--on-final', 'echo begun >&2; sleep 60'];
    const args = ['trigger', 'nightly', '--watch', '--interval', '20ms', ...onFinal];
    const ended = await interrupted(args, { env: { ...env, PATH: process.env.PATH ?? '' }, emulator, words: /begun/ });
    expect(ended).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/--on-final command for run \S+ of nightly was interrupted/),
    });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  });

  test('while a key is read from a pipe that nobody writes to ends the program', async () => {
    const { env, emulator } = await withEmulator(slow);
    const fifo = join(env.RUNCTL_STATE_DIR ?? '', '..', 'key');
    await new Promise((resolve) => spawn('mkfifo', [fifo]).on('close', resolve));
    const isReady = (pid?: number) => pathsOpenIn(pid).includes(fifo);
    const ended = await interrupted(['status', '--api-key-file', fifo], { env, isReady });
    expect(ended).toMatchObject({ code: 130, stderr: 'runctl: interrupted\n' });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(emulator.requests).toEqual([]);
  });

  test('is not needed where a config file is a pipe: it is refused by name', async () => {
    const folder = temporaryFolder();
    await new Promise((resolve) => spawn('mkfifo', [join(folder, 'config.json')]).on('close', resolve));
    const ended = await runProgram(['config', 'list'], { env: { RUNCTL_CONFIG_DIR: folder } });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('config.json is not a regular file') });
  });

  test('while `watch -` waits for runs on standard input ends the program', async () => {
    const { env, emulator } = await withEmulator(slow);
    const child = spawn(process.execPath, [entry, 'watch', '-'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
    // More than the pipe holds: it is written once the program reads.
    await new Promise((resolve) => child.stdin.write('\n'.repeat(1_000_000), resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(emulator.requests).toEqual([]);
  });

  test('while the look-up of a name hangs ends the program', async (context) => {
    needs(context, 'unshare and ip', hasNamespaces && isInstalled('ip'));
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:30\n');
    // In a network of its own, with a name server that never answers.
    const [bound, asked] = [join(folder, 'bound'), join(folder, 'asked')];
    const silent = `const mark = (file) => () => require('fs').writeFileSync(file, '');
      const server = require('dgram').createSocket('udp4').on('message', mark('${asked}'));
      server.bind(53, mark('${bound}')); setTimeout(() => process.exit(), 30_000)`;
    const script = `ip link set lo up; mount --bind ${folder}/resolv.conf /etc/resolv.conf
      "$1" -e "${silent}" >/dev/null 2>&1 & until [ -e ${bound} ]; do sleep 0.02; done; exec "$@"`;
    const status = [process.execPath, entry, 'status', `${projectId}/nightly/${executionId}`];
    const ended = await interruptedCommand(['unshare', '-rmn', 'bash', '-c', script, 'bash', ...status], {
      env: { RUNCTL_BASE_URL: 'https://api.test', RUNCTL_API_KEY: 'a-key', PATH: process.env.PATH ?? '' },
      isReady: () => existsSync(asked),
    });
    // Node itself would wait for the look-up; for a shell this is 130 too.
    expect(ended).toMatchObject({ code: 'SIGINT', stderr: expect.stringMatching(/interrupted|stopped watching/) });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  });
});

test('a stop of the process (SIGSTOP) with a request in flight loses nothing: the answer is read when it continues', async () => {
  const { env, emulator } = await withEmulator({
    automations: { '*': { duration: '1ms' } },
    faults: [{ on: 'status', nth: 1, do: 'delay', delay: '1s' }],
  });
  const { stdout: id } = await runProgram(['trigger', 'nightly'], { env });
  let child: ChildProcess | undefined;
  const ended = runProcess(['watch', id.trim(), '--give-up-after', '1s'], {
    env: { ...env, RUNCTL_REQUEST_TIMEOUT: '1500ms' },
    onStart: (started) => {
      child = started;
    },
  });
  await vi.waitUntil(() => emulator.requests.some(({ method }) => method === 'GET'), longest);
  child?.kill('SIGSTOP');
  // Longer than the request may take, and than the service may be silent.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  child?.kill('SIGCONT');
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect(stdout).toContain('COMPLETED');
});

describe('a reader that', () => {
  test('has gone ends a watch quietly, and the run goes on', async () => {
    const { env, emulator } = await withEmulator(slow);
    const id = await trigger(env);
    const ended = await runProcess(['watch', id, '--events', '--interval', '20ms'], {
      env,
      onStart: (child) => child.stdout?.destroy(),
    });
    expect(ended.stderr).toBe('');
    expect(ended.tookMs).toBeLessThan(atOnceAfter((await runProcess(['status', id], { env })).tookMs));
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });

  test.each([['list'], ['result'], ['--help'], ['explain']])('has gone ends `%s` quietly', async (command) => {
    const { env } = await withEmulator({ automations: { '*': { output: 'x'.repeat(1_000_000), duration: '1ms' } } });
    await trigger(env);
    const { stderr, code } = await runProcess([command], { env, onStart: (child) => child.stdout?.destroy() });
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  test('never reads keeps the last word of a watch from being flushed, until a second Ctrl-C', async () => {
    const { env, emulator } = await withEmulator({
      automations: { '*': { duration: '1h', extra: { padding: 'x'.repeat(900_000) } } },
    });
    const id = await trigger(env);
    const args = [entry, 'watch', id, '--json', '--interval', '20ms'];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
    await vi.waitUntil(() => emulator.requests.length > 2, longest);
    child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    child.stdout.destroy();
  });

  test('never reads holds nothing that Ctrl-C does not end', async () => {
    const { env } = await withEmulator({ automations: { '*': { output: 'x'.repeat(1_000_000), duration: '1ms' } } });
    const id = await trigger(env);
    const child = spawn(process.execPath, [entry, 'result', id], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
    await new Promise((resolve) => child.stdout.once('readable', resolve));
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    child.stdout.destroy();
  });
});
