import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ServiceOptions } from '../src/service/service.ts';
import {
  apiKey,
  clientOf,
  executionId,
  projectId,
  run,
  shortMs,
  timeoutMs,
  trigger,
} from './service-client.ts';

const running = { executionId, status: 'RUNNING', automationName: 'nightly', projectId };
const good = { status: 200, body: running };

/** A response, or what else the server does with a request. */
type Reply =
  | { status: number; body?: unknown; headers?: Record<string, string | string[]> }
  | ((response: ServerResponse) => void);

/** A service that replies so, the last reply for ever, and a client of it. */
async function given(replies: Reply | Reply[], options: Partial<ServiceOptions> = {}) {
  const queue = [replies].flat();
  const requests: (IncomingMessage & { body: string })[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push(Object.assign(request, { body }));
    const reply = queue.length > 1 ? queue.shift() : queue[0];
    if (typeof reply === 'function') return reply(response);
    const { status = 500, body: document, headers } = reply ?? {};
    response.writeHead(status, headers);
    const isRaw = typeof document === 'string' || document instanceof Buffer;
    response.end(isRaw ? document : JSON.stringify(document));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, ...clientOf(`${url}/base`, options) };
}

const failed = (facts: object) => ({ ok: false, failure: expect.objectContaining(facts) });

describe('a trigger', () => {
  test('is a POST with its key, and is accepted with an executionId', async () => {
    const body = { ...running, executionId: executionId.toUpperCase() };
    const { service, requests, url } = await given({ status: 201, body });

    const named = { projectId, name: 'eu/nightly 1' };
    const answer = await service.trigger({ ...trigger, automation: named }, timeoutMs);

    expect(answer).toEqual({ ok: true, value: { executionId, document: body } });
    expect(requests[0]?.method).toBe('POST');
    expect(requests[0]?.url).toBe(`/base/v0/automation/${projectId}/eu%2Fnightly%201/trigger`);
    expect(requests[0]?.body).toBe('{}');
    expect(requests[0]?.headers).toMatchObject({
      host: new URL(url).host,
      'x-api-key': apiKey,
      'idempotency-key': 'key-of-trigger',
      'content-type': 'application/json',
    });
  });

  test.each([{ automationName: 'other' }, { projectId: executionId }])(
    'with a given key is unknown if the response says %j',
    async (fields) => {
      const { service } = await given({ status: 201, body: { ...running, ...fields } });
      const answer = await service.trigger({ ...trigger, isKeyGiven: true }, timeoutMs);
      expect(answer).toEqual(failed({ kind: 'invalid_response' }));
      expect(await service.trigger(trigger, timeoutMs)).toMatchObject({ ok: true });
    },
  );

  test('with a given key is accepted if the response has the project in upper case', async () => {
    const id = 'abcdef00-0000-4000-8000-000000000001';
    const body = { ...running, projectId: id.toUpperCase() };
    const { service } = await given({ status: 201, body });
    const automation = { projectId: id, name: 'nightly' };
    const answer = await service.trigger({ ...trigger, automation, isKeyGiven: true }, timeoutMs);
    expect(answer).toMatchObject({ ok: true });
  });

  test('has a connection of its own, as has each poll', async () => {
    const { service, requests } = await given(good);
    await service.status(run, timeoutMs);
    await service.trigger(trigger, timeoutMs);
    await service.status(run, timeoutMs);
    expect(new Set(requests.map(({ socket }) => socket)).size).toBe(3);
  });
});

describe('a response', () => {
  const active = { code: 'runAlreadyActive' };
  const html = { 'content-type': 'text/html' };

  // What it is to a trigger, to a poll, and to a probe of the API key.
  // biome-ignore format: a table
  test.each<[number, unknown, string, string, string, Record<string, string>?]>([
    [200, {}, 'invalid_response', 'invalid_response', 'invalid_response'],
    [202, running, 'ok', 'invalid_response', 'invalid_response'],
    [201, { executionId: '' }, 'invalid_response', 'invalid_response', 'invalid_response'],
    [200, [running], 'invalid_response', 'invalid_response', 'invalid_response'],
    [200, '', 'invalid_response', 'invalid_response', 'invalid_response'],
    [200, '<html><title>Sign in</title>', 'invalid_response', 'invalid_response', 'invalid_response'],
    [200, { ...running, executionId: projectId }, 'ok', 'invalid_response', 'invalid_response'],
    [302, '', 'redirected', 'redirected', 'redirected', { location: '/login' }],
    [400, { message: 'no' }, 'rejected', 'rejected', 'ok'],
    [400, active, 'already_active', 'rejected', 'ok'],
    [401, { message: 'no' }, 'unauthorized', 'unauthorized', 'unauthorized'],
    [403, 'no', 'unauthorized', 'unauthorized', 'unauthorized'],
    [401, '<h1>Blocked</h1>', 'invalid_response', 'invalid_response', 'invalid_response'],
    [403, 'Blocked', 'invalid_response', 'invalid_response', 'invalid_response', html],
    [403, {}, 'rate_limited', 'rate_limited', 'ok', { 'retry-after': '5' }],
    [402, {}, 'no_credits', 'no_credits', 'ok'],
    [404, '<h1>Not found</h1>', 'not_found', 'not_found', 'not_found'],
    [410, {}, 'not_found', 'not_found', 'ok'],
    [408, {}, 'no_response', 'no_response', 'no_response'],
    [409, {}, 'in_progress', 'in_progress', 'in_progress'],
    [409, active, 'already_active', 'in_progress', 'in_progress'],
    [425, active, 'in_progress', 'in_progress', 'in_progress'],
    [422, active, 'already_active', 'not_found', 'ok'],
    [400, { code: 'NOT_FOUND' }, 'not_found', 'not_found', 'ok'],
    [400, { error: { code: 'ExecutionNotFoundException' } }, 'not_found', 'not_found', 'ok'],
    [422, {}, 'rejected', 'not_found', 'ok'],
    [422, 'no', 'rejected', 'rejected', 'rejected'],
    [422, '', 'rejected', 'rejected', 'rejected'],
    [429, {}, 'rate_limited', 'rate_limited', 'ok'],
    [451, {}, 'rejected', 'rejected', 'ok'],
    [500, active, 'server_error', 'server_error', 'server_error'],
    [503, '', 'server_error', 'server_error', 'server_error'],
  ])('of %i %j is %s, %s, %s', async (status, body, ofTrigger, ofPoll, ofProbe, headers) => {
    const { service } = await given({ status, body, headers });
    const answers = [
      await service.trigger(trigger, timeoutMs),
      await service.status(run, timeoutMs),
      await service.result(run, timeoutMs),
      await service.probe(),
    ];
    const kinds = answers.map((answer) => (answer.ok ? 'ok' : answer.failure.kind));
    expect(kinds).toEqual([ofTrigger, ofPoll, ofPoll, ofProbe]);
    for (const answer of answers) if (!answer.ok) expect(answer.failure.httpStatus).toBe(status);
  });

  const spellings = [
    'RUN_ALREADY-ACTIVE',
    'Refused: run already active',
    'x.RunAlreadyActiveError',
  ];
  test.each(spellings)('that has %j anywhere means that the automation is active', async (text) => {
    const bodies = [text, { error: { details: [text] } }, { errors: { [text]: ['it runs'] } }];
    const { service } = await given(bodies.map((body) => ({ status: 422, body })));
    for (const _ of bodies) {
      const reason = 'it is already running';
      const answer = await service.trigger(trigger, timeoutMs);
      expect(answer).toEqual(failed({ kind: 'already_active', reason }));
    }
  });

  // biome-ignore format: a table
  test.each<[unknown, { code?: string; message?: string }]>([
    [{ code: 'bad', message: 'It is bad' }, { code: 'bad', message: 'It is bad' }],
    [{ error: { code: 'bad', message: 'It is bad' } }, { code: 'bad', message: 'It is bad' }],
    [{ data: { errors: [{ code: 'bad', detail: 'no' }] } }, { code: 'bad', message: 'no' }],
    [{ error: 'bad' }, { code: 'bad' }],
    [{ error: 'It is bad' }, { message: 'It is bad' }],
    [{ error: 'bad_token', error_description: 'gone' }, { code: 'bad_token', message: 'gone' }],
    [{ statusCode: 400, message: ['a', 'b c'], error: 'Bad Request' }, { message: 'a' }],
    [{ detail: [{ loc: ['x'], msg: 'It is bad', type: 'bad' }] }, { code: 'bad', message: 'It is bad' }],
    [{ errors: { email: ['is too long'], name: [] } }, { message: 'is too long' }],
    [{ __type: 'com.x#Bad', Message: 'no way' }, { message: 'no way' }],
    [{ fault: { faultstring: 'no', detail: { errorcode: 'x.Bad' } } }, { code: 'x.Bad', message: 'no' }],
    [{ type: 'about:blank', title: 'badName', detail: 'no' }, { code: 'badName', message: 'no' }],
    ['upstream\n said no', { message: 'upstream said no' }],
    ['<fault><code>x</code><string>It is bad</string></fault>', { message: 'x It is bad' }],
    ['<title>Oh no</title><p>text', { message: 'Oh no' }],
    [{ message: `${'x '.repeat(200)}` }, { message: `${'x '.repeat(149)}x…` }],
    [{ message: '400 Bad Request' }, {}],
    [{ code: 17, message: { a: 1 }, error: null }, {}],
    ['null', {}],
    ['{"code":', { message: '{"code":' }],
    [Buffer.from('1f8bff', 'hex'), {}],
  ])('of an error with %j has its code and message', async (body, { code, message }) => {
    const { service } = await given({ status: 400, body });
    const reason = message ?? 'the service refused the request';
    const answer = await service.trigger(trigger, timeoutMs);
    expect(answer).toEqual(failed({ kind: 'rejected', code, reason }));
  });

  test.each([
    [200, { success: false, message: 'It is archived' }, /no executionId: It is archived$/],
    [429, { message: 'The daily quota is reached' }, /^The daily quota is reached$/],
    [409, { message: 'A deployment is in progress' }, /^A deployment is in progress$/],
  ])('of %i has the words of the service as its reason', async (status, body, reason) => {
    const { service } = await given({ status, body });
    const answer = await service.trigger(trigger, timeoutMs);
    expect(answer).toEqual(failed({ reason: expect.stringMatching(reason) }));
  });

  test.each([
    ['61', running, false],
    ['60', running, true],
    ['61', { ...running, status: 'COMPLETED' }, true],
  ])('of Age %s, as of a cache, counts only if it is final', async (age, body, ok) => {
    const { service } = await given({ ...good, body, headers: { age } });
    expect(await service.status(run, timeoutMs)).toMatchObject({ ok });
  });

  test.each<[string | string[], number | undefined]>([
    ['7', 7_000],
    [' 007 ', 7_000],
    [['5', '600', '7'], 600_000],
    ['120, 120', 120_000],
    ['Sat, 21 Nov 2026 12:01:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['2026-11-21T12:01:00Z', undefined],
  ])('with Retry-After: %s asks for %s ms', async (value, retryAfterMs) => {
    const headers = { 'retry-after': value, date: 'Sat, 21 Nov 2026 12:00:00 GMT' };
    const { service } = await given([{ status: 429 }, good].map((one) => ({ ...one, headers })));
    const answers = [await service.status(run, timeoutMs), await service.status(run, timeoutMs)];
    expect(answers).toMatchObject([{ failure: { retryAfterMs } }, { value: { retryAfterMs } }]);
  });

  test('that redirects is not followed', async () => {
    const other = await given({ status: 201, body: running });
    const headers = { location: other.url, 'x-request-id': 'req-1' };
    const { service } = await given({ status: 307, headers });
    const answer = await service.trigger(trigger, timeoutMs);
    expect(answer).toEqual(failed({ kind: 'redirected', requestId: 'req-1' }));
    expect(other.requests).toEqual([]);
  });
});

describe('a document', () => {
  // biome-ignore format: a table
  test.each<[object, object]>([
    [{ startedAt: '2026-11-21T12:00:00' }, { startedAtMs: Date.UTC(2026, 10, 21, 12) }],
    [{ startedAt: '2026-11-21T12:00:00.0+02:00' }, { startedAtMs: Date.UTC(2026, 10, 21, 10) }],
    [{ startedAt: '2026-11-21 12:00:00+02' }, { startedAtMs: Date.UTC(2026, 10, 21, 10) }],
    [{ startedAt: '0001-01-01T00:00:00Z' }, { startedAtMs: undefined }],
    [{ startedAt: 5 }, { startedAtMs: undefined }],
    [{ status: 'COMPLETED', creditsCharged: 1.5 }, { isFinal: true, creditsCharged: 1.5 }],
    [{ status: 'Paused' }, { status: 'Paused', isFinal: false }],
    [{ completedAt: '2026-11-21T12:00:00Z' }, { status: 'RUNNING', isFinal: false }],
    [{ status: 'DONE', completedAt: '2026-11-21T12:00:00Z' }, { isFinal: true }],
  ])('with %j is a status with %j', async (fields, expected) => {
    const document = { ...running, executionId: executionId.toUpperCase(), extra: 1, ...fields };
    const { service } = await given({ status: 200, body: document });
    const answer = await service.status(run, timeoutMs);
    expect(answer).toMatchObject({ ok: true, value: { ...expected, document } });
  });

  test('has a time without an offset in UTC, wherever it is read', async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { service } = await given({
      ...good,
      body: { ...running, startedAt: '2026-11-21T12:00:00' },
    });
    const answer = await service.status(run, timeoutMs);
    expect(answer).toMatchObject({ value: { startedAtMs: Date.UTC(2026, 10, 21, 12) } });
  });

  test('of a result has output, steps and error', async () => {
    const summary = { stepCount: 6, succeededSteps: 1, failedSteps: 2, skippedSteps: 3 };
    const error = { type: 'step_failed', message: 'no' };
    const body = { ...running, status: 'FAILED', output: 'text', summary, error };
    const { service } = await given([
      { status: 200, body: `\uFEFF${JSON.stringify(body)}` },
      { status: 200, body: { status: 'RUNNING', summary: { stepCount: 3 } } },
    ]);
    const steps = { count: 6, succeeded: 1, skipped: 3 };
    const answer = await service.result(run, timeoutMs);
    expect(answer).toMatchObject({ value: { isFinal: true, output: 'text', error, steps } });
    const unfinished = await service.result(run, timeoutMs);
    const none = { count: 3, succeeded: 0, skipped: 0 };
    expect(unfinished).toMatchObject({ value: { isFinal: false, output: null, steps: none } });
  });
});

describe('a request', () => {
  test('that finds nobody is unsent', async () => {
    const answer = await clientOf('http://127.0.0.1:1').service.trigger(trigger, timeoutMs);
    const reason = '127.0.0.1:1 refused the connection (ECONNREFUSED)';
    expect(answer).toEqual(failed({ kind: 'unreachable', reason }));
  });

  test('to a name without an address is unsent', async () => {
    const lookup = vi.spyOn(dns, 'lookup');
    onTestFinished(() => lookup.mockRestore());
    const noAddress = (_name: string, _options: object, callback: (...found: unknown[]) => void) =>
      callback(null, []);
    lookup.mockImplementation(noAddress as never);
    const answer = await clientOf('https://api.test').service.trigger(trigger, timeoutMs);
    const reason = "api.test can't be found (ENOTFOUND)";
    expect(answer).toEqual(failed({ kind: 'unreachable', reason }));
  });

  test('over http to another machine is unsent, whatever its name promised', async () => {
    const { service, requests } = await given(good);
    // What the property `remoteAddress`, which can't be replaced, takes its value from.
    const sockets = Socket.prototype as unknown as { _getpeername(): { address: string } };
    const peer = vi.spyOn(sockets, '_getpeername');
    onTestFinished(() => peer.mockRestore());
    peer.mockReturnValue({ address: '192.0.2.2' });
    const reason = expect.stringContaining("isn't on this machine");
    expect(await service.status(run, timeoutMs)).toEqual(failed({ kind: 'unreachable', reason }));
    expect(requests).toEqual([]);
  });

  const before = 'the connection broke before the response';
  const amid = 'the connection broke in the middle of the response';
  // biome-ignore format: a table
  test.each<[string, Reply, object]>([
    ['a reset', ({ socket }) => socket?.resetAndDestroy(), { kind: 'connection_lost', reason: before }],
    ['an end', ({ socket }) => socket?.destroy(), { kind: 'connection_lost', reason: before }],
    ['no HTTP', ({ socket }) => socket?.end('SSH-2.0\r\n\r\n'), { kind: 'invalid_response' }],
    ['silence', () => {}, { kind: 'no_response', reason: 'no response within 0.15s' }],
    ['a 422 that breaks off', (response) => stopAmid(response, 'destroy'), { kind: 'connection_lost', httpStatus: 422, reason: amid }],
    ['a 422 that stops', (response) => stopAmid(response), { kind: 'no_response', httpStatus: 422 }],
    ['a 422 that drips', (response) => drip(response, 422), { kind: 'no_response', httpStatus: 422 }],
    ['headers of 300 KB', { ...good, headers: { x: 'x'.repeat(300_000) } }, { kind: 'invalid_response' }],
  ])('that gets %s may have done something', async (_, reply, expected) => {
    const { service } = await given(reply);
    expect(await service.trigger(trigger, shortMs)).toEqual(failed(expected));
  });

  test('takes hints before the response, long headers, and an encoding that is none', async () => {
    const { service } = await given((response) => {
      response.writeEarlyHints({ link: '</x>' });
      response.writeHead(200, { x: 'x'.repeat(100_000), 'content-encoding': 'utf-8' });
      response.end(JSON.stringify(running));
    });
    expect(await service.status(run, timeoutMs)).toMatchObject({ ok: true });
  });

  test('may take longer for a result that keeps coming', async () => {
    const { service } = await given((response) => drip(response, 200, JSON.stringify(running)));
    expect(await service.result(run, shortMs)).toMatchObject({ ok: true });
  });

  test.each([
    ['trigger', 'no_response', 'there was no response yet'],
    ['status', 'interrupted', 'interrupted'],
  ] as const)('for a %s that a signal ends in flight fails as %s', async (name, kind, reason) => {
    const { service, abort } = await given(() => abort());
    const answer =
      name === 'status' ? service.status(run, timeoutMs) : service.trigger(trigger, timeoutMs);
    expect(await answer).toEqual(failed({ kind, reason }));
  });

  test('is not sent if a signal comes while the API key is read', async () => {
    const read = async () => {
      abort();
      throw new Error('interrupted');
    };
    const { service, abort, requests } = await given(good, { apiKey: { read } });
    const answer = await service.trigger(trigger, timeoutMs);
    expect(answer).toEqual(failed({ kind: 'interrupted' }));
    expect(requests).toEqual([]);
  });

  test('ends once the response has 256 MiB', async () => {
    const { service } = await given((response) => {
      response.writeHead(200);
      const mebibyte = Buffer.alloc(2 ** 20);
      const write = (error?: unknown): unknown => error ?? response.write(mebibyte, write);
      write();
    });
    const reason = 'the response is longer than 256 MiB';
    const answer = await service.result(run, timeoutMs);
    expect(answer).toEqual(failed({ kind: 'invalid_response', reason }));
  });
});

function stopAmid(response: ServerResponse, then: 'destroy' | 'ref' = 'ref'): void {
  response.writeHead(422, { 'content-length': 100 });
  response.write('{"code":"bad"', () => setImmediate(() => response.socket?.[then]()));
}

/** Five parts, each within `shortMs`, which all together take longer. */
function drip(response: ServerResponse, status: number, text = 'x'.repeat(50)): void {
  response.writeHead(status);
  const parts = text.match(new RegExp(`.{1,${Math.ceil(text.length / 5)}}`, 'g')) ?? [];
  const timer = setInterval(() => {
    response.write(parts.shift());
    if (parts.length === 0) response.end();
  }, 40);
  response.on('close', () => clearInterval(timer));
}

describe('the API key', () => {
  test('is read once, and again after a 401 to a GET', async () => {
    const keys = ['first-key', 'second-key'];
    const read = async () => keys.shift() ?? '';
    const replies = [{ status: 401 }, good, { status: 401 }, good];
    const { service, requests } = await given(replies, { apiKey: { read } });
    await service.trigger(trigger, timeoutMs);
    for (let times = 0; times < 3; times++) await service.status(run, timeoutMs);
    const sent = requests.map(({ headers }) => headers['x-api-key']);
    expect(sent).toEqual(['first-key', 'first-key', 'first-key', 'second-key']);
  });

  test('that cannot be read again fails the poll', async () => {
    const read = vi.fn(async () => apiKey);
    const { service, requests } = await given([{ status: 401 }, good], { apiKey: { read } });
    await service.status(run, timeoutMs);
    read.mockRejectedValueOnce(new Error('the file is empty'));
    const answer = await service.status(run, timeoutMs);
    expect(answer).toEqual(failed({ kind: 'unauthorized', reason: 'the file is empty' }));
    expect(await service.status(run, timeoutMs)).toMatchObject({ ok: true });
    expect(requests).toHaveLength(2);
  });

  test('is in no failure and no line of --debug, wherever the service repeats it', async () => {
    const cookie = { 'set-cookie': 'session=1' };
    const headers = { 'x-request-id': apiKey, location: `/${apiKey}`, x: apiKey, ...cookie };
    const text = `${'x'.repeat(292)} ${apiKey}`;
    // The text of a page is cut after 4096 characters.
    const page = ' '.repeat(4086) + apiKey;
    const bodies = [{ code: apiKey, message: text }, text, `<title>${text}</title>`, page];
    const replies = [400, 401, 302, 500].flatMap((status) =>
      bodies.map((body) => ({ status, headers, body })),
    );
    const { service, lines } = await given(replies);
    const answers = [];
    for (const _ of replies) answers.push(await service.trigger(trigger, timeoutMs));
    expect(JSON.stringify([answers, lines])).not.toMatch(/key-0|session=1/);
    expect(lines[0]).toMatch(/^> POST http:.*\/trigger, .*idempotency-key: key-of-trigger\n$/);
    expect(lines[1]).toMatch(/^< 400 after \d+ ms, x-request-id: \[secret\]/);
  });
});

test('a probe reads the clock of the service', async () => {
  const headers = { date: 'Sat, 21 Nov 2026 12:00:00 GMT' };
  const { service } = await given({ status: 422, body: {}, headers });
  const serviceTimeMs = Date.UTC(2026, 10, 21, 12);
  expect(await service.probe()).toMatchObject({ ok: true, value: { serviceTimeMs } });
});

test('an agent has a trigger and a status', async () => {
  const document = { executionId, agentId: projectId, status: 'RUNNING' };
  const { service, requests } = await given({ status: 200, body: document });
  const answer = { ok: true, value: { document } };
  expect(await service.agentTrigger(projectId, { message: 'Hi' })).toMatchObject(answer);
  expect(await service.agentStatus(projectId, executionId)).toMatchObject(answer);
  expect(requests.map(({ url, body }) => [url, body])).toEqual([
    [`/base/v0/agent/${projectId}/trigger`, '{"message":"Hi"}'],
    [`/base/v0/agent/${projectId}/executions/${executionId}`, ''],
  ]);
  expect(requests[0]?.headers['content-type']).toBe('application/json');
});
