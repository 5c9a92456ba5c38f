import type { LookupFunction } from 'node:net';
import { getBuiltinModule, versions } from 'node:process';
import type { buildConnector, Dispatcher } from 'undici';
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

/** How connections are opened. */
interface Connecting {
  origin: string;
  timeoutMs: number;
  lookup: LookupFunction;
}

const isNode20 = versions.node.startsWith('20.');

/**
 * Node 20 ends 80 ms later if V8 is still optimizing the WebAssembly of undici's parser; newer versions don't wait. With the
 * flag, V8 refuses the compiled code of Node's own modules: when the first connection is there, all of them are loaded.
 */
const connected =
  (connect: buildConnector.connector): buildConnector.connector =>
  (target, done) =>
    connect(target, (...answer) => {
      if (isNode20) getBuiltinModule('node:v8').setFlagsFromString('--liftoff-only');
      done(...answer);
    });

async function openDirectly({ origin, timeoutMs, lookup }: Connecting, connections: number): Promise<Dispatcher> {
  const { buildConnector, Pool } = await import('./undici.ts');
  const connect = connected(buildConnector({ timeout: timeoutMs, lookup, allowH2: false }));
  return new Pool(origin, { ...noDeadlines, connections, connect });
}

async function openThrough(
  { origin: uri, credentials }: ProxySettings,
  { timeoutMs, lookup }: Connecting,
  connections: number,
): Promise<Dispatcher> {
  const { buildConnector, Client, loadProxyAgent } = await import('./undici.ts');
  const ProxyAgent = await loadProxyAgent();
  const tls = { timeout: timeoutMs, lookup };
  const toProxy = connected(buildConnector(tls));
  return new ProxyAgent({
    ...noDeadlines,
    connections,
    uri,
    // undici sends no credentials for a user without a password.
    token: credentials && `Basic ${Buffer.from(credentials).toString('base64')}`,
    proxyTls: tls,
    requestTls: tls,
    clientFactory(url, clientOptions) {
      // undici would check the proxy's certificate against the name of the service that the tunnel leads to.
      const connect: buildConnector.connector = (target, done) => toProxy({ ...target, servername: undefined }, done);
      // Otherwise a proxy that hangs on CONNECT would hold its connection for five minutes.
      const client = new Client(url, { ...clientOptions, connect, headersTimeout: timeoutMs });
      const openTunnel = client.connect.bind(client);
      // undici uses the proxy as the TLS server name even if it is an IP address, which Node 26 refuses.
      const named = (wanted: Dispatcher.ConnectOptions) =>
        openTunnel(Object.assign(wanted, { servername: undefined })).catch((error) =>
          Promise.reject(new ProxyFailure(error)),
        );
      return Object.assign(client, { connect: named });
    },
  });
}

/** Sends requests to one origin. Polls share connections, and every trigger has its own. */
export function createTransport(options: TransportOptions): Transport {
  const { origin, proxy, connections, connectTimeoutMs: timeoutMs, lookup = systemLookup } = options;
  const { elapsedMs = () => performance.now() } = options;
  const connecting = { origin, timeoutMs, lookup: withAddress(lookup) };
  const open = (limit: number) => (proxy ? openThrough(proxy, connecting, limit) : openDirectly(connecting, limit));

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
        reading.handler(() => isDone),
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
  const handler = (isDone: () => boolean): Dispatcher.DispatchHandler => ({
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
    onResponseError: (_controller, error) => fail('network', error),
  });
  return { fail, handler };
}
