import { createServer } from 'node:net';
import { request } from 'undici';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { InjectedFault, Scenario } from '../../src/emulator/scenario.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import { Problem } from '../../src/problems/problem.ts';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';
import { faultsOfReply, faultsOfRequest } from './conformity.ts';
import { objectNames } from './object-names.ts';

const running: Emulator[] = [];
afterEach(async () => {
  for (const emulator of running.splice(0)) await emulator.close();
});

async function start(scenario: Scenario = {}, options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await startEmulator({ scenario, keepsRequests: true, ...options });
  running.push(emulator);
  return emulator;
}

const triggerUrl = ({ url, projectId }: Emulator, name = 'nightly') =>
  `${url}/v0/automation/${projectId}/${encodeURIComponent(name)}/trigger`;

interface Sending {
  signal?: AbortSignal;
  host?: string;
  body?: string;
}

function trigger(emulator: Emulator, name?: string, { signal, host, body = '{}' }: Sending = {}) {
  const common = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json', 'idempotency-key': 'k' };
  const headers = host === undefined ? common : { ...common, host };
  return request(triggerUrl(emulator, name), { method: 'POST', headers, body, signal, reset: true });
}

describe('over HTTP', () => {
  test('the beginning of a run and the date of an answer are by one clock, however fast runs go', async () => {
    let now = Date.UTC(2026, 10, 21, 9);
    const emulator = await start({}, { nowMs: () => now, speed: 1200 });
    now += 30_000;
    const { headers, body } = await trigger(emulator);
    expect(await body.json()).toMatchObject({ createdAt: '2026-11-21T09:00:30.000Z' });
    expect(headers.date).toBe('Sat, 21 Nov 2026 09:00:30 GMT');
  });

  test('a run is followed from its trigger to its result, and every message conforms', async () => {
    let now = Date.UTC(2026, 10, 21, 9);
    const emulator = await start({}, { nowMs: () => now, speed: 60 });
    const answers = [await trigger(emulator, 'a/b ü')];
    const created = (await answers[0]?.body.json()) as { executionId: string };
    now += 1000;
    const statusUrl = triggerUrl(emulator, 'a/b ü').replace('trigger', `executions/${created.executionId}`);
    const documents: Record<string, unknown>[] = [];
    for (const url of [statusUrl, `${statusUrl}/result`]) {
      const { statusCode, headers, body } = await request(url, { headers: { 'x-api-key': emulator.apiKey } });
      const text = await body.text();
      documents.push(JSON.parse(text));
      const recorded = emulator.requests.at(-1);
      if (!recorded) throw new Error('nothing was recorded');
      const reply = { status: statusCode, headers: headers as Record<string, string>, body: text };
      expect(faultsOfReply(recorded, reply)).toEqual([]);
    }
    expect(documents).toMatchObject([
      { status: 'COMPLETED', automationName: 'a/b ü', completedAt: '2026-11-21T09:00:20.000Z' },
      { status: 'COMPLETED', output: expect.any(String) },
    ]);
    expect(emulator.requests.map(({ status }) => status)).toEqual([201, 200, 200]);
    for (const recorded of emulator.requests) expect(faultsOfRequest(recorded)).toEqual([]);
    expect(emulator.runs()).toMatchObject([{ idempotencyKey: 'k', status: 'COMPLETED' }]);
  });

  test('a request is reported in a line that holds no key', async () => {
    const lines: string[] = [];
    const faults: InjectedFault[] = [{ nth: 1, do: 'status', status: 502 }];
    const emulator = await start({ faults }, { onRequest: (line) => lines.push(line), apiKey: 'secret' });
    await (await trigger(emulator)).body.dump();
    await (await trigger(emulator)).body.dump();
    expect(lines).toEqual(['trigger nightly: 502 (status)', 'trigger nightly: 201 RUNNING']);
  });

  test('the rate limit counts real time, however fast the clock', async () => {
    let now = Date.UTC(2026, 10, 21, 9);
    const emulator = await start({ rateLimit: { requests: 1, window: '10s' } }, { nowMs: () => now, speed: 3600 });
    await (await trigger(emulator, 'a')).body.dump();
    now += 4000;
    const refused = await trigger(emulator, 'b');
    await refused.body.dump();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('6');
    expect(refused.headers.date).toBe('Sat, 21 Nov 2026 09:00:04 GMT');
  });

  test.each([
    ['127.0.0.1:8080', 201],
    ['localhost', 201],
    ['[::1]:80', 201],
    ['evil.example', 421],
    ['127.0.0.1.evil.example:80', 421],
    ['localhost@evil.example', 421],
    ['', 421],
  ])('a request for the host %j is answered %d', async (host, status) => {
    const emulator = await start();
    expect((await trigger(emulator, 'nightly', { host })).statusCode).toBe(status);
    expect(emulator.runs()).toHaveLength(status === 201 ? 1 : 0);
  });

  test('requests are kept only for who asks for them', async () => {
    const emulator = await start({}, { keepsRequests: undefined });
    await (await trigger(emulator)).body.dump();
    expect(emulator.requests).toEqual([]);
    expect(emulator.runs()).toHaveLength(1);
  });

  test('a caller who sends more than 1 MiB is cut off', async () => {
    const emulator = await start();
    const sending = trigger(emulator, 'nightly', { body: `"${'x'.repeat(2 ** 20)}"` });
    await expect(sending).rejects.toThrow(/other side closed|ECONNRESET|EPIPE/);
    expect(emulator.requests).toEqual([]);
  });

  test.each(objectNames)('a planned header may be called %s', async (name) => {
    const headers = { 'x-before': '1', ...Object.fromEntries([[name, 'kept']]) };
    const emulator = await start({ faults: [{ do: 'status', status: 502, headers }] });
    const sent = await fetch(triggerUrl(emulator), { headers: { 'x-api-key': emulator.apiKey }, method: 'POST' });
    expect(sent.headers.get(name)).toBe('kept');
  });

  test('a caller who leaves does no harm', async () => {
    const emulator = await start({ faults: [{ to: 3, do: 'delay', delay: '20ms' }] });
    for (const number of [1, 2, 3]) {
      const caller = new AbortController();
      const answer = trigger(emulator, 'a', { signal: caller.signal }).catch(({ name }: Error) => name);
      await vi.waitUntil(() => emulator.requests.length === number, { interval: 1, timeout: 10_000 });
      caller.abort();
      expect(await answer).toBe('AbortError');
    }
    expect((await trigger(emulator)).statusCode).toBe(422);
  });
});

describe('a fault on the wire', () => {
  /** For what would hang; whatever ends by itself has time enough. */
  const limit = ({ do: what }: InjectedFault) =>
    AbortSignal.timeout(/hang|delay/.test(what) ? shortLimitMs : ampleLimitMs);

  test.each<[InjectedFault, RegExp]>([
    [{ do: 'reset' }, /ECONNRESET/],
    [{ do: 'loseAnswer' }, /ECONNRESET/],
    [{ do: 'close' }, /other side closed/],
    [{ do: 'hang' }, /aborted due to timeout/],
    [{ do: 'delay', delay: '60d' }, /aborted due to timeout/],
  ])('%j leaves the caller without an answer', async (fault, message) => {
    const emulator = await start({ faults: [fault] });
    await expect(trigger(emulator, 'nightly', { signal: limit(fault) })).rejects.toThrow(message);
  });

  test.each<[InjectedFault, RegExp]>([
    [{ do: 'truncate' }, /body length does not match|other side closed/],
    [{ do: 'hangBody' }, /waited long enough/],
    [{ do: 'drip', gap: '1s' }, /waited long enough/],
  ])('%j leaves the caller with the head of an answer', async (fault, message) => {
    const emulator = await start({ faults: [fault] });
    const abort = new AbortController();
    // A drip shows no head before its first byte.
    const whole = trigger(emulator, 'nightly', { signal: abort.signal }).then(async ({ statusCode, body }) => {
      expect(statusCode).toBe(201);
      return body.text();
    });
    const isRejected = expect(whole).rejects.toThrow(message);
    await vi.waitUntil(() => emulator.runs().length === 1, { timeout: ampleLimitMs });
    setTimeout(() => abort.abort(new Error('waited long enough')), shortLimitMs);
    await isRejected;
    expect(emulator.runs()).toHaveLength(1);
  });

  test.each<InjectedFault>([
    { do: 'drip', gap: '0s' },
    { do: 'delay', delay: '30ms' },
  ])('%j only takes time', async (fault) => {
    const emulator = await start({ faults: [fault] });
    const { statusCode, body } = await trigger(emulator);
    expect(statusCode).toBe(201);
    expect(await body.json()).toMatchObject({ status: 'RUNNING' });
  });

  test.each([204, 304, 503])('may be a %d', async (status) => {
    const emulator = await start({ errorShape: 'empty', faults: [{ do: 'status', status }] });
    const { statusCode, headers, body } = await trigger(emulator);
    expect([statusCode, await body.text()]).toEqual([status, '']);
    expect(headers['content-length']).toBe(status === 503 ? '0' : undefined);
  });

  test('is ended by close', async () => {
    const emulator = await start({ faults: [{ do: 'hang' }] });
    const answer = trigger(emulator).catch((error: Error) => error.message);
    while (emulator.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await emulator.close();
    expect(await answer).toMatch(/other side closed|ECONNRESET/);
  });
});

describe('startEmulator', () => {
  test('refuses a port in use, naming it', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void holder.close());
    const { port } = holder.address() as { port: number };
    await expect(start({}, { port })).rejects.toThrow(`port ${port} of 127.0.0.1: it is in use`);
    await expect(start({}, { port })).rejects.toBeInstanceOf(Problem);
  });

  test.each<[Partial<EmulatorOptions>, RegExp]>([
    [{ scenario: { credits: -1 } }, /scenario: credits must be 0 or more/],
  ])('refuses %j', async (options, message) => {
    const starting = start({}, options);
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.toBeInstanceOf(Problem);
  });

  test('listens on this machine alone', async () => {
    const emulator = await start();
    expect(emulator.url).toBe(`http://127.0.0.1:${emulator.port}`);
    expect((await trigger(emulator)).statusCode).toBe(201);
  });

  test('closes twice without complaint', async () => {
    const emulator = await start();
    await emulator.close();
    await expect(emulator.close()).resolves.toBeUndefined();
  });
});
