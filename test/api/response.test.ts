import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../src/api/classify.ts';
import type { HttpResponse } from '../../src/api/exchange.ts';
import { answerOf } from '../../src/api/response.ts';
import { type FaultKind, reasonOf } from '../../src/runs/fault.ts';
import type { JsonObject } from '../../src/runs/json.ts';
import type { ErrorShape } from '../fault-kit/error-shapes.ts';
import { errorReply } from '../fault-kit/error-shapes.ts';
import { executionId } from '../helpers/scripted-service.ts';

const nowMs = Date.UTC(2026, 10, 21, 9);

interface Sent extends Partial<HttpResponse> {
  text?: string;
}

const withStatus = (document: JsonObject) => (document.status === undefined ? undefined : document);
const idOfRun = (location: string) => /^\/runs\/(.+)$/.exec(location)?.[1];

function answer(operation: Operation, { text = '', ...response }: Sent, read = withStatus) {
  const whole = { status: 200, headers: {}, body: Buffer.from(text), truncated: false, ...response };
  return answerOf(whole, { operation, maxBytes: 1000, nowMs, read, scrub: (said) => said, runIdIn: idOfRun });
}

async function faultOf(operation: Operation, sent: Sent) {
  const answered = await answer(operation, sent);
  if (answered.kind !== 'fault') throw new Error('no fault');
  return answered.fault;
}

const body = (code: string, message = 'no') => JSON.stringify({ code, message });
const fromElsewhere = (page: string) => `the response is an HTML page, "${page}", and may not come from the service`;

describe('an answer', () => {
  test.each([200, 201, 202, 206])('of %i with what was asked for is good', async (status) => {
    const document = { status: 'RUNNING', more: 1 };
    expect(await answer('trigger', { status, text: JSON.stringify(document) })).toEqual({
      kind: 'ok',
      value: document,
    });
  });

  const shapes: ErrorShape[] = ['flat', 'string', 'nested', 'list', 'problem', 'data', 'text', 'html'];
  test.each(shapes)('is distinguished from another by its code in the shape %s', async (shape) => {
    const refuse = (code: string) => errorReply(shape, { status: 422, code, message: 'no' });
    const kindOf = async (code: string) => (await faultOf('trigger', { status: 422, text: refuse(code).body })).kind;
    // The emulator's page has the sentence in its heading, under a title of no use.
    if (shape !== 'html') expect(await kindOf('runAlreadyActive')).toBe('already_active');
    expect(await kindOf('invalidBody')).toBe('rejected');
  });

  test('names the active run only where it refuses for its sake', async () => {
    const text = (code: string) => JSON.stringify({ code, executionId });
    expect(await faultOf('trigger', { status: 422, text: text('runAlreadyActive') })).toMatchObject({ executionId });
    expect((await faultOf('trigger', { status: 422, text: text('invalidBody') })).executionId).toBeUndefined();
    expect((await faultOf('trigger', { status: 500, text: text('runAlreadyActive') })).executionId).toBeUndefined();
  });

  test('carries its code, its words, its id and its wait', async () => {
    const headers = { 'retry-after': '7', 'x-request-id': 'req-1' };
    const fault = await faultOf('trigger', { status: 429, headers, text: body('tooMany', 'Slow down') });
    expect(fault).toMatchObject({ serviceCode: 'tooMany', requestId: 'req-1', retryAfterMs: 7000 });
    expect(reasonOf(fault)).toBe('the rate limit was reached (HTTP 429 tooMany)');
  });

  test.each([
    [['7', '600', '30'], 600_000],
    [['soon', '3'], 3000],
    [['Sat, 21 Nov 2026 09:01:00 GMT', '5'], 60_000],
  ])('asks for the longest of the waits %j', async (waits, expectedMs) => {
    for (const status of [200, 404, 429]) {
      const { retryAfterMs } = await faultOf('status', { status, headers: { 'retry-after': waits } });
      expect(retryAfterMs).toBe(expectedMs);
    }
  });

  test.each([200, 422])('of %i has the time by the clock of the service', async (status) => {
    const timed = (date?: string | string[]) =>
      answer('status', { status, text: '{"status":"RUNNING"}', headers: { date, 'retry-after': '3' } });
    expect(await timed('Sat, 21 Nov 2026 12:00:00 GMT')).toMatchObject({ serviceTimeMs: nowMs + 3 * 3_600_000 });
    expect(await timed(['soon', 'Sat, 21 Nov 2026 12:00:00 GMT'])).toMatchObject({
      serviceTimeMs: nowMs + 3 * 3_600_000,
    });
    for (const date of [undefined, '', '2026-11-21T12:00:00Z'])
      expect((await timed(date)).serviceTimeMs).toBeUndefined();
  });

  test('that is good may ask for a wait', async () => {
    const good = await answer('status', { text: '{"status":"RUNNING"}', headers: { 'retry-after': '3' } });
    expect(good).toMatchObject({ kind: 'ok', retryAfterMs: 3000 });
  });

  test.each([
    [200, '{"ok":true}', "the response doesn't name this run with a status, and may not come from the service"],
    [200, '[]', 'the response is not a JSON object'],
    [200, 'welcome', "the response body can't be read: it is not JSON"],
    [200, '<html><title>Hotel Wi-Fi</title>', fromElsewhere('Hotel Wi-Fi')],
    [403, '<!DOCTYPE html><h1>Access denied</h1>', fromElsewhere('Access denied')],
    [400, body('bad', 'No such field.'), 'the service refused the request: No such field.'],
    [401, '', 'the API key was refused'],
    [402, '', 'the AI credit balance is 0'],
    [422, '', 'the response is not JSON'],
    [422, '<body>Blocked', fromElsewhere('Blocked')],
    [501, '<h1>Not Implemented</h1>', fromElsewhere('Not Implemented')],
    [501, body('notImplemented', 'Not here.'), 'the service reported an error: Not here.'],
    [400, '<title>Bad Request</title>', fromElsewhere('Bad Request')],
    [429, '', 'the rate limit was reached'],
    [503, '', 'the service is unavailable'],
  ])('of %i %s is put into words', async (status, text, message) => {
    expect((await faultOf('status', { status, text })).message).toBe(message);
  });

  test('is no failure of the service where our own reading of it fails', async () => {
    const read = () => {
      throw new TypeError('ours');
    };
    await expect(answer('status', { text: '{}' }, read)).rejects.toThrow('ours');
  });

  describe('with a Location', () => {
    const headers = { location: '/runs/7' };

    test('and no body is the run that a trigger has started', async () => {
      const value = { executionId: '7', status: 'RUNNING' };
      expect(await answer('trigger', { status: 201, headers })).toMatchObject({ kind: 'ok', value });
    });

    test('and a body says what the body says', async () => {
      const answered = await answer('trigger', { status: 201, headers, text: '{"status":"PAUSED"}' });
      expect(answered).toMatchObject({ kind: 'ok', value: { status: 'PAUSED' } });
    });

    test.each<[string, Operation, Sent]>([
      ['that leads elsewhere', 'trigger', { headers: { location: '/login' } }],
      ['of a poll', 'status', { headers }],
      ['of a poll', 'result', { headers }],
    ])('%s and no body says nothing', async (_, operation, sent) => {
      expect((await faultOf(operation, { status: 201, ...sent })).kind).toBe('unreadable');
    });

    test('redirects a trigger to its run, or elsewhere', async () => {
      const { kind, message } = await faultOf('trigger', { status: 302, headers });
      expect([kind, message]).toEqual([
        'redirected_to_run',
        'the service responded with a redirect to a run, not with its id',
      ]);
      expect((await faultOf('trigger', { status: 302, headers: { location: '/login' } })).kind).toBe('redirected');
      expect((await faultOf('trigger', { status: 302, headers: { date: '/runs/7' } })).kind).toBe('redirected');
    });
  });

  test('of 403 that is a page asks to find out what responded before the API key is replaced', async () => {
    expect((await faultOf('status', { status: 403, text: '<title>Login</title>' })).hint).toMatch(
      /^find out what responded/,
    );
    expect((await faultOf('status', { status: 403, text: '{"title":"Login"}' })).hint).toBeUndefined();
  });

  test('that a run is active says so', async () => {
    const { message } = await faultOf('trigger', { status: 422, text: body('runAlreadyActive') });
    expect(message).toBe('it is already running');
  });

  test('does not say the same word twice', async () => {
    const { message } = await faultOf('trigger', { status: 400, text: '{"error":"bad"}' });
    expect(message).toBe('the service refused the request');
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
    expect((await faultOf('status', { status: 500, headers: headers as Record<string, string> })).requestId).toBe(
      requestId,
    );
  });

  test.each([
    ['https://other.test/login?next=key', 'to https://other.test,'],
    ['/login', 'to another path,'],
    ['', 'a redirect,'],
  ])('that redirects to %j tells the place and no more', async (location, words) => {
    const { message } = await faultOf('status', { status: 302, headers: { location } });
    expect(message).toContain(words);
    expect(message).not.toContain('next=key');
  });

  test.each<[string, Sent, FaultKind]>([
    ['cut', { text: '{"status":"RUNNING"}', truncated: true }, 'too_large'],
    ['a gzip bomb', { body: gzipSync('x'.repeat(100_000)), headers: { 'content-encoding': 'gzip' } }, 'too_large'],
    ['broken gzip', { text: '{"status":"RUNNING"}', headers: { 'content-encoding': 'gzip' } }, 'unreadable'],
  ])('of 201 whose body is %s leaves the trigger in doubt', async (_, sent, kind) => {
    expect(await faultOf('trigger', { status: 201, ...sent })).toMatchObject({ kind });
  });

  test('that is too large is not asked for again', async () => {
    expect(await faultOf('result', { truncated: true })).toMatchObject({ kind: 'too_large' });
  });

  test.each<[string, Sent]>([
    ['broken gzip', { text: 'x', headers: { 'content-encoding': 'gzip' } }],
    ['an unknown coding', { text: body('x'), headers: { 'content-encoding': 'zstd' } }],
    ['cut', { text: '{"code":"no', truncated: true }],
  ])('that refuses is a refusal though its body is %s', async (_, sent) => {
    expect(await faultOf('trigger', { status: 401, ...sent })).toMatchObject({ kind: 'unauthorized' });
    const { message } = await faultOf('trigger', { status: 400, ...sent, truncated: false });
    expect(message).toMatch(/^the service refused the request(: \{"code":"no)?$/);
  });

  test('that refuses at great length is not read to its end', async () => {
    const refusal = (words: number) => JSON.stringify({ message: 'no', list: Array(words).fill('word'), code: 'late' });
    expect(await faultOf('status', { status: 400, text: refusal(10) })).toMatchObject({ serviceCode: 'late' });
    const { kind, serviceCode } = await faultOf('status', { status: 400, text: refusal(200_000) });
    expect([kind, serviceCode]).toEqual(['rejected', undefined]);
  });
});
