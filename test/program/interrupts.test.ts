// Where Ctrl-C or another signal can strike, and what is said then. That a signal reaches the program, and that nothing keeps
// the process after it, is tested in test/e2e.
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/process.ts';
import { exitCodeOf, signalExits } from '../../src/run/exit-codes.ts';
import type { Clock } from '../../src/system/clock.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import type { FaultyEmulator } from '../fault-kit/start.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { atOnceMs } from '../helpers/real-time.ts';
import { runProgram } from '../helpers/run-program.ts';

interface Interruption {
  env: Record<string, string>;
  emulator: FaultyEmulator;
  /** So many requests have to be sent before. */
  requests?: number;
  /** And a pause of a second or more has to be begun, or of so many milliseconds. */
  pauses?: boolean | number;
  signal?: keyof typeof signalExits;
}

/** The program, interrupted as soon as it is ready for that; fails where it does not end at once. */
async function interrupted(argv: string[], when: Interruption) {
  const { env, emulator, requests = 0, pauses = false, signal = 'SIGINT' } = when;
  const before = emulator.requests.length;
  const isAsked = () => emulator.requests.length >= before + requests;
  const interrupt = new AbortController();
  let isPaused = false;
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      const isPause = ms >= (typeof pauses === 'number' ? pauses : 1_000);
      isPaused ||= isPause;
      // The last pause doesn't end by itself, so that one that outlasts the signal is seen.
      return systemClock.sleep(isPause && isAsked() ? 3_600_000 : ms, signal);
    },
  };
  const running = runProgram(argv, { env, clock, signal: interrupt.signal });
  const isReady = () => isAsked() && isPaused >= Boolean(pauses);
  await vi.waitUntil(isReady, { timeout: 20_000, interval: 5 });
  const abortedMs = performance.now();
  interrupt.abort(signal);
  const ended = await running;
  expect(ended.code).toBe(exitCodeOf(signalExits[signal]));
  expect(performance.now() - abortedMs).toBeLessThan(atOnceMs);
  return ended;
}

const slow: Scenario = { automations: { '*': { duration: '1h' } } };
const quick: Scenario = { automations: { '*': { duration: '1ms' } } };
const hangs = (on: 'status' | 'result'): Scenario => ({ ...slow, faults: [{ on, do: 'hang' }] });
const trigger = async (env: Record<string, string>, name = 'nightly') =>
  (await runProgram(['trigger', name, '-q'], { env })).stdout.trim();
const statesOf = (emulator: FaultyEmulator) => emulator.runs().map(({ status }) => status);

describe('Ctrl-C', () => {
  test.each<[string, Scenario, string[], Partial<Interruption>]>([
    ['a poll hangs', hangs('status'), ['trigger', 'nightly', '--watch', '--interval', '20ms'], { requests: 2 }],
    [
      'a result hangs',
      { ...hangs('result'), ...quick },
      ['trigger', 'nightly', '--watch', '--interval', '20ms'],
      { requests: 3 },
    ],
    ['nothing is printed', slow, ['trigger', 'nightly', '--watch', '-q'], { requests: 1, pauses: true }],
  ])(
    'of a `trigger --watch` while %s names the run and the command that takes it up again',
    async (_, scenario, args, when) => {
      const { env, emulator } = await withEmulator(scenario, { nowMs: Date.now });
      const { stderr } = await interrupted(args, { env, emulator, ...when });
      expect(stderr).toMatch(new RegExp(`runctl (watch|result) ${emulator.runs()[0]?.executionId}`));
      expect(emulator.runs()).toHaveLength(1);
    },
  );

  test('while --if-active waits for the slot starts nothing', async () => {
    const { env, emulator } = await withEmulator(slow);
    await trigger(env);
    const args = ['trigger', 'nightly', '--if-active', 'wait', '--json'];
    const { stdout } = await interrupted(args, { env, emulator, requests: 1, pauses: true });
    expect(JSON.parse(stdout)).toMatchObject({ runctl: { trigger: { started: 'no' } } });
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });

  test('while a trigger in doubt waits for the slot leaves it unresolved', async () => {
    const lost: Scenario = {
      order: 'activeFirst',
      namesActiveRun: true,
      faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
    };
    const { env, emulator } = await withEmulator({ ...slow, ...lost });
    const argv = ['trigger', 'nightly', '--if-active', 'wait', '--json'];
    const { stdout } = await interrupted(argv, { env, emulator, requests: 3, pauses: true });
    const [{ runctl }] = jsonLines(stdout) as [{ runctl: object }];
    const next = `runctl recover ${env.RUNCTL_PROJECT}/nightly --resend`;
    expect(runctl).toMatchObject({ trigger: { how: 'unknown', started: 'unknown' }, next });
  });

  test('between two attempts of a trigger starts nothing where nothing was in doubt', async () => {
    const faults: Scenario['faults'] = [{ on: 'trigger', do: 'status', status: 429, headers: { 'retry-after': '20' } }];
    const { env, emulator } = await withEmulator({ ...slow, faults });
    const args = ['trigger', 'nightly', '--json'];
    const { stdout } = await interrupted(args, { env, emulator, requests: 1, pauses: true });
    expect(JSON.parse(stdout)).toMatchObject({ runctl: { trigger: { started: 'no' } } });
    expect(await runProgram(['recover', '--json'], { env })).toMatchObject({ code: 0, stdout: '' });
  });

  test('during `recover` leaves the trigger unresolved', async () => {
    const faults: Scenario['faults'] = [{ on: 'trigger', to: 2, do: 'hang', acts: true }];
    const { env, emulator } = await withEmulator({ ...slow, faults });
    await interrupted(['trigger', 'nightly'], { env, emulator, requests: 1 });
    const { stdout } = await interrupted(['recover', '--json'], { env, emulator, requests: 1 });
    expect(jsonLines(stdout)).toMatchObject([{ runctl: { outcome: 'interrupted', trigger: { started: 'unknown' } } }]);
    expect((await runProgram(['recover'], { env })).stdout.trim()).toBe(emulator.runs()[0]?.executionId);
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });

  test.each(['status', 'result'] as const)('of a `%s` that hangs ends it', async (command) => {
    const { env, emulator } = await withEmulator(hangs(command));
    const id = await trigger(env);
    const { stdout } = await interrupted([command, id, '--json'], { env, emulator, requests: 1 });
    expect(JSON.parse(stdout)).toMatchObject({ executionId: id, runctl: { problem: { name: 'interrupted' } } });
  });

  test('of a `list` that polls ends it, with no list that looks whole', async () => {
    const { env, emulator } = await withEmulator(hangs('status'));
    await trigger(env);
    const { stdout } = await interrupted(['list', '--json'], { env, emulator, requests: 1 });
    expect(jsonLines(stdout)).toMatchObject([{ runctl: { problem: { name: 'interrupted' } } }]);
  });

  test('of a watch of several runs reports each of them, with the command that resumes it', async () => {
    const { env, emulator } = await withEmulator(slow);
    const ids = [await trigger(env, 'a'), await trigger(env, 'b')];
    const args = ['watch', ...ids, '--json', '--interval', '20ms'];
    const { stdout, stderr } = await interrupted(args, { env, emulator, requests: 3 });
    expect(jsonLines(stdout).map(({ executionId }) => executionId)).toEqual(ids);
    expect(stderr.match(/(?<=^ {2}-> ).*/gm)).toEqual(ids.map((id) => `runctl watch ${id}`));
  });
});

describe.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  test('while a trigger is on its way leaves an unresolved one, which `recover` resolves', async () => {
    const faults: Scenario['faults'] = [{ on: 'trigger', nth: 1, do: 'hang', acts: true }];
    const { env, emulator } = await withEmulator({ ...slow, faults });
    const ended = await interrupted(['trigger', 'nightly', '--json'], { env, emulator, signal, requests: 1 });
    expect(ended.stderr).toContain('runctl recover');
    expect(JSON.parse(ended.stdout).runctl).toMatchObject({ exitCode: ended.code, trigger: { started: 'unknown' } });
    const recovered = await runProgram(['recover'], { env });
    expect(recovered).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
    expect(statesOf(emulator)).toEqual(['RUNNING']);
  });

  test('while the result is waited for reports how the run finished, and no more', async () => {
    const { env, emulator } = await withEmulator({ ...quick, faults: [{ on: 'result', do: 'hang' }] });
    const id = await trigger(env);
    const { stdout, stderr } = await interrupted(['watch', id], { env, emulator, signal, requests: 2 });
    expect(stdout).toContain('COMPLETED nightly');
    expect(stderr).toContain(`runctl result ${id}`);
  });
});

test('Ctrl-C while the run of an earlier key is polled is what its document says', async () => {
  const { env, emulator } = await withEmulator(hangs('status'));
  const argv = ['trigger', 'nightly', '--idempotency-key', 'k', '--json'];
  await runProgram(argv, { env });
  const { stdout } = await interrupted(argv, { env, emulator, requests: 1 });
  expect(JSON.parse(stdout).runctl).toMatchObject({ outcome: 'interrupted', trigger: { how: 'replayed' } });
});

test.each(['trigger weekly --watch', 'watch nightly', 'watch --all'])(
  'a reader that leaves ends `%s`, and the run continues',
  async (line) => {
    const { env, emulator, clock } = await withEmulator(slow);
    await trigger(env);
    const reader = new AbortController();
    const polls = () => emulator.requests.filter(({ method }) => method === 'GET').length;
    const sleep: Clock['sleep'] = (ms, signal) => {
      if (polls() > 1) reader.abort('SIGPIPE');
      return clock.sleep(ms, signal);
    };
    const argv = [...line.split(' '), '--json'];
    const { code } = await runProgram(argv, { env, clock: { ...clock, sleep }, reader: reader.signal });
    expect([code, polls(), new Set(statesOf(emulator))]).toEqual([141, 2, new Set(['RUNNING'])]);
  },
);
