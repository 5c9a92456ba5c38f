import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readJson, textOfBody, UnreadableBody } from '../../src/service/body.ts';
import type { HttpResponse } from '../../src/service/exchange.ts';
import { gzipBomb } from '../helpers/gzip-bomb.ts';

const limit = 10_000;
const respond = (body: Buffer | string, encoding?: string, isTruncated = false): HttpResponse => ({
  status: 200,
  headers: encoding === undefined ? {} : { 'content-encoding': encoding },
  body: Buffer.from(body),
  isTruncated,
});
const reason = async (response: HttpResponse, maxBytes = limit) => {
  const error: unknown = await readJson(response, maxBytes).catch((caught) => caught);
  if (!(error instanceof UnreadableBody)) throw new Error(`not refused: ${String(error)}`);
  return { message: error.message, isTooLarge: error.isTooLarge };
};
const json = '{"a":"ü"}';

describe('a body', () => {
  test.each<[string, HttpResponse]>([
    ['plain', respond(json)],
    ['identity', respond(json, 'identity')],
    ['an empty encoding', respond(json, '')],
    ['gzip', respond(gzipSync(json), 'gzip')],
    ['GZIP in capitals and blanks', respond(gzipSync(json), ' GZIP ')],
    ['x-gzip', respond(gzipSync(json), 'x-gzip')],
    ['a byte order mark', respond(`\uFEFF${json}`)],
    ['a byte order mark in gzip', respond(gzipSync(`\uFEFF${json}`), 'gzip')],
    ['blanks around it', respond(` \r\n${json}\n`)],
  ])('is read if it has %s', async (_, response) => expect(await readJson(response, limit)).toEqual({ a: 'ü' }));

  test.each<[string, HttpResponse, string]>([
    ['is empty', respond(''), 'it is empty'],
    ['is empty and says gzip', respond('', 'gzip'), 'it is empty'],
    ['is blank', respond(' \n'), 'it is empty'],
    ['is a page', respond('<html>'), 'it is not JSON'],
    ['is half of JSON', respond('{"a":'), 'it is not JSON'],
    ['is cut gzip', respond(gzipSync(json).subarray(0, -9), 'gzip'), 'its gzip coding is broken'],
    ['is no gzip', respond(json, 'gzip'), 'its gzip coding is broken'],
    ['has an unknown encoding', respond(json, 'zstd'), 'its encoding "zstd" is unknown'],
    [
      'is packed in a way that was not asked for',
      respond(brotliCompressSync(json), 'br'),
      'its encoding "br" is unknown',
    ],
    ['is packed twice', respond(gzipSync(gzipSync(json)), 'gzip, gzip'), 'its encoding "gzip, gzip" is unknown'],
    ['has the encoding "constructor"', respond(json, 'constructor'), 'its encoding "constructor" is unknown'],
    ['has the encoding "__proto__"', respond(json, '__proto__'), 'its encoding "__proto__" is unknown'],
  ])('is refused with a message if it %s', async (_, response, message) => {
    expect(await reason(response)).toEqual({ message, isTooLarge: false });
  });

  test('is too large if it was cut, whatever part of it is there', async () => {
    expect(await reason(respond(json, undefined, true))).toEqual({
      message: 'it is larger than 10000 bytes',
      isTooLarge: true,
    });
  });

  test('may be as large as the limit once it is unpacked, and not a byte larger', async () => {
    const exact = gzipSync(`"${'x'.repeat(limit - 2)}"`);
    expect(await textOfBody(respond(exact, 'gzip'), limit)).toHaveLength(limit);
    expect(await reason(respond(gzipSync(`"${'x'.repeat(limit - 1)}"`), 'gzip'))).toMatchObject({ isTooLarge: true });
  });

  test('is not unpacked if it is gzip that unpacks to a thousand times its size', async () => {
    const body = gzipBomb(200);
    const before = process.memoryUsage().arrayBuffers;
    expect(await reason(respond(body, 'gzip'))).toEqual({ message: 'it is larger than 10000 bytes', isTooLarge: true });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
  });

  test('is read as text even if it is invalid UTF-8', async () => {
    expect(await textOfBody(respond(Buffer.from([0xff, 0x41])), limit)).toBe('\uFFFDA');
  });
});
