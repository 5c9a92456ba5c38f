// A service that asks for a wait: what a watch says of it, and how long it waits.
import { expect, test } from 'vitest';
import type { Fault } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { startFaultyServer, wireAnswer } from '../helpers/faulty-server.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId } from '../helpers/scripted-service.ts';

const busy = (seconds: number, more: object = {}): Fault => ({
  on: 'status',
  nth: 2,
  do: 'status',
  status: 503,
  headers: { 'retry-after': String(seconds) },
  ...more,
});
const argv = ['trigger', 'nightly', '--watch', '--interval', '10s'];

test.each([
  ['an hour is waited for ten minutes at a time, and said with its end', 3600, /resumes in 10m, at \d{4}-.* \+0000/],
  ['a minute and a half is waited for whole', 90, /resumes in 1m 30s, at/],
  ['half a minute is not worth a line', 30, undefined],
])('with --quiet, %s', async (_, seconds, said) => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '15m' } }, faults: [busy(seconds)] });
  const startMs = clock.elapsedMs();
  const { code, stderr } = await runProgram([...argv, '--quiet'], { env, clock });
  expect(code).toBe(0);
  if (said) expect(stderr).toMatch(said);
  else expect(stderr).toBe('');
  expect(clock.elapsedMs() - startMs).toBeLessThan(17 * 60_000);
});

test('the warning of a long wait is in the document of its run', async () => {
  const { env, clock, emulator } = await withEmulator({
    automations: { '*': { duration: '15m' } },
    faults: [busy(3600)],
  });
  const { stdout } = await runProgram([...argv, '--json'], { env, clock });
  const [{ executionId, runctl }] = jsonLines(stdout);
  expect(executionId).toBe(emulator.runs()[0]?.executionId);
  expect(runctl.warnings).toMatchObject([{ name: 'retry_after' }]);
});

test('a signal names the wait that it ends', async () => {
  const { env, clock, emulator } = await withEmulator({
    automations: { '*': { duration: '3h' } },
    faults: [busy(3600, { nth: 1 })],
  });
  const interrupt = new AbortController();
  const sleep: typeof clock.sleep = async (ms, signal) => {
    if (emulator.requests.length > 1) interrupt.abort('SIGTERM');
    return clock.sleep(ms, signal);
  };
  const ended = await runProgram(argv, { env, clock: { ...clock, sleep }, signal: interrupt.signal });
  expect(ended.code).toBe(143);
  expect(ended.stderr).toMatch(/the run continues \(it was waiting until \d{4}-.* \+0000, as the service had asked\)/);
});

test('the first poll comes no earlier than the answer to the trigger asks', async () => {
  const { env, clock } = await withEmulator({});
  const atMs: number[] = [];
  const server = await startFaultyServer((socket, request) => {
    atMs.push(clock.elapsedMs());
    const isTrigger = request.startsWith('POST');
    const document = JSON.stringify({ executionId, status: isTrigger ? 'RUNNING' : 'COMPLETED' });
    socket.write(wireAnswer(document, isTrigger ? 'HTTP/1.1 201 Created\r\nretry-after: 50' : undefined));
  });
  const { code } = await runProgram(argv, { env: { ...env, RUNCTL_BASE_URL: server.origin }, clock });
  const [trigger = 0, poll = 0] = atMs;
  expect([code, Math.floor((poll - trigger) / 1000)]).toEqual([0, 50]);
});
