import type { LookupFunction } from 'node:net';
import { getBuiltinModule, versions } from 'node:process';
import type { Dispatcher } from 'undici';
import { type Connect, watchHandshakes } from './handshake.ts';
import type { ProxySettings } from './proxy.ts';

interface ConnectionOptions {
  origin: string;
  proxy?: ProxySettings;
  /** The maximum number of connections. */
  connections: number;
  /** The time limit for opening a connection. */
  timeoutMs: number;
  lookup: LookupFunction;
  /** Whether the next connection gets `longTimeouts`. */
  usesLongConnectTimeout(): boolean;
}

export interface Connections {
  dispatcher: Dispatcher;
  /**
   * The alert with which the service refused the last TLS handshake after undici had sent a
   * request.
   */
  handshakeAlert(): Error | undefined;
  /** Closes the connections once all requests have ended. */
  close(): Promise<void>;
  destroy(): void;
}

// runctl enforces the deadline, not undici.
const noDeadlines = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 20_000 };

/**
 * How long an address of several may take to accept a connection, and how long all of it may take.
 * Node tries one after another, and gives each but the last 250 ms, which a slow line exceeds
 * (nodejs/node#54359).
 */
const shortTimeouts = { addressMs: 1_500, totalMs: 12_000 };
/** The limits after a failure, for a round trip of up to five seconds. */
const longTimeouts = { addressMs: 6_000, totalMs: Number.POSITIVE_INFINITY };

const isNode20 = versions.node.startsWith('20.');

/**
 * Node 20 ends 80 ms later if V8 is still optimizing the WebAssembly of undici's parser; newer
 * versions don't wait. With the flag, V8 refuses the compiled code of Node's own modules: when the
 * first connection is there, all of them are loaded.
 */
function withBaselineCompiler(connect: Connect): Connect {
  if (!isNode20) return connect;
  return (target, done) =>
    connect(target, (...answer) => {
      getBuiltinModule('node:v8').setFlagsFromString('--liftoff-only');
      done(...answer);
    });
}

/** Opens connections to one origin when they are needed, directly or through a proxy. */
export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const { origin, proxy, connections, timeoutMs, lookup, usesLongConnectTimeout } = options;
  const { buildConnector, Pool, maxHeaderSize } = await import('./undici.ts');
  const connectWithin = ({ addressMs, totalMs }: typeof shortTimeouts) =>
    buildConnector({
      timeout: Math.min(timeoutMs, totalMs),
      autoSelectFamilyAttemptTimeout: addressMs,
      lookup,
      allowH2: false,
    });
  const connectSoon = connectWithin(shortTimeouts);
  const connectLate = connectWithin(longTimeouts);
  const directly = watchHandshakes((target, done) =>
    (usesLongConnectTimeout() ? connectLate : connectSoon)(target, done),
  );
  const openPool = (connect: Connect) =>
    new Pool(origin, {
      ...noDeadlines,
      maxHeaderSize,
      connections,
      connect: withBaselineCompiler(connect),
    });

  if (!proxy) {
    const pool = openPool(directly.connect);
    const destroy = () => void pool.destroy();
    return {
      dispatcher: pool,
      handshakeAlert: directly.handshakeAlert,
      close: () => pool.close(),
      destroy,
    };
  }
  const { openTunnels } = await import('./tunnel.ts');
  const tunnels = await openTunnels(proxy, directly, timeoutMs);
  const inside = watchHandshakes(buildConnector({ timeout: timeoutMs }));
  const pool = openPool((target, done) => {
    tunnels.open(target).then(
      (socket) =>
        target.protocol === 'https:'
          ? inside.connect({ ...target, httpSocket: socket }, done)
          : done(null, socket),
      (error) => done(error, null),
    );
  });
  return {
    dispatcher: pool,
    handshakeAlert: inside.handshakeAlert,
    close: () => pool.close().then(tunnels.destroy),
    destroy() {
      void pool.destroy();
      tunnels.destroy();
    },
  };
}
