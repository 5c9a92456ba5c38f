import { promisify } from 'node:util';
import type { ZlibOptions } from 'node:zlib';
import { parseJson } from '../json-text.ts';
import { type HttpResponse, valuesOf } from './exchange.ts';

export class UnreadableBody extends Error {
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge = false) {
    super(message);
    this.name = 'UnreadableBody';
    this.tooLarge = tooLarge;
  }
}

/** Throws `UnreadableBody`, also for what unpacks to more than `maxBytes`. */
export async function textOfBody({ body, headers }: HttpResponse, maxBytes: number): Promise<string> {
  const coding = valuesOf(headers, 'content-encoding').join().trim().toLowerCase();
  if (body.length === 0 || coding === '' || coding === 'identity') return decode(body);
  // Nothing but gzip is asked for; `x-gzip` is another name for it (RFC 9110 §8.4.1.3).
  if (coding !== 'gzip' && coding !== 'x-gzip') throw new UnreadableBody(`its encoding "${coding}" is unknown`);
  const { gunzip } = await import('node:zlib');
  try {
    return decode(await promisify<Buffer, ZlibOptions, Buffer>(gunzip)(body, { maxOutputLength: maxBytes }));
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new UnreadableBody(tooLarge ? largerThan(maxBytes) : 'its gzip coding is broken', tooLarge);
  }
}

/** Throws `UnreadableBody`. */
export async function readJson(response: HttpResponse, maxBytes: number): Promise<unknown> {
  if (response.truncated) throw new UnreadableBody(largerThan(maxBytes), true);
  const text = await textOfBody(response, maxBytes);
  try {
    return parseJson(text);
  } catch {
    throw new UnreadableBody(text.trim() === '' ? 'it is empty' : 'it is not JSON');
  }
}

const largerThan = (bytes: number) => `it is larger than ${bytes} bytes`;

function decode(body: Buffer): string {
  const text = body.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
