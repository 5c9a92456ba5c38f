import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson, textOfBody, UnreadableBody } from '../../src/api/body.ts';
import type { HttpResponse } from '../../src/api/exchange.ts';
import { gzipBomb } from '../helpers/gzip-bomb.ts';

const limit = 10_000;
const respond = (body: Buffer | string, encoding?: string, truncated = false): HttpResponse => ({
  status: 200,
  headers: encoding === undefined ? {} : { 'content-encoding': encoding },
  body: Buffer.from(body),
  truncated,
});
const reason = async (response: HttpResponse, maxBytes = limit) => {
  const error: unknown = await readJson(response, maxBytes).catch((caught) => caught);
  if (!(error instanceof UnreadableBody)) throw new Error(`not refused: ${String(error)}`);
  return { message: error.message, tooLarge: error.tooLarge };
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
    ['deflate', respond(deflateSync(json), 'deflate')],
    ['deflate without the zlib format around it', respond(deflateRawSync(json), 'deflate')],
    ['br', respond(brotliCompressSync(json), 'br')],
    ['gzip, identity', respond(gzipSync(json), 'gzip, identity')],
    ['identity, gzip', respond(gzipSync(json), 'identity,gzip')],
    ['gzip twice', respond(gzipSync(gzipSync(json)), 'gzip, gzip')],
    ['deflate, then gzip, then br', respond(brotliCompressSync(gzipSync(deflateSync(json))), 'deflate, x-gzip,, br')],
    [
      'two header lines',
      { ...respond(gzipSync(deflateSync(json))), headers: { 'content-encoding': ['deflate', 'gzip'] } },
    ],
    ['a byte order mark', respond(`\uFEFF${json}`)],
    ['a byte order mark in gzip', respond(gzipSync(`\uFEFF${json}`), 'gzip')],
    ['blanks around it', respond(` \r\n${json}\n`)],
  ])('with %s is read', async (_, response) => expect(await readJson(response, limit)).toEqual({ a: 'ü' }));

  test.each<[string, HttpResponse, string]>([
    ['is empty', respond(''), 'it is empty'],
    ['is empty and says gzip', respond('', 'gzip'), 'it is empty'],
    ['is blank', respond(' \n'), 'it is empty'],
    ['is a page', respond('<html>'), 'it is not JSON'],
    ['is half of JSON', respond('{"a":'), 'it is not JSON'],
    ['nests too deep for a reader', respond(`["3e",${'['.repeat(200_000)}${']'.repeat(200_000)}]`), 'it is not JSON'],
    ['is cut gzip', respond(gzipSync(json).subarray(0, -9), 'gzip'), 'its gzip coding is broken'],
    ['is no gzip', respond(json, 'gzip'), 'its gzip coding is broken'],
    ['is no deflate', respond(json, 'deflate'), 'its deflate coding is broken'],
    ['is no br', respond(json, 'br'), 'its br coding is broken'],
    ['has an unknown encoding', respond(json, 'zstd'), 'its encoding "zstd" is unknown'],
    ['has an unknown encoding among others', respond(gzipSync(json), 'zstd, gzip'), 'its encoding "zstd" is unknown'],
    [
      'has codings in the wrong order',
      respond(gzipSync(deflateSync(json)), 'gzip, deflate'),
      'its deflate coding is broken',
    ],
    ['has fewer codings than it says', respond(gzipSync(json), 'gzip, gzip'), 'its gzip coding is broken'],
    ['has five codings', respond(json, 'gzip, gzip, gzip, gzip, gzip'), 'it has 5 codings'],
    ['has the encoding "constructor"', respond(json, 'constructor'), 'its encoding "constructor" is unknown'],
    ['has the encoding "__proto__"', respond(json, '__proto__'), 'its encoding "__proto__" is unknown'],
  ])('that %s is refused in words', async (_, response, message) => {
    expect(await reason(response)).toEqual({ message, tooLarge: false });
  });

  test('that was cut is too large, whatever of it is there', async () => {
    expect(await reason(respond(json, undefined, true))).toEqual({
      message: 'it is larger than 10000 bytes',
      tooLarge: true,
    });
  });

  test('may be as large as the bound once it is unpacked, and not a byte larger', async () => {
    const exact = gzipSync(`"${'x'.repeat(limit - 2)}"`);
    expect(await textOfBody(respond(exact, 'gzip'), limit)).toHaveLength(limit);
    expect(await reason(respond(gzipSync(`"${'x'.repeat(limit - 1)}"`), 'gzip'))).toMatchObject({ tooLarge: true });
  });

  // RFC 1951 §3.2.3: blocks follow one another, so one mebibyte is packed for all; the last block is empty.
  const blocks = deflateRawSync(Buffer.alloc(2 ** 20), { finishFlush: constants.Z_SYNC_FLUSH });
  const bareBomb = () => Buffer.concat([...Array<Buffer>(32).fill(blocks), Buffer.from([0x03, 0x00])]);
  const zlibHeader = Buffer.from([0x78, 0x01]);
  test.each<[string, () => Buffer, string]>([
    ['gzip', () => gzipBomb(200), 'gzip'],
    ['gzip in gzip', () => gzipSync(gzipBomb(200)), 'gzip, gzip'],
    ['deflate', () => Buffer.concat([zlibHeader, bareBomb()]), 'deflate'],
    ['deflate without the zlib format', bareBomb, 'deflate'],
    ['br', () => brotliCompressSync(Buffer.alloc(2 ** 25), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }), 'br'],
  ])('of %s that unpacks to a thousand times its size is not unpacked', async (_, bomb, encoding) => {
    const body = bomb();
    const before = process.memoryUsage().arrayBuffers;
    expect(await reason(respond(body, encoding))).toEqual({ message: 'it is larger than 10000 bytes', tooLarge: true });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
  });

  test('comes back whole through any codings', async () => {
    const encode = {
      gzip: gzipSync,
      'x-gzip': gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
      identity: Buffer.from,
    };
    const codings = fc.array(fc.constantFrom(...(Object.keys(encode) as (keyof typeof encode)[])), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), codings, async (text, names) => {
        const body = names.reduce((bytes: Buffer, name) => encode[name](bytes), Buffer.from(text));
        expect(await textOfBody(respond(body, names.join(', ')), limit)).toBe(text.replace(/^\uFEFF/, ''));
      }),
    );
  });

  test('of invalid UTF-8 is text all the same', async () => {
    expect(await textOfBody(respond(Buffer.from([0xff, 0x41])), limit)).toBe('\uFFFDA');
  });
});
