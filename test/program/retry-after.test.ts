// A service that asks for a wait: what a watch says of it, and how long it waits.
import { expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { startFaultyServer, wireAnswer } from '../helpers/faulty-server.ts';
import { withMachine } from '../helpers/machine.ts';
import { executionId } from '../helpers/scripted-service.ts';

const watched = 'trigger nightly --watch --interval 10s';

/** The second poll is answered with a 503 that asks for a wait. */
const busy = (seconds: number, nth = 2): Scenario => ({
  automations: { '*': { duration: '15m' } },
  faults: [{ on: 'status', nth, do: 'status', status: 503, headers: { 'retry-after': String(seconds) } }],
});

test.each([
  ['an hour is waited for ten minutes at a time, and said with its end', 3600, /in 10m, at \d{4}-.* \+0000/],
  ['a minute and a half is waited for whole', 90, /in 1m 30s, at/],
  ['half a minute is not worth a line', 30, /^$/],
])('with --quiet, %s', async (_, seconds, said) => {
  const { run, clock } = await withMachine(busy(seconds));
  const startMs = clock.elapsedMs();
  const { code, stderr } = await run(`${watched} --quiet`);
  expect([code, stderr]).toEqual([0, expect.stringMatching(said)]);
  expect(clock.elapsedMs() - startMs).toBeLessThan(17 * 60_000);
});

test('the first poll comes no earlier than the response to the trigger asks', async () => {
  const { run, clock } = await withMachine();
  const atMs: number[] = [];
  const server = await startFaultyServer((socket, request) => {
    atMs.push(clock.elapsedMs());
    const isTrigger = request.startsWith('POST');
    const document = JSON.stringify({ executionId, status: isTrigger ? 'RUNNING' : 'COMPLETED' });
    socket.write(wireAnswer(document, isTrigger ? 'HTTP/1.1 201 Created\r\nretry-after: 50' : undefined));
  });
  const { code } = await run(watched, { env: { RUNCTL_BASE_URL: server.origin } });
  const [trigger = 0, poll = 0] = atMs;
  expect([code, Math.floor((poll - trigger) / 1000)]).toEqual([0, 50]);
});
