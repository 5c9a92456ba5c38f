import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector, Pool } from 'undici';
import { connectError, connectFailure } from './connection-failure.ts';
import { type HttpProxy, openTunnel } from './proxy.ts';

const poolOptions = {
  // Each request has a time limit of its own.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 20_000,
  // Gateways add cookies of more than the 16 KB that Node allows (nodejs/node#47246).
  maxHeaderSize: 256 * 1024,
};

/** Node gives each address but the last 250 ms. Slow lines take longer (nodejs/node#54359). */
const autoSelectFamilyAttemptTimeout = 2_000;

/** Connections to one origin, opened when they are needed. The signal closes them all at once. */
export async function openPool(
  origin: string,
  proxy: HttpProxy | undefined,
  signal: AbortSignal,
): Promise<Pool> {
  const [{ Pool, buildConnector }, { setFlagsFromString }] = await Promise.all([
    import('./undici.ts'),
    import('node:v8'),
  ]);
  const { host, hostname, port } = new URL(origin);
  const service = `${hostname}:${port || 443}`;
  const socketOptions = { signal, lookup, autoSelectFamilyAttemptTimeout, timeout: 30_000 };
  const connect = buildConnector(socketOptions);

  async function openSocket(target: buildConnector.Options): Promise<Socket> {
    const httpSocket = proxy && (await openTunnel(proxy, service, socketOptions));
    return new Promise((resolve, reject) => {
      connect({ ...target, httpSocket }, (...[error, socket]) =>
        error ? reject(error) : resolve(socket),
      );
    });
  }

  return new Pool(origin, {
    ...poolOptions,
    connect(target, done) {
      openSocket(target).then(
        (socket) => {
          // Node 20 exits 80 ms later while V8 optimizes the WebAssembly that undici compiles now.
          if (isNode20) setFlagsFromString('--liftoff-only');
          done(null, socket);
        },
        (error) => done(connectError(connectFailure(error, host)), null),
      );
    },
  });
}

/** Node 22 has it. */
const isNode20 = !('withResolvers' in Promise);

/** Resolves a name like the system. Node throws an empty list of addresses where nobody catches. */
const lookup: LookupFunction = (hostname, options, callback) => {
  // Not loaded if the host is an address.
  void import('node:dns').then(({ default: dns }) =>
    dns.lookup(hostname, options, (error, address, family) => {
      const none = Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
      callback(error ?? (address.length === 0 ? none : null), address, family);
    }),
  );
};
