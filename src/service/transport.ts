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
  connections: number; // how many connections the polls share
  connectTimeoutMs: number;
  lookup?: LookupFunction; // how names are resolved; by default by the system
  elapsedMs?(): number;
}

// New connections cost the service more than a request.
const betweenRenewalsMs = 15_000;

/** Could a new connection help? True after a failure, a 5xx or an HTML page. */
function hasFailed(exchange: Exchange): boolean {
  if (exchange.kind === 'failure') return exchange.failure.reason !== 'interrupted';
  const { status, headers } = exchange.response;
  return status >= 500 || valuesOf(headers, 'content-type').some((type) => /html/i.test(type));
}

/** Resolves like the system. Node only loads the code for this if the host is a name, not an address. */
const systemLookup: LookupFunction = (...query) => getBuiltinModule('node:dns').lookup(...query);

/** Turns a name without an address into an error. Otherwise Node would throw in its own callback. */
const withAddress =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      const [first] = [address].flat();
      const isKnown = error || first;
      const none = Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
      callback(isKnown ? error : none, address, family);
    });

/** Sends requests to one origin. Polls share connections, and every trigger has its own. */
export function createTransport(options: TransportOptions): Transport {
  const { origin, proxy, connections, connectTimeoutMs: timeoutMs, lookup = systemLookup } = options;
  const { elapsedMs = () => performance.now() } = options;
  /** After each attempt that reached nobody, the next one waits for an address longer, or shorter again. */
  let isPatient = false;
  const connecting = { origin, proxy, timeoutMs, lookup: withAddress(lookup), isPatient: () => isPatient };
  const open = (limit: number) => openConnections({ ...connecting, connections: limit });

  let shared: Promise<Connections> | undefined;
  let isDoubtful = false; // a kept connection may lead to a dead host, while new ones would lead elsewhere
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  const leaveDoubtful = () => {
    if (!isDoubtful || elapsedMs() - renewedAtMs < betweenRenewalsMs) return;
    void shared?.then((old) => old.close()).catch(() => {});
    [shared, isDoubtful, renewedAtMs] = [undefined, false, elapsedMs()];
  };
  const connectionsFor = (method: HttpRequest['method']): Promise<Connections> => {
    // The service may close a kept-alive socket just as we write, which would leave its trigger in doubt.
    if (method !== 'GET') return open(1);
    leaveDoubtful();
    shared ??= open(connections);
    return shared;
  };

  return {
    async exchange(request, signal) {
      if (signal.aborted) return { kind: 'failure', failure: { sent: false, reason: 'interrupted' } };
      const wasPatient = isPatient;
      let opened: Connections;
      try {
        opened = await connectionsFor(request.method);
      } catch (error) {
        // undici can't be loaded, because the package may be being replaced. The next request tries again.
        shared = undefined;
        return { kind: 'failure', failure: { sent: false, reason: 'network', error } };
      }
      try {
        const exchange = await perform(opened, origin, request, signal);
        isDoubtful ||= hasFailed(exchange);
        if (isUnsent(exchange)) isPatient = !wasPatient;
        return exchange;
      } finally {
        if (request.method !== 'GET') opened.destroy();
      }
    },
  };
}

const isUnsent = (exchange: Exchange) =>
  exchange.kind === 'failure' && !exchange.failure.sent && exchange.failure.reason !== 'interrupted';

function perform(
  { dispatcher, refusedHandshake }: Connections,
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
        reading.handler(() => isDone, refusedHandshake),
      );
    } catch (error) {
      reading.fail('network', error);
    }
  });
}

/** Collects the response to one request, and calls `end` once with what came of it. */
function readResponse(maxBytes: number, end: (exchange: Exchange) => void) {
  let sent = false;
  let head: Pick<HttpResponse, 'status' | 'headers'> | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  const chunks: Buffer[] = [];
  let size = 0;

  function fail(reason: ExchangeFailure['reason'], error?: unknown): void {
    end({ kind: 'failure', failure: { sent, reason, status: head?.status, error } });
    controller?.abort(new Error(reason));
  }
  function answer(truncated: boolean): void {
    if (head) end({ kind: 'response', response: { ...head, body: Buffer.concat(chunks), truncated } });
  }
  const handler = (isDone: () => boolean, refusedHandshake: () => Error | undefined): Dispatcher.DispatchHandler => ({
    // undici calls this right before it writes the first byte. It connects even after an abort, so a request
    // that is over is stopped here.
    onRequestStart(started) {
      controller = started;
      if (isDone()) started.abort(new Error('too late'));
      else sent = true;
    },
    onResponseStart(_controller, status, headers) {
      if (status >= 200) head = { status, headers };
    },
    onResponseData(started, chunk) {
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      if (size > maxBytes) {
        answer(true);
        started.abort(new Error('too large'));
      }
    },
    onResponseEnd: () => answer(false),
    onResponseError(_controller, error) {
      const refusal = head ? undefined : refusedHandshake();
      if (refusal) sent = false;
      fail('network', refusal ?? error);
    },
  });
  return { fail, handler };
}
