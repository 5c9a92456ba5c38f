import type { LookupFunction } from 'node:net';
import { getBuiltinModule } from 'node:process';
import type { Dispatcher } from 'undici';
import { onAbort } from '../system/clock.ts';
import { type Connections, openConnections } from './connections.ts';
import {
  type Exchange,
  type ExchangeFailure,
  type HttpRequest,
  type HttpResponse,
  type Transport,
  valuesOf,
} from './exchange.ts';
import type { ProxySettings } from './proxy.ts';

export interface TransportOptions {
  origin: string;
  proxy?: ProxySettings;
  /** How many connections the polls share. */
  connections: number;
  connectTimeoutMs: number;
  /** How names are resolved; by default by the system. */
  lookup?: LookupFunction;
  elapsedMs?(): number;
}

// A connection is kept open, because opening one costs the service more than a request.
const betweenRenewalsMs = 15_000;

/** Whether a new connection could help. That is so after a failure, a 5xx or an HTML page. */
function hasFailed(exchange: Exchange): boolean {
  if (exchange.kind === 'failure') return exchange.failure.kind !== 'interrupted';
  const { status, headers } = exchange.response;
  return status >= 500 || valuesOf(headers, 'content-type').some((type) => /html/i.test(type));
}

/**
 * Resolves like the system. Node only loads the code for this if the host is a name, not an
 * address.
 */
const systemLookup: LookupFunction = (...query) => getBuiltinModule('node:dns').lookup(...query);

/**
 * Makes an error of a name without an address, because otherwise Node would throw in its own
 * callback.
 */
const withAddress =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      const [first] = [address].flat();
      const isKnown = error || first;
      const none = Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
      callback(isKnown ? error : none, address, family);
    });

/**
 * The connections that polls share. They are renewed after a failure, because one that was kept may
 * lead to a dead host, while a new one would lead to another.
 */
class SharedConnections {
  #opened: Promise<Connections> | undefined;
  #mayBeBroken = false;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  readonly #open: () => Promise<Connections>;
  readonly #elapsedMs: () => number;

  constructor(open: () => Promise<Connections>, elapsedMs: () => number) {
    this.#open = open;
    this.#elapsedMs = elapsedMs;
  }

  get(): Promise<Connections> {
    this.#renewIfBroken();
    this.#opened ??= this.#open();
    return this.#opened;
  }

  noteExchange(exchange: Exchange): void {
    this.#mayBeBroken ||= hasFailed(exchange);
  }

  /** They couldn't be opened, so the next request tries again. */
  noteNotOpened(): void {
    this.#opened = undefined;
  }

  #renewIfBroken(): void {
    if (!this.#mayBeBroken || this.#elapsedMs() - this.#renewedAtMs < betweenRenewalsMs) return;
    void this.#opened?.then((old) => old.close()).catch(() => {});
    this.#opened = undefined;
    this.#mayBeBroken = false;
    this.#renewedAtMs = this.#elapsedMs();
  }
}

/** Sends requests to one origin. Polls share connections, and every trigger has its own. */
export function createTransport({
  origin,
  proxy,
  connections,
  connectTimeoutMs: timeoutMs,
  lookup = systemLookup,
  elapsedMs = () => performance.now(),
}: TransportOptions): Transport {
  /**
   * After an attempt that reached no address, the next one waits longer for each address, and the
   * one after that as long as before.
   */
  let usesLongConnectTimeout = false;
  const connecting = {
    origin,
    proxy,
    timeoutMs,
    lookup: withAddress(lookup),
    usesLongConnectTimeout: () => usesLongConnectTimeout,
  };
  const open = (limit: number) => openConnections({ ...connecting, connections: limit });
  const shared = new SharedConnections(() => open(connections), elapsedMs);

  return {
    async exchange(request, signal) {
      if (signal.aborted)
        return { kind: 'failure', failure: { wasSent: false, kind: 'interrupted' } };
      const usedLongTimeout = usesLongConnectTimeout;
      // The service may close a kept-alive socket just as we write, which would leave its trigger
      // in doubt.
      const isShared = request.method === 'GET';
      let opened: Connections;
      try {
        opened = await (isShared ? shared.get() : open(1));
      } catch (error) {
        // undici couldn't be loaded, perhaps because the package is just being replaced.
        shared.noteNotOpened();
        return { kind: 'failure', failure: { wasSent: false, kind: 'network', error } };
      }
      try {
        const exchange = await exchangeOnce(opened, origin, request, signal);
        shared.noteExchange(exchange);
        if (isUnsent(exchange)) usesLongConnectTimeout = !usedLongTimeout;
        return exchange;
      } finally {
        if (!isShared) opened.destroy();
      }
    },
  };
}

const isUnsent = (exchange: Exchange) =>
  exchange.kind === 'failure' &&
  !exchange.failure.wasSent &&
  exchange.failure.kind !== 'interrupted';

function exchangeOnce(
  { dispatcher, handshakeAlert }: Connections,
  origin: string,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const { path, method, headers, body = null } = request;
    let forget = () => {};
    let isDone = false;
    const reading = readResponse(request.maxBytes, (exchange) => {
      isDone = true;
      clearTimeout(timer);
      forget();
      resolve(exchange);
    });
    // After the process was stopped, its timers run before its sockets are read.
    const timer = setTimeout(() => setImmediate(reading.fail, 'deadline'), request.timeoutMs);
    const interrupt = () => reading.fail('interrupted');
    if (signal.aborted) return interrupt();
    forget = onAbort(signal, interrupt);
    try {
      dispatcher.dispatch(
        { origin, path, method, headers, body },
        reading.handler(() => isDone, handshakeAlert),
      );
    } catch (error) {
      reading.fail('network', error);
    }
  });
}

/** Collects the response to one request. Calls `end` once, with the response or the failure. */
function readResponse(maxBytes: number, end: (exchange: Exchange) => void) {
  let wasSent = false;
  let head: Pick<HttpResponse, 'status' | 'headers'> | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  const chunks: Buffer[] = [];
  let size = 0;

  function fail(kind: ExchangeFailure['kind'], error?: unknown): void {
    end({ kind: 'failure', failure: { wasSent, kind, status: head?.status, error } });
    controller?.abort(new Error(kind));
  }
  function endWithResponse(isTruncated: boolean): void {
    if (head)
      end({ kind: 'response', response: { ...head, body: Buffer.concat(chunks), isTruncated } });
  }
  const handler = (
    isDone: () => boolean,
    handshakeAlert: () => Error | undefined,
  ): Dispatcher.DispatchHandler => ({
    // undici calls this right before it writes the first byte. It connects even after an abort, so
    // a request that is over is stopped here.
    onRequestStart(started) {
      controller = started;
      if (isDone()) started.abort(new Error('too late'));
      else wasSent = true;
    },
    onResponseStart(_controller, status, headers) {
      if (status >= 200) head = { status, headers };
    },
    onResponseData(started, chunk) {
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      if (size > maxBytes) {
        endWithResponse(true);
        started.abort(new Error('too large'));
      }
    },
    onResponseEnd: () => endWithResponse(false),
    onResponseError(_controller, error) {
      const alert = head ? undefined : handshakeAlert();
      if (alert) wasSent = false;
      fail('network', alert ?? error);
    },
  });
  return { fail, handler };
}
