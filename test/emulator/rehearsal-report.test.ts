import { afterEach, expect, test } from 'vitest';
import { createReport, reportText } from '../../src/emulator/rehearsal-report.ts';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';

const running: Emulator[] = [];
afterEach(async () => {
  for (const emulator of running.splice(0)) await emulator.close();
});

/** An emulator that reports, on a clock that the test moves, and a client that does what it is told. */
async function start(scenario: Scenario) {
  const report = createReport();
  let now = Date.UTC(2026, 10, 21, 9);
  const emulator = await startEmulator({ scenario, report, nowMs: () => now });
  running.push(emulator);
  const headers = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json', connection: 'close' };
  const url = `${emulator.url}/v0/automation/${emulator.projectId}/nightly`;
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}/${path}`, init)
      .then((response) => response.text())
      .catch(() => '');
  let lastId = '';
  return {
    async trigger(key?: string, signal?: AbortSignal) {
      const body = { method: 'POST', body: '{}', headers: { ...headers, ...(key && { 'idempotency-key': key }) } };
      const [, id] = /"executionId":"([^"]+)"/.exec(await ask('trigger', { ...body, signal })) ?? [];
      lastId = id ?? emulator.runs().at(-1)?.executionId ?? '';
    },
    read: (path = '') => ask(`executions/${lastId}${path}`, { headers }),
    pass(seconds: number) {
      now += seconds * 1000;
    },
    facts: (exitCode: number | null = 0) => report.document(emulator.runs(), exitCode),
  };
}

const loses = (fault: object): Scenario => ({
  automations: { '*': { duration: '5s' } },
  idempotencyKeys: 'ignored',
  faults: [{ on: 'trigger', nth: 1, ...fault } as never],
});

test.each([
  { do: 'loseAnswer' },
  { do: 'truncate' },
  { do: 'wrongJson' },
  { do: 'status', status: 502, acts: true },
  { do: 'close', acts: true },
])('a run that starts after the answer to an earlier one was lost by %j is started twice', async (fault) => {
  const client = await start(loses(fault));
  await client.trigger();
  client.pass(10);
  await client.trigger();
  expect(client.facts().automations).toMatchObject([{ triggers: 2, runsStarted: 2, startedTwice: 1 }]);
});

test('a run is not started twice if the earlier one was read before, and each lost answer counts once', async () => {
  const client = await start(loses({ do: 'loseAnswer', nth: undefined, to: 2 }));
  await client.trigger();
  await client.read();
  client.pass(10);
  await client.trigger();
  expect(client.facts().automations).toMatchObject([{ runsStarted: 2, startedTwice: 0 }]);
  client.pass(10);
  await client.trigger();
  client.pass(10);
  await client.trigger();
  expect(client.facts().automations).toMatchObject([{ runsStarted: 4, startedTwice: 1 }]);
});

test('a trigger that is refused, or that no run came of, makes none start twice', async () => {
  const client = await start(loses({ do: 'reset' }));
  await client.trigger();
  await client.trigger();
  await client.trigger();
  expect(client.facts().automations).toMatchObject([{ triggers: 3, runsStarted: 1, startedTwice: 0 }]);
});

test('an answer that the client did not wait for is lost', async () => {
  const client = await start(loses({ do: 'delay', delay: '1h' }));
  const leaves = new AbortController();
  const triggered = client.trigger('a', leaves.signal);
  await expect.poll(() => client.facts().automations[0]?.runsStarted).toBe(1);
  leaves.abort();
  await triggered;
  client.pass(10);
  await client.trigger('b');
  expect(client.facts().automations).toMatchObject([{ idempotencyKeys: 2, startedTwice: 1 }]);
});

test('the end of a run is read by a whole answer with a final status, and only by one', async () => {
  const client = await start({ automations: { '*': { duration: '5s', outcome: 'FAILED' } } });
  await client.trigger('key');
  await client.read();
  await client.trigger('key');
  expect(client.facts().automations).toMatchObject([
    { triggers: 2, idempotencyKeys: 1, triggersWithoutKey: 0, endsUnread: 0, runs: [{ status: 'RUNNING' }] },
  ]);
  client.pass(10);
  await client.trigger('key');
  expect(client.facts().automations).toMatchObject([{ endsUnread: 1, runs: [{ status: 'FAILED', endRead: false }] }]);
  await client.read('/result');
  expect(client.facts(1)).toMatchObject({
    exitCode: 1,
    requests: 5,
    automations: [{ endsUnread: 0, runs: [{ status: 'FAILED', endRead: true }] }],
  });
});

test('in words, the report is one line for the command and one for each automation', async () => {
  const client = await start(loses({ do: 'loseAnswer' }));
  await client.trigger();
  client.pass(10);
  await client.trigger('key');
  expect(reportText(client.facts(0))).toBe(
    'report: 2 requests, exit code 0\n' +
      '  nightly: 2 triggers with 1 key (1 without), 2 runs started (1 twice), 1 COMPLETED, 1 RUNNING, 1 end never read\n',
  );
  expect(reportText({ exitCode: null, requests: 0, automations: [] })).toBe('report: 0 requests\n');
});
