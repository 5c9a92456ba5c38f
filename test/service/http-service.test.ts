import { describe, expect, test } from 'vitest';
import { reasonOf } from '../../src/run/fault.ts';
import type { RequestOptions } from '../../src/run/service.ts';
import { statusPath } from '../../src/service/endpoints.ts';
import type { HttpRequest, HttpResponse } from '../../src/service/exchange.ts';
import type { HttpOptions } from '../../src/service/http-request.ts';
import { createHttpService } from '../../src/service/http-service.ts';
import { executionId, fault, projectId } from '../helpers/scripted-service.ts';

const signal = new AbortController().signal;
const nowMs = Date.UTC(2026, 10, 21, 9);
const target = { projectId, automationName: 'a/b ü 100%' };
const run = { target, executionId };
const otherId = '00000000-0000-4000-8000-000000000000';
const location = statusPath(run);
const running = JSON.stringify({ executionId, status: 'RUNNING' });

interface Sent extends Partial<HttpResponse> {
  text?: string;
}

/** The service behind a wire that gives this answer to everything. */
function answering({ text = '', ...response }: Sent = {}, options: Partial<HttpOptions> = {}) {
  const requests: HttpRequest[] = [];
  const whole = { status: 200, headers: {}, body: Buffer.from(text), isTruncated: false, ...response };
  const service = createHttpService({
    transport: {
      async exchange(request) {
        requests.push(request);
        return { kind: 'response', response: whole };
      },
    },
    baseUrl: 'https://service.test/gate/way/',
    apiKey: async (idempotencyKey) => ({ value: `key for ${idempotencyKey}`, version: 1 }),
    requestTimeoutMs: 30_000,
    maxOutputBytes: 1000,
    userAgent: 'runctl/test',
    nowMs: () => nowMs,
    proxy: undefined,
    hasExtraAuthorities: false,
    scrub: (text) => text,
    ...options,
  });
  const ask = {
    trigger: (sending?: RequestOptions) =>
      service.trigger({ target, idempotencyKey: 'key-1', body: '{"a":1}' }, signal, sending),
    status: (sending?: RequestOptions) => service.status(run, signal, sending),
    result: (sending?: RequestOptions) => service.result(run, signal, sending),
  };
  return { service, ask, requests };
}

type Operation = keyof ReturnType<typeof answering>['ask'];
const operations = ['trigger', 'status', 'result'] as const;

async function faultOf(operation: Operation, sent: Sent) {
  const answer = await answering(sent).ask[operation]();
  if (answer.kind !== 'fault') throw new Error('no fault');
  return answer.fault;
}

describe('a request', () => {
  test('has a body, both keys and the path of the base URL if it is a trigger', async () => {
    const { ask, requests } = answering();
    await ask.trigger();
    expect(requests).toEqual([
      {
        method: 'POST',
        path: `/gate/way/v0/automation/${projectId}/a%2Fb%20%C3%BC%20100%25/trigger`,
        body: '{"a":1}',
        headers: {
          'x-api-key': 'key for key-1',
          accept: 'application/json',
          'accept-encoding': 'gzip',
          'user-agent': 'runctl/test',
          'content-type': 'application/json',
          'idempotency-key': 'key-1',
        },
        timeoutMs: 30_000,
        maxBytes: 1024 * 1024,
      },
    ]);
  });

  test('has only the API key, and a limit for its response, if it is for a status or a result', async () => {
    const { ask, requests } = answering();
    await ask.status();
    await ask.result();
    const headers = ['x-api-key', 'accept', 'accept-encoding', 'user-agent'];
    const path = `/gate/way${location}`;
    expect(requests.map((request) => ({ ...request, headers: Object.keys(request.headers) }))).toEqual([
      { method: 'GET', path, headers, body: undefined, timeoutMs: 30_000, maxBytes: 1024 * 1024 },
      { method: 'GET', path: `${path}/result`, headers, body: undefined, timeoutMs: 30_000, maxBytes: 1000 },
    ]);
  });

  test.each([
    [60_000, 30_000],
    [5000, 5000],
  ])('with a limit of %i ms ends after %i ms', async (timeoutMs, expectedMs) => {
    const { ask, requests } = answering();
    for (const operation of operations) await ask[operation]({ timeoutMs });
    expect(requests.map((request) => request.timeoutMs)).toEqual([expectedMs, expectedMs, expectedMs]);
  });
});

describe('a response with success', () => {
  test.each([200, 201, 202, 206])('may have the status %i, and any document', async (status) => {
    const document = { executionId, status: 'RUNNING', more: 1 };
    const { ask } = answering({ status, text: JSON.stringify(document) });
    for (const operation of operations) {
      expect(await ask[operation]()).toMatchObject({ kind: 'ok', value: { status: 'RUNNING', document } });
    }
  });

  test.each([null, 7, ''])('to a trigger may have an id with the status %j, which is ignored', async (status) => {
    const answer = await answering({ text: JSON.stringify({ executionId, status }) }).ask.trigger();
    expect(answer).toMatchObject({ kind: 'ok', value: { executionId, status: 'RUNNING', document: { status } } });
  });

  test.each<[Operation, string]>([
    ['trigger', '{"executionId":null,"status":"RUNNING"}'],
    ['status', '{"status":"RUNNING"}'],
    ['status', `{"executionId":"${otherId}","status":"RUNNING"}`],
    ['result', '{"status":"COMPLETED"}'],
    ['result', `{"executionId":"${otherId}","status":"RUNNING"}`],
  ])('to a %s can not be %s, which names no run or another one', async (operation, text) => {
    expect(await faultOf(operation, { text })).toMatchObject({ kind: 'unreadable' });
  });

  test('may lack the id of the run if there is no result yet', async () => {
    expect(await answering({ text: '{"status":"RUNNING"}' }).ask.result()).toMatchObject({ kind: 'ok' });
  });

  test('may have the id of the run in another case of letters, and each request has the id as it was given', async () => {
    const capitals = executionId.toUpperCase();
    for (const [asked, answered] of [
      [capitals, executionId],
      [executionId, capitals],
    ] as const) {
      const { service, requests } = answering({ text: running.replace(executionId, answered) });
      const answer = await service.status({ target, executionId: asked }, signal);
      expect(answer).toMatchObject({ kind: 'ok', value: { executionId: answered } });
      expect(requests[0]?.path).toContain(`/executions/${asked}`);
    }
  });

  test.each<[string, Operation, Sent, object]>([
    ['and no body is the run', 'trigger', { headers: { location } }, { value: { executionId, status: 'RUNNING' } }],
    [
      'and a body says what that says',
      'trigger',
      { headers: { location }, text: running.replace('RUNN', 'PAUS') },
      {
        value: { status: 'PAUSING' },
      },
    ],
    ['that leads elsewhere is none', 'trigger', { headers: { location: '/login' } }, { fault: { kind: 'unreadable' } }],
    ['says nothing if it was polled', 'status', { headers: { location } }, { fault: { kind: 'unreadable' } }],
    ['says nothing if it was polled', 'result', { headers: { location } }, { fault: { kind: 'unreadable' } }],
  ])('with a Location %s: %s', async (_, operation, sent, expected) => {
    expect(await answering({ status: 201, ...sent }).ask[operation]()).toMatchObject(expected);
  });

  test('makes the request throw if runctl itself fails to read it, because that is a bug', async () => {
    const scrub = () => {
      throw new TypeError('ours');
    };
    await expect(answering({ text: running }, { scrub }).ask.status()).rejects.toThrow('ours');
  });
});

describe('a response', () => {
  test.each<[string[], number]>([
    [['7', '600', '30'], 600_000],
    [['soon', '3'], 3000],
    [['Sat, 21 Nov 2026 09:01:00 GMT', '5'], 60_000],
  ])('has the longest of the waits %j', async (waits, retryAfterMs) => {
    const headers = { 'retry-after': waits };
    expect(await answering({ headers, text: running }).ask.status()).toMatchObject({ kind: 'ok', retryAfterMs });
    for (const status of [200, 404, 429])
      expect(await faultOf('status', { status, headers })).toMatchObject({ retryAfterMs });
  });

  test.each([200, 422])('with the status %i has the time by the clock of the service', async (status) => {
    const timeOf = async (date?: string | string[]) => {
      const { ask } = answering({ status, text: running, headers: { date, 'retry-after': '3' } });
      return ((await ask.status()) as { serviceTimeMs?: number }).serviceTimeMs;
    };
    const noon = 'Sat, 21 Nov 2026 12:00:00 GMT';
    expect([await timeOf(noon), await timeOf(['soon', noon])]).toEqual([nowMs + 10_800_000, nowMs + 10_800_000]);
    for (const date of [undefined, '', '2026-11-21T12:00:00Z']) expect(await timeOf(date)).toBeUndefined();
  });

  test.each([
    [{ 'x-request-id': 'a' }, 'a'],
    [{ 'x-amzn-requestid': 'b' }, 'b'],
    [{ 'x-correlation-id': 'b' }, 'b'],
    [{ 'request-id': 'c', 'cf-ray': 'd' }, 'c'],
    [{ 'x-request-id': '', 'cf-ray': 'd' }, 'd'],
    [{ 'x-request-id': 'e\u001B[31mf' }, 'e[31mf'],
    [{ 'x-request-id': '\u001B' }, undefined],
    [{ 'x-request-id': 'g'.repeat(500) }, 'g'.repeat(200)],
  ])('with the headers %j has the request id %s', async (headers, requestId) => {
    expect((await faultOf('status', { status: 500, headers: { ...headers } })).requestId).toBe(requestId);
  });
});

describe('a refusal', () => {
  const refusal = (code: string, message = 'no') => JSON.stringify({ code, message, executionId });

  test('has its code, its request id, its wait, and what the service says', async () => {
    const headers = { 'retry-after': '7', 'x-request-id': 'req-1' };
    const sent = { status: 400, headers, text: refusal('badField', 'No such field.') };
    const found = await faultOf('trigger', sent);
    const facts = {
      kind: 'rejected',
      httpStatus: 400,
      serviceCode: 'badField',
      requestId: 'req-1',
      retryAfterMs: 7000,
    };
    expect(found).toMatchObject({ ...facts, message: expect.stringContaining('No such field.') });
    expect(reasonOf(found)).toBe(`${found.message} (HTTP 400 badField)`);
    expect(reasonOf({ ...found, serviceCode: undefined })).toBe(`${found.message} (HTTP 400)`);
    expect(reasonOf(fault('lost', { serviceCode: 'badField' }).fault)).toBe('lost');
  });

  test('names the active run only if it refuses because of that', async () => {
    const idOf = async (status: number, code: string) =>
      (await faultOf('trigger', { status, text: refusal(code) })).executionId;
    expect(await idOf(422, 'runAlreadyActive')).toBe(executionId);
    expect([await idOf(422, 'invalidBody'), await idOf(500, 'runAlreadyActive')]).toEqual([undefined, undefined]);
  });

  test.each([401, 402, 429, 503])('has the same message for %i, whatever the service says', async (status) => {
    const { message } = await faultOf('trigger', { status });
    expect((await faultOf('trigger', { status, text: refusal('odd', 'Odd.') })).message).toBe(message);
  });

  test('has a message for 400 that does not repeat the code as the text of the service', async () => {
    expect((await faultOf('trigger', { status: 400, text: '{"error":"bad"}' })).message).not.toContain('bad');
  });

  describe.each([401, 403])('of %i', (status) => {
    const html = { 'content-type': 'text/html; charset=utf-8' };

    test.each<[string, Sent]>([
      ['with a document type', { text: '<!-- x --><!DOCTYPE html><p>Blocked' }],
      ['with a title', { text: '<title>Login</title>' }],
      ['with a code of the service in it', { text: '<html>runAlreadyActive notFound' }],
      ['of any tag, as its headers say', { text: '<noscript>Turn on JavaScript</noscript>', headers: html }],
      ['in an unknown coding', { text: 'x', headers: { ...html, 'content-encoding': 'br' } }],
    ])('does not come from the service if it is a page %s', async (_, sent) => {
      for (const operation of operations) {
        const found = await faultOf(operation, { status, ...sent });
        expect(found).toMatchObject({ kind: 'unreadable', page: expect.any(String), httpStatus: status });
        expect(found.message).toContain('an HTML page');
      }
    });

    test.each<[string, Sent]>([
      ['is empty', { headers: html }],
      ['is plain', { text: 'Forbidden' }],
      ['is plain, whatever its headers say', { text: 'Invalid API key', headers: html }],
      ['is JSON', { text: '{"title":"<html>Login</html>"}', headers: html }],
      ['is XML', { text: '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>' }],
    ])('comes from the service if its body %s', async (_, sent) => {
      for (const operation of operations)
        expect(await faultOf(operation, { status, ...sent })).toMatchObject({ kind: 'unauthorized', page: undefined });
    });
  });

  test('of 403 with a Retry-After means that the rate is limited, and quotes the service', async () => {
    const headers = { 'retry-after': '60' };
    const found = await faultOf('status', { status: 403, headers, text: refusal('odd', 'Secondary limit.') });
    expect(found).toMatchObject({ kind: 'throttled', retryAfterMs: 60_000 });
    expect(found.message).toMatch(/rate limit.*Secondary limit/);
    expect(await faultOf('status', { status: 401, headers })).toMatchObject({ kind: 'unauthorized' });
    expect(await faultOf('status', { status: 403, headers: { 'retry-after': '' } })).toMatchObject({
      kind: 'unauthorized',
    });
  });

  test.each<[string, Sent]>([
    ['broken gzip', { text: 'x', headers: { 'content-encoding': 'gzip' } }],
    ['of an unknown coding', { text: refusal('x'), headers: { 'content-encoding': 'zstd' } }],
    ['cut', { text: '{"code":"no', isTruncated: true }],
  ])('is read even if its body is %s', async (_, sent) => {
    expect(await faultOf('trigger', { status: 401, ...sent })).toMatchObject({ kind: 'unauthorized' });
    expect(await faultOf('trigger', { status: 400, ...sent })).toMatchObject({ kind: 'rejected' });
  });

  test('is not read to its end if it is very long', async () => {
    const codeOf = async (words: number) => {
      const text = JSON.stringify({ message: 'no', list: Array(words).fill('word'), code: 'late' });
      return (await faultOf('status', { status: 400, text })).serviceCode;
    };
    expect([await codeOf(10), await codeOf(200_000)]).toEqual(['late', undefined]);
  });
});
