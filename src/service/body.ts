import { promisify } from 'node:util';
import { parseJson } from '../system/json.ts';
import { type HttpResponse, valuesOf } from './exchange.ts';

/**
 * A body that can't be read. The message begins with "it" or "its" and is the end of a sentence
 * about the body.
 */
export class UnreadableBody extends Error {
  readonly isTooLarge: boolean;
  readonly text: string; // the part that could be read

  constructor(message: string, { isTooLarge = false, text = '' } = {}) {
    super(message);
    this.isTooLarge = isTooLarge;
    this.text = text;
  }
}

/**
 * Unpacks gzip, the only coding that runctl asks for. Throws `UnreadableBody`, also if the result
 * exceeds `maxBytes`.
 */
export async function textOfBody(
  { body, headers }: HttpResponse,
  maxBytes: number,
): Promise<string> {
  const coding = valuesOf(headers, 'content-encoding').join(', ').trim().toLowerCase();
  if (body.length === 0 || coding === '' || coding === 'identity') return decode(body);
  if (coding !== 'gzip' && coding !== 'x-gzip')
    throw new UnreadableBody(`its encoding "${coding}" is unknown`);
  const { gunzip } = await import('node:zlib');
  try {
    return decode(await promisify(gunzip)(body, { maxOutputLength: maxBytes }));
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new UnreadableBody(isTooLarge ? largerThan(maxBytes) : 'its gzip coding is broken', {
      isTooLarge,
    });
  }
}

/** Throws `UnreadableBody` if the body is too large, has an unknown coding or isn't JSON. */
export async function readJson(response: HttpResponse, maxBytes: number): Promise<unknown> {
  if (response.isTruncated) throw new UnreadableBody(largerThan(maxBytes), { isTooLarge: true });
  const text = await textOfBody(response, maxBytes);
  try {
    return parseJson(text);
  } catch {
    throw new UnreadableBody(text.trim() === '' ? 'it is empty' : 'it is not JSON', { text });
  }
}

const largerThan = (bytes: number) => `it is larger than ${bytes} bytes`;

function decode(body: Buffer): string {
  const text = body.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
