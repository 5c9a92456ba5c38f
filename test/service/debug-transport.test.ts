import { expect, test } from 'vitest';
import { createDebugTransport } from '../../src/service/debug-transport.ts';
import type { Exchange } from '../../src/service/exchange.ts';

const { signal } = new AbortController();
const request = {
  method: 'POST',
  path: '/v0/x',
  headers: { 'x-api-key': 'sk-live-0123', 'content-type': 'application/json', 'idempotency-key': 'key-1' },
  timeoutMs: 1000,
  maxBytes: 1000,
} as const;

/** The lines that are written about these exchanges, each of which takes 12.4 ms. */
async function linesOf(...exchanges: Exchange[]) {
  let nowMs = 0;
  const lines: string[] = [];
  const inner = {
    async exchange() {
      nowMs += 12.4;
      return exchanges.shift() as Exchange;
    },
  };
  const debugged = createDebugTransport(inner, {
    origin: 'https://service.test',
    nowMs: () => nowMs,
    write: (line) => lines.push(line),
  });
  for (const expected of [...exchanges]) expect(await debugged.exchange(request, signal)).toBe(expected);
  return lines;
}

const asked = (number: number) =>
  `#${number} POST https://service.test/v0/x content-type=application/json idempotency-key=key-1`;

const responded = (headers: Record<string, string | string[]>, isTruncated: boolean): Exchange => ({
  kind: 'response',
  response: { status: 201, headers, body: Buffer.from('{}'), isTruncated },
});

test('every request is numbered, and shown with its response and the headers that contain no secret', async () => {
  const headers = {
    'set-cookie': 'session=1',
    'content-length': '2',
    'content-encoding': 'gzip',
    date: 'D',
    location: '/runs/7',
    'retry-after': ['3', '4'],
    server: 'S',
    'x-request-id': 'R',
  };
  expect(await linesOf(responded(headers, false), responded({}, true))).toEqual([
    asked(1),
    '#1 201, 2 bytes content-length=2 content-encoding=gzip date=D location=/runs/7 retry-after=3 retry-after=4 server=S x-request-id=R after 12 ms',
    asked(2),
    '#2 201, 2 bytes (cut) after 12 ms',
  ]);
});

test.each<[string, boolean, unknown, string]>([
  ['network', true, new Error('read ECONNRESET'), '(network: read ECONNRESET), the request was sent,'],
  ['deadline', false, undefined, '(deadline), the request was not sent,'],
])('the line about a request that failed (%s) says whether it was sent: %s', async (reason, sent, error, words) => {
  const failure = { kind: reason as 'network', wasSent: sent, error };
  expect(await linesOf({ kind: 'failure', failure })).toEqual([asked(1), `#1 no response ${words} after 12 ms`]);
});
