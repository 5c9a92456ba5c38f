import { promisify } from 'node:util';
import { parseJson } from '../json-text.ts';
import type { HttpResponse } from './exchange.ts';

/** Why a body could not be read, in one clause. */
export class UnreadableBody extends Error {
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge = false) {
    super(message);
    this.name = 'UnreadableBody';
    this.tooLarge = tooLarge;
  }
}

/** The text of a body, decompressed with the same bound that its reading had. Throws `UnreadableBody`. */
export async function readText({ body, headers }: HttpResponse, maxBytes: number): Promise<string> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '' || body.length === 0) return decode(body);
  const { gunzip, inflate } = await import('node:zlib');
  // Only gzip is asked for; deflate is what some gateways send all the same.
  const decoders = new Map([
    ['gzip', gunzip],
    ['x-gzip', gunzip],
    ['deflate', inflate],
  ]);
  const decompress = decoders.get(encoding);
  if (!decompress) throw new UnreadableBody(`its encoding "${encoding}" is unknown`);
  try {
    return decode(await promisify(decompress)(body, { maxOutputLength: maxBytes }));
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new UnreadableBody(tooLarge ? largerThan(maxBytes) : `its ${encoding} coding is broken`, tooLarge);
  }
}

/** The JSON of a body. Throws `UnreadableBody`. */
export async function readJson(response: HttpResponse, maxBytes: number): Promise<unknown> {
  if (response.truncated) throw new UnreadableBody(largerThan(maxBytes), true);
  const text = await readText(response, maxBytes);
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
