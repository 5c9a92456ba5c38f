import type { Socket } from 'node:net';
import type { Client } from 'undici';
import { type Answer, type Failure, failureOf } from '../core/failure.ts';
import { openConnection, tlsReason } from './connection.ts';
import type { HttpProxy } from './proxy.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  origin: URL;
  proxy?: HttpProxy;
  /** From the root of the origin, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** From connecting to the last byte of the response. */
  timeoutMs: number;
  /** A response that keeps coming may take longer than `timeoutMs`. */
  isLong?: boolean;
}

/** By name in lower case. A header may come several times. */
export type ResponseHeaders = Readonly<Record<string, string[] | undefined>>;

export interface HttpResponse {
  status: number;
  /** Such as `Not Found`. */
  phrase: string;
  headers: ResponseHeaders;
  text: string;
}

/** How far a request has got. */
interface RequestProgress {
  isWritten: boolean;
  /** Of the response, once its head has come. */
  httpStatus?: number;
}

const clientOptions = {
  // Gateways add cookies of more than the 16 KB that Node allows (nodejs/node#47246).
  maxHeaderSize: 256 * 1024,
  // Each request has a time limit of its own.
  headersTimeout: 0,
  bodyTimeout: 0,
};
const maxMiB = 256;

/**
 * Sends one request, and follows no redirect. Never rejects, and ends at once when the signal
 * aborts. Each request has a connection of its own: a service may close one that was kept just when
 * the next request is written, and nobody would know whether that was read.
 */
export async function send(
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Answer<HttpResponse>> {
  const progress: RequestProgress = { isWritten: false };
  // Aborts with the failure of a request that has to end, and closes its connection.
  const ending = new AbortController();
  const interrupt = () => ending.abort(interruptFailure(request, progress));
  const expire = () => ending.abort(timeoutFailure(request, progress));
  // When the process was stopped for a while, its timers run before its sockets are read.
  const timer = setTimeout(() => setImmediate(expire), request.timeoutMs);
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  try {
    return await exchange(request, progress, ending, timer);
  } catch (error) {
    const isEnded = ending.signal.aborted;
    const why: Failure = isEnded ? ending.signal.reason : lostFailure(error as Error, progress);
    return { ok: false, failure: { ...why, httpStatus: progress.httpStatus } };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', interrupt);
    ending.abort();
  }
}

/** Throws if the request has to end, or its connection breaks. */
async function exchange(
  { origin, proxy, method, path, headers, body, isLong }: HttpRequest,
  progress: RequestProgress,
  ending: AbortController,
  timer: NodeJS.Timeout,
): Promise<Answer<HttpResponse>> {
  const { signal } = ending;
  const connection = await openConnection(origin, proxy, signal);
  signal.throwIfAborted();
  if (!connection.ok) return connection;

  const { Client, request } = await import('./undici.ts');
  await leaveOutOptimizing();
  const client = new Client(origin.origin, {
    ...clientOptions,
    connect: connectorOf(connection.value),
  });
  progress.isWritten = true;
  const response = await request.call(client, { method, path, headers, body, signal });
  const { statusCode: status, statusText: phrase, headers: sent } = response;
  progress.httpStatus = status;

  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    if (isLong) timer.refresh();
    chunks.push(chunk);
    size += chunk.length;
    if (size <= maxMiB * 1024 * 1024) continue;
    const reason = `the response is longer than ${maxMiB} MiB`;
    ending.abort(failureOf('invalid_response', { reason }));
  }
  // Without the byte order mark, which JSON.parse refuses.
  const text = new TextDecoder().decode(Buffer.concat(chunks));
  const distinct = Object.entries(sent).map(([name, value]) => [name, [value ?? []].flat()]);
  return { ok: true, value: { status, phrase, headers: Object.fromEntries(distinct), text } };
}

/**
 * Gives undici this connection, and no other after it, so that nothing is written twice. undici
 * doesn't expect an answer before the connector returns.
 */
function connectorOf(socket: Socket): NonNullable<Client.Options['connect']> {
  let isGiven = false;
  return (_target, done) => {
    const isFirst = !isGiven;
    isGiven = true;
    queueMicrotask(() => (isFirst ? done(null, socket) : done(new Error('it broke'), null)));
  };
}

/** Node 20 exits 80 ms later while V8 optimizes the WebAssembly that undici compiles (22 doesn't). */
async function leaveOutOptimizing(): Promise<void> {
  if ('withResolvers' in Promise) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--liftoff-only');
}

/** Only a POST that was written may have done something. */
const interruptFailure = ({ method }: HttpRequest, { isWritten }: RequestProgress): Failure =>
  isWritten && method === 'POST'
    ? failureOf('no_response', { reason: 'there was no response yet' })
    : failureOf('interrupted');

function timeoutFailure(
  { timeoutMs }: HttpRequest,
  { isWritten, httpStatus }: RequestProgress,
): Failure {
  const limit = `within ${Math.round(timeoutMs) / 1000}s`;
  if (!isWritten) return failureOf('unreachable', { reason: `nobody answered ${limit}` });
  return failureOf('no_response', {
    reason: `no ${httpStatus ? 'complete ' : ''}response ${limit}`,
  });
}

/** The failure of a request that was written, in full or in part. */
function lostFailure(
  { name, code = '', message }: NodeJS.ErrnoException,
  { httpStatus }: RequestProgress,
): Failure {
  // undici refuses an interim 100, takes two Content-Lengths for one long number, and doesn't
  // distinguish that from a response that is cut short.
  const isUnread = /PARSER|OVERFLOW|MISMATCH|bad response/i.test(`${name} ${code} ${message}`);
  if (isUnread) {
    return failureOf('invalid_response', { reason: `the response can't be read (${message})` });
  }
  const where = httpStatus ? 'in the middle of' : 'before';
  // A server that speaks TLS 1.3 refuses a client's certificate only after the handshake.
  const alert = tlsReason(message);
  const reason = `the connection broke ${where} the response${alert ? ` (${alert})` : ''}`;
  return failureOf('connection_lost', { reason });
}
