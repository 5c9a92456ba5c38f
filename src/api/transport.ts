import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { versions } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { onAbort } from '../runs/on-abort.ts';
import type { Exchange, ExchangeFailure, HttpRequest, HttpResponse, Transport } from './exchange.ts';
import type { ProxySettings } from './proxy.ts';
import { ProxyFailure } from './proxy-fault.ts';

export interface TransportOptions {
  origin: string;
  proxy?: ProxySettings;
  /** Connections that polls may share. */
  connections: number;
  /** Bounds a connection attempt that nobody waits for any more. */
  connectTimeoutMs: number;
  /** How names are resolved; by the system unless given. */
  lookup?: LookupFunction;
}

// Every deadline is ours (below); undici's own are switched off so that there is one rule and not two.
// `maxHeaderSize` is Node's default, given so that undici need not load node:http to ask for it.
const noDeadlines = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16_384, keepAliveTimeout: 20_000 };

// undici's HTTP parser is WebAssembly, which V8 optimises in the background; Node 20 then waits for that at its end, for 80 ms
// and 35 MB. Set before undici is loaded this costs 25 ms; newer versions do not wait, and there it only costs.
if (versions.node.startsWith('20.')) setFlagsFromString('--liftoff-only');

/** Node throws in a callback of its own where a name has no address at all; here such a name is unknown. */
const withAddress =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      const [first] = [address].flat();
      const isKnown = error || first;
      const none = Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
      callback(isKnown ? error : none, address, family);
    });

/** HTTP by undici: through the proxy where there is one, polls on shared connections. */
export function createTransport(options: TransportOptions): Transport {
  const { origin, proxy, connections, connectTimeoutMs, lookup = dns.lookup } = options;
  const connect = { timeout: connectTimeoutMs, lookup: withAddress(lookup) };
  const open = (limit: number): Dispatcher => {
    const shape = { ...noDeadlines, connections: limit, connect };
    if (!proxy) return new Pool(origin, shape);
    return new ProxyAgent({
      ...shape,
      uri: proxy.origin,
      // undici sends no credentials for a user without a password.
      token: proxy.credentials && `Basic ${Buffer.from(proxy.credentials).toString('base64')}`,
      proxyTls: connect,
      requestTls: connect,
      clientFactory: (url, clientOptions) => {
        // A proxy that hangs on CONNECT would hold its connection for five minutes, whatever our signal says.
        const client = new Client(url, { ...clientOptions, headersTimeout: connectTimeoutMs });
        const openTunnel = client.connect.bind(client);
        const named = (wanted: Dispatcher.ConnectOptions) =>
          openTunnel(wanted).catch((error) => Promise.reject(new ProxyFailure(error)));
        return Object.assign(client, { connect: named });
      },
    });
  };

  let shared: Dispatcher | undefined;
  return {
    async exchange(request, signal) {
      if (request.method === 'GET') {
        shared ??= open(connections);
        return perform(shared, origin, request, signal);
      }
      // A kept-alive socket may be closed by the service just as we write: a POST gets a connection of its own,
      // so that a reset never leaves in doubt whether the request was read.
      const own = open(1);
      try {
        return await perform(own, origin, request, signal);
      } finally {
        void own.destroy();
      }
    },
    destroy() {
      void shared?.destroy();
      shared = undefined;
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
      if (isDone) return;
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
      const [first] = chunks;
      const body = first && chunks.length === 1 ? first : Buffer.concat(chunks);
      end({ kind: 'response', response: { ...head, body, truncated } });
    };

    // After a stop of the process its timers run before its sockets are read: an answer that has come is read first.
    const timer = setTimeout(() => setImmediate(fail, 'deadline'), request.timeoutMs);
    if (signal.aborted) return interrupt();
    forget = onAbort(signal, interrupt);

    try {
      dispatcher.dispatch(
        { origin, path: request.path, method: request.method, headers: request.headers, body: request.body ?? null },
        {
          // Called right before the first byte is written. An attempt that has ended by then (undici keeps
          // connecting whatever the signal says) is refused here: what never left is surely not sent.
          onRequestStart(started) {
            controller = started;
            if (isDone) started.abort(new Error('too late'));
            else sent = true;
          },
          onResponseStart(_controller, status, headers) {
            if (status >= 200) head = { status, headers };
          },
          onResponseData(_controller, chunk) {
            const room = request.maxBytes - size;
            size += chunk.length;
            chunks.push(chunk.length > room ? chunk.subarray(0, Math.max(0, room)) : chunk);
            if (size > request.maxBytes) {
              answer(true);
              controller?.abort(new Error('too large'));
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
