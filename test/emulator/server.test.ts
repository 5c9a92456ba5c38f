import { createServer } from 'node:net';
import { Agent, request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import { type AutomationPlan, createService } from '../../src/emulator/service.ts';
import { faultsOfReply, faultsOfRequest } from './conformity.ts';
import { project } from './harness.ts';

const morningMs = Date.UTC(2026, 10, 21, 9);

/** An emulator on a clock that the test moves, and a client of it. */
async function start(plan: AutomationPlan = {}, options: Partial<EmulatorOptions> = {}) {
  let now = morningMs;
  const service = createService({ '*': plan }, ['key-1']);
  const emulator = await startEmulator({ service, nowMs: () => now, ...options });
  // Its own connections: one that another test left could lead to a server that had this port before.
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await emulator.close();
    await dispatcher.destroy();
  });

  const urlOf = (name: string, rest: string) => `/v0/automation/${project}/${encodeURIComponent(name)}/${rest}`;
  async function send(method: 'GET' | 'POST', url: string, { key = '', host = '', body = '{}' } = {}) {
    const common = { 'x-api-key': 'key-1', ...(key && { 'idempotency-key': key }), ...(host && { host }) };
    const headers = method === 'POST' ? { ...common, 'content-type': 'application/json' } : common;
    const sent = { method, headers, body: method === 'POST' ? body : undefined };
    const answer = await request(`${emulator.url}${url}`, { ...sent, dispatcher, reset: true });
    const text = await answer.body.text();
    const reply = { status: answer.statusCode, headers: answer.headers as Record<string, string>, body: text };
    expect(faultsOfReply({ method, url, headers, body }, reply)).toEqual([]);
    return { ...reply, sent: { method, url, headers, body }, json: () => JSON.parse(text) };
  }

  let executionId = '';
  return {
    emulator,
    pass: (ms: number) => {
      now += ms;
    },
    /** Starts a run, or not, and remembers it. */
    async trigger(name = 'nightly', sending?: Parameters<typeof send>[2]) {
      const reply = await send('POST', urlOf(name, 'trigger'), sending);
      executionId = reply.status === 201 ? reply.json().executionId : executionId;
      return reply;
    },
    status: (name = 'nightly') => send('GET', urlOf(name, `executions/${executionId}`)),
    result: (name = 'nightly') => send('GET', urlOf(name, `executions/${executionId}/result`)),
  };
}

describe('the emulator over HTTP', () => {
  test('serves a run from its trigger to its result, and every message conforms to the OpenAPI document', async () => {
    const { trigger, status, result, pass, emulator } = await start({}, { speed: 60 });
    const created = await trigger('a/b ü', { key: 'k' });
    expect(faultsOfRequest(created.sent)).toEqual([]);
    pass(1000);
    expect((await status('a/b ü')).json()).toMatchObject({ status: 'COMPLETED', automationName: 'a/b ü' });
    expect((await result('a/b ü')).json()).toMatchObject({ status: 'COMPLETED', output: expect.any(String) });
    expect(emulator.runs()).toMatchObject([{ idempotencyKey: 'k', status: 'COMPLETED' }]);
  });

  test('uses one clock for the start of a run and the Date header, at any speed', async () => {
    const { trigger, pass } = await start({}, { speed: 1200 });
    pass(30_000);
    const { headers, json } = await trigger();
    expect([json().createdAt, headers.date]).toEqual(['2026-11-21T09:00:30.000Z', 'Sat, 21 Nov 2026 09:00:30 GMT']);
  });

  test('reports a request in a line that names the run and has no API key', async () => {
    const lines: string[] = [];
    const { trigger, emulator } = await start({ losesFirst: ['trigger'] }, { onRequest: (line) => lines.push(line) });
    await expect(trigger('nightly', { key: 'k' })).rejects.toThrow(/ECONNRESET/);
    await trigger('nightly', { key: 'k' });
    await trigger();
    const [{ executionId } = { executionId: '' }] = emulator.runs();
    const run = executionId.slice(0, 8);
    expect(lines).toEqual([
      `trigger nightly: 201 RUNNING ${run} (response lost)`,
      `trigger nightly: 201 RUNNING ${run}`,
      'trigger nightly: 422 runAlreadyActive',
    ]);
  });

  test.each([
    ['127.0.0.1:8080', 201],
    ['localhost', 201],
    ['[::1]:80', 201],
    ['evil.example', 421],
    ['127.0.0.1.evil.example:80', 421],
    ['localhost@evil.example', 421],
  ])('answers a request for the host %j with %d', async (host, status) => {
    const { trigger, emulator } = await start();
    expect((await trigger('nightly', { host })).status).toBe(status);
    expect(emulator.runs()).toHaveLength(status === 201 ? 1 : 0);
  });

  test('closes the connection to a client that sends more than 1 MiB', async () => {
    const { trigger, emulator } = await start();
    const sending = trigger('nightly', { body: `"${'x'.repeat(2 ** 20)}"` });
    await expect(sending).rejects.toThrow(/other side closed|ECONNRESET|EPIPE/);
    expect(emulator.runs()).toEqual([]);
  });
});

describe('the summary', () => {
  /** Triggers, runs, runs started twice, and results that were not read. */
  const countsIn = (summary: string) => (summary.match(/\d+/g) ?? []).map(Number);

  test('counts triggers and runs, and a result as read once the client has it', async () => {
    const { trigger, status, result, pass, emulator } = await start();
    expect(emulator.summary()).toBe('emulator: 0 triggers, 0 runs, 0 runs started twice, 0 results not read');
    for (const request of [trigger, trigger, result]) await request();
    expect(countsIn(emulator.summary())).toEqual([2, 1, 0, 0]);
    pass(20_000);
    await status();
    expect(countsIn(emulator.summary())).toEqual([2, 1, 0, 1]);
    await result();
    expect(countsIn(emulator.summary())).toEqual([2, 1, 0, 0]);
  });

  test('counts a run as started twice if the client never received the one before', async () => {
    const { trigger, pass, emulator } = await start({ losesFirst: ['trigger'] });
    for (const key of ['k', 'l', 'l', 'm']) {
      await trigger('nightly', { key }).catch(() => {});
      pass(20_000);
    }
    expect(countsIn(emulator.summary()).slice(0, 3)).toEqual([4, 3, 1]);
  });

  test('counts no run that was started elsewhere', async () => {
    const { trigger, pass, emulator } = await start({ activeElsewhereMs: 10_000 });
    expect((await trigger()).status).toBe(422);
    pass(10_000);
    expect((await trigger()).status).toBe(201);
    expect(countsIn(emulator.summary()).slice(0, 3)).toEqual([2, 1, 0]);
  });
});

test('the emulator refuses a port in use, naming it', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void holder.close());
  const { port } = holder.address() as { port: number };
  await expect(start({}, { port })).rejects.toMatchObject({
    facts: {
      name: 'usage',
      message: expect.stringContaining(`port ${port} of 127.0.0.1: it is in use`),
    },
  });
});

test('the emulator can be reached from this machine only, and can be closed twice', async () => {
  const { emulator } = await start();
  expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await emulator.close();
  await expect(emulator.close()).resolves.toBeUndefined();
});
