import { afterEach, expect, test, vi } from 'vitest';
import { runProcess, systemClock } from '../src/process.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const events = ['SIGHUP', 'SIGINT', 'SIGTERM', 'uncaughtException'] as const;
const emitters = [process, process.stdout, process.stderr] as const;
const listened = emitters.flatMap((emitter) => [...events, 'error'].map((event) => ({ emitter, event })));
let before: ReturnType<typeof listeners> = [];

const listeners = () => listened.map(({ emitter, event }) => emitter.rawListeners(event));

// This process goes on after the program has "ended": it must be as it was before.
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const [index, { emitter, event }] of listened.entries()) {
    const own = before[index] ?? [];
    for (const listener of emitter.rawListeners(event)) {
      if (!own.includes(listener)) emitter.off(event, listener as () => void);
    }
    for (const listener of own) {
      if (!emitter.rawListeners(event).includes(listener)) emitter.on(event, listener as () => void);
    }
  }
});

type Written = (error?: Error) => void;

/** Runs `runctl ...argv` as if this process were its own; `writeError` is what the end of stdout comes back with. */
function start(argv: string[], { writeError }: { writeError?: Error } = {}) {
  before = listeners();
  const folder = temporaryFolder();
  vi.stubEnv('RUNCTL_STATE_DIR', folder);
  vi.stubEnv('RUNCTL_CONFIG_DIR', folder);
  const argvBefore = process.argv;
  process.argv = ['node', 'runctl', ...argv];
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    const write = (text: string | Uint8Array, written?: unknown) => {
      texts[name] += text;
      if (typeof written === 'function') (written as Written)(name === 'stdout' ? writeError : undefined);
      return true;
    };
    vi.spyOn(process[name], 'write').mockImplementation(write);
  }
  const exits: unknown[] = [];
  const ended = new Promise<unknown>((resolve) => {
    const exit = (code: unknown): never => {
      exits.push(code);
      resolve(code);
      return undefined as never;
    };
    vi.spyOn(process, 'exit').mockImplementation(exit);
  });
  const running = runProcess();
  process.argv = argvBefore;
  return { texts, exits, ended: running.then(() => ended) };
}

test.each([
  [['explain', '12'], 0, /outcome_unknown/, /^$/],
  [['nonsense'], 2, /^$/, /nonsense/],
  [['__complete', 'fish', 'expl'], 0, /^explain\t/, /^$/],
])('the process of `runctl %j` exits with %i after all its output', async (argv, code, out, err) => {
  const { texts, ended } = start(argv);
  expect(await ended).toBe(code);
  expect(texts.stdout).toMatch(out);
  expect(texts.stderr).toMatch(err);
});

test.each([
  ['ENOSPC', 74, /the output couldn't be written: ENOSPC/],
  ['EPIPE', 0, /^$/],
])('output that ends in %s makes the process end with %i', async (code, exitCode, err) => {
  const { texts, ended } = start(['explain', '12'], { writeError: Object.assign(new Error(code), { code }) });
  expect(await ended).toBe(exitCode);
  expect(texts.stderr).toMatch(err);
});

test('one Ctrl-C lets the program end by itself, and a second one ends the process at once', async () => {
  const { texts, exits, ended } = start(['emulator', '--quiet']);
  await vi.waitUntil(() => texts.stdout.includes('RUNCTL_PROJECT'), { timeout: 10_000, interval: 5 });
  process.emit('SIGINT', 'SIGINT');
  expect([exits, texts.stderr]).toEqual([[], '']);
  process.emit('SIGINT', 'SIGINT');
  expect([exits, texts.stderr]).toEqual([[130], '']);
  await ended;
});

test('an uncaught error is reported as a bug, and the process exits with 70', async () => {
  const { texts, exits, ended } = start(['emulator', '--quiet']);
  await vi.waitUntil(() => texts.stdout.includes('RUNCTL_PROJECT'), { timeout: 10_000, interval: 5 });
  // The program's own listeners: that of the test runner would fail the test, and an end takes those of signals away.
  const [onError, onSignal] = [process.listeners('uncaughtException').at(-1), process.listeners('SIGTERM').at(-1)];
  onError?.(new Error('a surprise'), 'uncaughtException');
  await vi.waitUntil(() => exits.length > 0, { timeout: 10_000, interval: 5 });
  expect(exits).toEqual([70]);
  expect(texts.stderr).toContain('bug in runctl');
  expect(texts.stderr).toContain('a surprise');
  onSignal?.('SIGTERM');
  await ended;
});

test.each([0, Number.MAX_SAFE_INTEGER])('a sleep of %d ms ends when the signal aborts', async (ms) => {
  const abort = new AbortController();
  const sleep = systemClock.sleep(ms, abort.signal);
  abort.abort();
  await expect(sleep).resolves.toBeUndefined();
  await expect(systemClock.sleep(ms, abort.signal)).resolves.toBeUndefined();
});

test('a sleep that is longer than the longest timer does not end at once', async () => {
  const abort = new AbortController();
  let isAwake = false;
  const sleep = systemClock.sleep(2 ** 31, abort.signal).then(() => {
    isAwake = true;
  });
  await systemClock.sleep(2);
  expect(isAwake).toBe(false);
  abort.abort();
  await sleep;
});
