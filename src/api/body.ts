import { promisify } from 'node:util';
import { parseJson } from '../json-text.ts';
import { type HttpResponse, valuesOf } from './exchange.ts';

/** The message begins with "it" or "its", and ends a sentence about the body. */
export class UnreadableBody extends Error {
  readonly tooLarge: boolean;
  readonly text: string; // the part that could be read

  constructor(message: string, { tooLarge = false, text = '' } = {}) {
    super(message);
    this.name = 'UnreadableBody';
    this.tooLarge = tooLarge;
    this.text = text;
  }
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

// No well-behaved server uses more codings than this.
const mostCodings = 4;

/** Undoes the codings, last one first (RFC 9110 §8.4). Throws `UnreadableBody`, also if the result exceeds `maxBytes`. */
export async function textOfBody({ body, headers }: HttpResponse, maxBytes: number): Promise<string> {
  const codings = valuesOf(headers, 'content-encoding')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length === 0 || body.length === 0) return decode(body);
  const decoders = await loadDecoders();
  const unknown = codings.find((coding) => !decoders.has(coding));
  if (unknown !== undefined) throw new UnreadableBody(`its encoding "${unknown}" is unknown`);
  if (codings.length > mostCodings) throw new UnreadableBody(`it has ${codings.length} codings`);
  let decoded = body;
  for (const coding of codings.reverse()) {
    decoded = await undo(coding, decoders.get(coding) as Decoder, decoded, maxBytes);
  }
  return decode(decoded);
}

async function undo(coding: string, decoder: Decoder, body: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await decoder(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new UnreadableBody(tooLarge ? largerThan(maxBytes) : `its ${coding} coding is broken`, { tooLarge });
  }
}

/** runctl only asks for gzip, but some gateways send the others anyway. */
async function loadDecoders(): Promise<Map<string, Decoder>> {
  const { brotliDecompress, gunzip, inflate, inflateRaw } = await import('node:zlib');
  const unzip: Decoder = promisify(gunzip);
  const inflateZlib: Decoder = promisify(inflate);
  const inflateBare: Decoder = promisify(inflateRaw);
  return new Map([
    ['gzip', unzip],
    ['x-gzip', unzip],
    // Some servers send raw deflate without the zlib format. In zlib, the first byte names method 8 (RFC 1950 §2.2).
    ['deflate', (body, options) => (((body[0] ?? 0) & 0x0f) === 8 ? inflateZlib : inflateBare)(body, options)],
    ['br', promisify(brotliDecompress)],
  ]);
}

/** Throws `UnreadableBody` if the body is too large, has an unknown coding or isn't JSON. */
export async function readJson(response: HttpResponse, maxBytes: number): Promise<unknown> {
  if (response.truncated) throw new UnreadableBody(largerThan(maxBytes), { tooLarge: true });
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
