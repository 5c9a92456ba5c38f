import { describe, expect, test } from 'vitest';
import type { HttpOptions } from '../../src/api/ask.ts';
import { statusPath } from '../../src/api/endpoints.ts';
import type { HttpRequest, HttpResponse, Transport } from '../../src/api/exchange.ts';
import { createHttpService } from '../../src/api/http-service.ts';
import { createTransport } from '../../src/api/transport.ts';
import type { Answer, Execution, Service } from '../../src/runs/service.ts';
import type { ErrorShape } from '../fault-kit/error-shapes.ts';
import type { Fault, Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';
import { executionId as otherId, projectId } from '../helpers/scripted-service.ts';

const signal = new AbortController().signal;
const target = { projectId, automationName: 'a/b ü 100%' } as const;

/** The service over HTTP against the emulator, whose clock the test moves. */
async function connect(scenario: Scenario = {}, options: Partial<HttpOptions> = {}) {
  let now = Date.UTC(2026, 10, 21, 9);
  const { emulator } = await withEmulator(scenario, { nowMs: () => now });
  const transport = createTransport({ origin: emulator.url, connections: 2, connectTimeoutMs: ampleLimitMs });
  const service = createHttpService({
    transport,
    baseUrl: emulator.url,
    apiKey: async () => emulator.apiKey,
    requestTimeoutMs: ampleLimitMs,
    maxOutputBytes: 10_000,
    userAgent: 'runctl/test',
    nowMs: () => now,
    ...options,
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { emulator, service, pass };
}

const trigger = (service: Service, idempotencyKey = 'key-1') =>
  service.trigger({ target, idempotencyKey, body: '{}' }, signal);

function goodOf<T>(answer: Answer<T>): T {
  if (answer.kind === 'fault') throw new Error(answer.fault.message);
  return answer.value;
}

function faultOf<T>(answer: Answer<T>) {
  if (answer.kind === 'ok') throw new Error('a good answer');
  return answer.fault;
}

async function started(service: Service) {
  const { executionId }: Execution = goodOf(await trigger(service));
  return { target, executionId: executionId ?? '' };
}

describe('the service over HTTP', () => {
  test('starts a run, reads its status and then its result', async () => {
    const { service, pass, emulator } = await connect({ automations: { '*': { creditsCharged: 2.5 } } });
    const created = goodOf(await trigger(service));
    expect(created).toMatchObject({ status: 'RUNNING', startedAt: '2026-11-21T09:00:00.000Z' });
    expect(created.document).toMatchObject({ automationName: target.automationName, completedAt: null });
    const run = { target, executionId: created.executionId ?? '' };
    expect(goodOf(await service.status(run, signal))).toMatchObject({ status: 'RUNNING' });
    expect(goodOf(await service.result(run, signal))).toMatchObject({ status: 'RUNNING', output: undefined });
    pass(20_000);
    expect(goodOf(await service.status(run, signal))).toMatchObject({ status: 'COMPLETED', creditsCharged: 2.5 });
    expect(goodOf(await service.result(run, signal))).toMatchObject({
      status: 'COMPLETED',
      summary: { stepCount: 3 },
    });
    expect(emulator.requests.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'POST 201',
      'GET 200',
      'GET 200',
      'GET 200',
      'GET 200',
    ]);
  });

  test('sends the headers of the interface, and the key of the request with triggers alone', async () => {
    const { service, emulator } = await connect();
    await service.status(await started(service), signal);
    const [post, get] = emulator.requests.map(({ headers }) => headers);
    const common = { 'x-api-key': emulator.apiKey, accept: 'application/json', 'user-agent': 'runctl/test' };
    expect(post).toMatchObject({ ...common, 'content-type': 'application/json', 'idempotency-key': 'key-1' });
    expect(get).toMatchObject(common);
    expect(get?.['idempotency-key']).toBeUndefined();
    expect(get?.['content-type']).toBeUndefined();
  });

  test('answers the same key with the same run', async () => {
    const { service, emulator } = await connect();
    const { executionId } = await started(service);
    expect(goodOf(await trigger(service)).executionId).toBe(executionId);
    expect(emulator.runs()).toHaveLength(1);
  });

  const shapes: ErrorShape[] = ['flat', 'string', 'nested', 'list', 'problem', 'data', 'text'];
  test.each(shapes)('knows a conflict and an unknown run in the shape %s', async (errorShape) => {
    const { service } = await connect({ errorShape, namesActiveRun: true });
    const { executionId } = await started(service);
    const conflict = faultOf(await trigger(service, 'key-2'));
    expect(conflict).toMatchObject({ kind: 'already_active', httpStatus: 422 });
    if (errorShape !== 'text') expect(conflict.executionId).toBe(executionId);
    for (const look of [service.status, service.result]) {
      // Text is not what the service sends, whatever it says.
      const kind = errorShape === 'text' ? 'unreadable' : 'not_found';
      expect(faultOf(await look({ target, executionId: otherId }, signal))).toMatchObject({ kind });
    }
  });

  test('distinguishes a wrong key, an empty balance, an unknown automation and a limit', async () => {
    const wrong = await connect({}, { apiKey: async () => 'wrong' });
    expect(faultOf(await trigger(wrong.service))).toMatchObject({ kind: 'unauthorized' });
    const poor = await connect({ credits: 0 });
    expect(faultOf(await trigger(poor.service))).toMatchObject({ kind: 'no_credits' });
    const unknown = await connect({ automations: {} });
    expect(faultOf(await trigger(unknown.service))).toMatchObject({ kind: 'not_found', httpStatus: 404 });
    for (const retryAfter of ['seconds', 'date'] as const) {
      const limited = await connect({ rateLimit: { requests: 1, window: '7s', retryAfter } });
      await trigger(limited.service);
      const fault = faultOf(await trigger(limited.service, 'key-2'));
      expect(fault).toMatchObject({ kind: 'throttled', retryAfterMs: 7000 });
    }
  });

  test.each<[Fault['do'], string, Fault]>([
    ['reset', 'lost', { do: 'reset' }],
    ['close', 'lost', { do: 'close' }],
    ['hang', 'lost', { do: 'hang' }],
    ['loseAnswer', 'lost', { do: 'loseAnswer' }],
    ['hangBody', 'lost', { do: 'hangBody' }],
    ['truncate', 'lost', { do: 'truncate' }],
    ['drip', 'lost', { do: 'drip', gap: '20ms' }],
    ['wrongJson', 'unreadable', { do: 'wrongJson' }],
    ['html', 'unreadable', { do: 'html' }],
    ['status', 'unavailable', { do: 'status', status: 502 }],
  ])('a trigger that meets "%s" is %s, and may have been acted on', async (_, kind, fault) => {
    const endless = /hang|drip/.test(fault.do);
    const limits = { requestTimeoutMs: endless ? shortLimitMs : ampleLimitMs };
    const { service } = await connect({ faults: [{ nth: 1, ...fault } as Fault] }, limits);
    expect(faultOf(await trigger(service))).toMatchObject({ kind });
    expect(goodOf(await trigger(service))).toMatchObject({ status: 'RUNNING' });
  });

  test('an id with a status that is none is a run all the same, a status without an id is not', async () => {
    for (const status of [null, 7, '']) {
      const { service } = await connect({ automations: { '*': { extra: { status } } } });
      const created = goodOf(await trigger(service));
      expect(created).toMatchObject({ status: 'RUNNING', executionId: expect.any(String), document: { status } });
    }
    const { service } = await connect({ automations: { '*': { extra: { executionId: null } } } });
    expect(faultOf(await trigger(service))).toMatchObject({ kind: 'unreadable' });
  });

  test('an answer about another run is no answer', async () => {
    const { service, emulator } = await connect({ automations: { '*': { extra: { executionId: otherId } } } });
    await trigger(service);
    const run = { target, executionId: emulator.runs()[0]?.executionId ?? '' };
    for (const look of [service.status, service.result]) {
      expect(faultOf(await look(run, signal))).toMatchObject({ kind: 'unreadable' });
    }
  });

  test('an output past the bound is refused, one within it is read', async () => {
    const { service, pass } = await connect({ automations: { '*': { output: 'x'.repeat(20_000) } } });
    const run = await started(service);
    pass(20_000);
    expect(faultOf(await service.result(run, signal))).toMatchObject({ kind: 'too_large' });
    expect(goodOf(await service.status(run, signal)).status).toBe('COMPLETED');
  });

  test('a path before the version is kept', async () => {
    const { service, emulator } = await connect({}, { baseUrl: 'http://service.test/gate/way/' });
    expect(faultOf(await trigger(service)).httpStatus).toBe(404);
    expect(emulator.requests[0]?.url).toMatch(/^\/gate\/way\/v0\/automation\//);
  });

  /** The service behind a wire that gives one answer to everything. */
  function answering(answer: Partial<HttpResponse>, options: Partial<HttpOptions> = {}) {
    const requests: HttpRequest[] = [];
    const transport: Transport = {
      async exchange(request) {
        requests.push(request);
        const response = { status: 200, headers: {}, body: Buffer.from(''), truncated: false, ...answer };
        return { kind: 'response', response };
      },
    };
    const service = createHttpService({
      transport,
      baseUrl: 'https://service.test/gate',
      apiKey: async () => 'key',
      requestTimeoutMs: 30_000,
      maxOutputBytes: 1000,
      userAgent: 'test',
      nowMs: () => 0,
      ...options,
    });
    return { service, requests };
  }

  test('takes a run from the Location of an answer without a body', async () => {
    const created = `${statusPath({ target, executionId: otherId })}`;
    for (const location of [created, `/gate${created}`, `https://service.test/gate${created}`]) {
      const { service } = answering({ status: 201, headers: { location } });
      const { executionId, status, document } = goodOf(await trigger(service));
      expect([executionId, status, document]).toEqual([
        otherId,
        'RUNNING',
        { executionId: otherId, status: 'RUNNING' },
      ]);
    }
    const elsewhere = created.replace(projectId, otherId);
    for (const location of [elsewhere, `https://other.test${created}`, '/v0/jobs/7', undefined]) {
      const { service } = answering({ status: 201, headers: { location } });
      expect(faultOf(await trigger(service))).toMatchObject({ kind: 'unreadable' });
    }
  });

  test('an id is sent back as it came, and its case does not matter in answers', async () => {
    const capitals = otherId.toUpperCase();
    const text = (executionId: string) => Buffer.from(JSON.stringify({ executionId, status: 'RUNNING' }));
    for (const [asked, answered] of [
      [capitals, otherId],
      [otherId, capitals],
      [capitals, capitals],
    ] as const) {
      const { service, requests } = answering({ body: text(answered) });
      expect(goodOf(await service.status({ target, executionId: asked }, signal)).executionId).toBe(answered);
      goodOf(await service.result({ target, executionId: asked }, signal));
      for (const { path } of requests) expect(path).toContain(`/executions/${asked}`);
    }
  });

  test.each([
    [undefined, 30_000],
    [60_000, 30_000],
    [5000, 5000],
  ])('a poll with the limit %s is over after %i ms', async (timeoutMs, expectedMs) => {
    const { service, requests } = answering({});
    const run = { target, executionId: otherId };
    await service.status(run, signal, { timeoutMs });
    await service.result(run, signal, { timeoutMs });
    expect(requests.map((request) => request.timeoutMs)).toEqual([expectedMs, expectedMs]);
  });
});
