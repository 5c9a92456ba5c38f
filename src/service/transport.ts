import type { LookupFunction } from 'node:net';
import { getBuiltinModule } from 'node:process';
import type { Dispatcher } from 'undici';
import { onAbort } from '../system/clock.ts';
import {
  type Exchange,
  type ExchangeFailure,
  type HttpRequest,
  type HttpResponse,
  type Transport,
  valuesOf,
} from './exchange.ts';
import { ProxyFailure, type ProxySettings } from './proxy.ts';

export interface TransportOptions {
  origin: string;
  proxy?: ProxySettings;
  connections: number; // how many connections the polls share
  connectTimeoutMs: number;
  lookup?: LookupFunction; // how names are resolved; by default by the system
  elapsedMs?(): number;
}

// runctl enforces the deadline, not undici. With `maxHeaderSize` set, undici doesn't load node:http to look it up.
const noDeadlines = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16_384, keepAliveTimeout: 20_000 };

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
  const { origin, proxy, connections, connectTimeoutMs, lookup = systemLookup } = options;
  const { elapsedMs = () => performance.now() } = options;
  const connect = { timeout: connectTimeoutMs, lookup: withAddress(lookup) };
  const openDirectly = async (limit: number): Promise<Dispatcher> => {
    const { Pool } = await import('undici');
    return new Pool(origin, { ...noDeadlines, connections: limit, connect });
  };
  const openThrough = async ({ origin: uri, credentials }: ProxySettings, limit: number): Promise<Dispatcher> => {
    const { Client, ProxyAgent } = await import('undici');
    return new ProxyAgent({
      ...noDeadlines,
      connections: limit,
      connect,
      uri,
      // undici sends no credentials for a user without a password.
      token: credentials && `Basic ${Buffer.from(credentials).toString('base64')}`,
      proxyTls: connect,
      requestTls: connect,
      clientFactory: (url, clientOptions) => {
        // Otherwise a proxy that hangs on CONNECT would hold its connection for five minutes.
        const client = new Client(url, { ...clientOptions, headersTimeout: connectTimeoutMs });
        const openTunnel = client.connect.bind(client);
        // undici uses the proxy as the TLS server name even if it is an IP address, which Node 26 refuses.
        const named = (wanted: Dispatcher.ConnectOptions) =>
          openTunnel(Object.assign(wanted, { servername: undefined })).catch((error) =>
            Promise.reject(new ProxyFailure(error)),
          );
        return Object.assign(client, { connect: named });
      },
    });
  };
  const open = (limit: number) => (proxy ? openThrough(proxy, limit) : openDirectly(limit));

  let shared: Promise<Dispatcher> | undefined;
  let isDoubtful = false; // a kept connection may lead to a dead host, while new ones would lead elsewhere
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  const leaveDoubtful = () => {
    if (!isDoubtful || elapsedMs() - renewedAtMs < betweenRenewalsMs) return;
    void shared?.then((old) => old.close()).catch(() => {});
    [shared, isDoubtful, renewedAtMs] = [undefined, false, elapsedMs()];
  };
  const dispatcherFor = (method: HttpRequest['method']): Promise<Dispatcher> => {
    // The service may close a kept-alive socket just as we write, which would leave its trigger in doubt.
    if (method !== 'GET') return open(1);
    leaveDoubtful();
    shared ??= open(connections);
    return shared;
  };

  return {
    async exchange(request, signal) {
      if (signal.aborted) return { kind: 'failure', failure: { sent: false, reason: 'interrupted' } };
      let dispatcher: Dispatcher;
      try {
        dispatcher = await dispatcherFor(request.method);
      } catch (error) {
        // undici can't be loaded, because the package may be being replaced. The next request tries again.
        shared = undefined;
        return { kind: 'failure', failure: { sent: false, reason: 'network', error } };
      }
      try {
        const exchange = await perform(dispatcher, origin, request, signal);
        isDoubtful ||= hasFailed(exchange);
        return exchange;
      } finally {
        if (request.method !== 'GET') void dispatcher.destroy();
      }
    },
  };
}

function perform(dispatcher: Dispatcher, origin: string, request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
  return new Promise((resolve) => {
    let forget = () => {};
    let sent = false;
    let isDone = false;
    let head: Pick<HttpResponse, 'status' | 'headers'> | undefined;
    let controller: Dispatcher.DispatchController | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const end = (exchange: Exchange) => {
      isDone = true;
      clearTimeout(timer);
      forget();
      resolve(exchange);
    };
    const fail = (reason: ExchangeFailure['reason'], error?: unknown) => {
      end({ kind: 'failure', failure: { sent, reason, status: head?.status, error } });
      controller?.abort(new Error(reason));
    };
    const interrupt = () => fail('interrupted');
    const answer = (truncated: boolean) => {
      if (!head) return;
      end({ kind: 'response', response: { ...head, body: Buffer.concat(chunks), truncated } });
    };

    // After the process was stopped, its timers run before its sockets are read.
    const timer = setTimeout(() => setImmediate(fail, 'deadline'), request.timeoutMs);
    if (signal.aborted) return interrupt();
    forget = onAbort(signal, interrupt);

    try {
      dispatcher.dispatch(
        { origin, path: request.path, method: request.method, headers: request.headers, body: request.body ?? null },
        {
          // undici calls this right before it writes the first byte. It connects even after an abort, so a request
          // that is over is stopped here.
          onRequestStart(started) {
            controller = started;
            if (isDone) started.abort(new Error('too late'));
            else sent = true;
          },
          onResponseStart(_controller, status, headers) {
            if (status >= 200) head = { status, headers };
          },
          onResponseData(started, chunk) {
            chunks.push(chunk.subarray(0, request.maxBytes - size));
            size += chunk.length;
            if (size > request.maxBytes) {
              answer(true);
              started.abort(new Error('too large'));
            }
          },
          onResponseEnd: () => answer(false),
          onResponseError: (_controller, error) => fail('network', error),
        },
      );
    } catch (error) {
      fail('network', error);
    }
  });
}
