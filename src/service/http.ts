import { setMaxListeners } from 'node:events';
import type { Dispatcher, Pool } from 'undici';
import { type Answer, type Failure, failure } from '../run/failure.ts';
import { connectFailure, lostFailure } from './connection-failure.ts';
import { openPool } from './connections.ts';
import type { HttpProxy } from './proxy.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  /** From the root of the origin, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** From connecting to the last byte of the response. */
  timeoutMs: number;
  /** The response may be long. It may take longer than `timeoutMs` as long as it keeps coming. */
  isLong?: boolean;
}

/** Names are in lower case. A repeated header is an array. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
}

const maxMiB = 1;
const maxLongMiB = 256;

export const valuesOf = (headers: Headers, name: string): string[] => [headers[name] ?? []].flat();

/**
 * Sends requests to one origin, directly or through a proxy, and follows no redirect. `send` never
 * rejects, and ends at once when the signal aborts; `close` closes the connections.
 */
export function createHttpClient(
  origin: string,
  proxy: HttpProxy | undefined,
  signal: AbortSignal,
) {
  const closing = new AbortController();
  // Each request listens to the one, and each connection to the other.
  setMaxListeners(0, signal, closing.signal);
  let shared: Promise<Pool> | undefined;

  /** All GETs share connections, which are renewed after a failure. */
  async function get(request: HttpRequest): Promise<Answer<HttpResponse>> {
    shared ??= openPool(origin, proxy, closing.signal);
    const pool = shared;
    const answer = await exchange(pool, origin, request, signal);
    const hasFailed = !answer.ok || answer.value.status >= 500;
    if (hasFailed && pool === shared) {
      shared = undefined;
      pool.then((old) => old.close()).catch(() => {});
    }
    return answer;
  }

  /**
   * Each POST has a connection of its own. A service may close one that was kept just when the
   * request is written, and nobody would know whether it was read.
   */
  async function post(request: HttpRequest): Promise<Answer<HttpResponse>> {
    const ending = new AbortController();
    const pool = openPool(origin, proxy, ending.signal);
    const answer = await exchange(pool, origin, request, signal);
    ending.abort();
    return answer;
  }

  return {
    send: (request: HttpRequest) => (request.method === 'GET' ? get(request) : post(request)),
    close: () => closing.abort(),
  };
}

/** How far a request has got. */
interface Progress {
  isOver: boolean;
  isWritten: boolean;
  head?: Omit<HttpResponse, 'text'>;
  controller?: Dispatcher.DispatchController;
  end(result: HttpResponse | Failure): void;
}

const requestIsOver = new Error('the request is over');

/**
 * Makes one request. Its limits are kept here, because undici notices neither a deadline nor a
 * signal while it connects.
 */
function exchange(
  pool: Promise<Pool>,
  origin: string,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Answer<HttpResponse>> {
  const { method, path, headers, body, timeoutMs, isLong } = request;
  return new Promise((resolve) => {
    const progress: Progress = {
      isOver: false,
      isWritten: false,
      end(result) {
        if (progress.isOver) return;
        progress.isOver = true;
        clearTimeout(timer);
        signal.removeEventListener('abort', interrupt);
        progress.controller?.abort(requestIsOver);
        const httpStatus = progress.head?.status;
        if ('kind' in result) resolve({ ok: false, failure: { ...result, httpStatus } });
        else resolve({ ok: true, value: result });
      },
    };
    const interrupt = () => progress.end(interruption(request, progress));
    const expire = () => progress.end(timeoutFailure(timeoutMs, progress));
    // When the process was stopped for a while, its timers run before its sockets are read.
    const timer = setTimeout(() => setImmediate(expire), timeoutMs);
    if (signal.aborted) return interrupt();
    signal.addEventListener('abort', interrupt);

    const onData = () => isLong && timer.refresh();
    const receiver = responseReceiver(progress, isLong ? maxLongMiB : maxMiB, onData);
    pool
      .then((opened) => opened.dispatch({ origin, method, path, headers, body }, receiver))
      .catch((error) => progress.end(connectFailure(error)));
  });
}

/** What undici calls while a request goes on. */
function responseReceiver(
  progress: Progress,
  maxMebibytes: number,
  onData: () => void,
): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    // This comes right before the first byte is written, also if the request is over by then.
    onRequestStart(controller) {
      progress.controller = controller;
      if (progress.isOver) controller.abort(requestIsOver);
      else progress.isWritten = true;
    },
    onResponseStart(_controller, status, headers) {
      if (status >= 200) progress.head = { status, headers };
    },
    onResponseData(_controller, chunk) {
      onData();
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxMebibytes * 1024 * 1024) return;
      const reason = `the response is longer than ${maxMebibytes} MiB`;
      progress.end(failure('invalid_response', { reason }));
    },
    onResponseEnd() {
      // Without the byte order mark, which JSON.parse refuses.
      const text = new TextDecoder().decode(Buffer.concat(chunks));
      if (progress.head) progress.end({ ...progress.head, text });
    },
    onResponseError(_controller, error) {
      const { isWritten, head } = progress;
      progress.end(isWritten ? lostFailure(error, head !== undefined) : connectFailure(error));
    },
  };
}

/** Only a POST that was written may have done something. */
const interruption = ({ method }: HttpRequest, { isWritten }: Progress): Failure =>
  isWritten && method === 'POST'
    ? failure('no_response', { reason: 'there was no response yet' })
    : failure('interrupted');

function timeoutFailure(timeoutMs: number, { isWritten, head }: Progress): Failure {
  const limit = `within ${timeoutMs / 1000}s`;
  if (!isWritten) return failure('unreachable', { reason: `nobody answered ${limit}` });
  const reason = head ? `no complete response ${limit}` : `no response ${limit}`;
  return failure('no_response', { reason });
}
