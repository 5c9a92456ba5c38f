import type { LookupFunction } from 'node:net';
import { getBuiltinModule } from 'node:process';
import type { buildConnector } from 'undici';

type Connector = buildConnector.connector;

interface ConnectOptions {
  timeoutMs: number;
  lookup: LookupFunction;
}

const keepAliveAfterMs = 60_000;

/**
 * Begins to connect as undici would, and resolves when undici can be loaded without delaying that: while names are
 * resolved and TLS shakes hands. What it returns gives undici this connection, and later ones from undici's own connector.
 */
export async function beginConnection(origin: string, { timeoutMs, lookup }: ConnectOptions) {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const { connect, isIP } = getBuiltinModule('node:net');
  const options = { host, lookup };
  const secure = { ...options, servername: isIP(host) ? '' : host, ALPNProtocols: ['http/1.1'] };
  const isSecure = protocol === 'https:';
  const socket = isSecure
    ? getBuiltinModule('node:tls').connect({ ...secure, port: Number(port || 443) })
    : connect({ ...options, port: Number(port || 80) });
  // TLS ignores these as options.
  socket.setNoDelay(true).setKeepAlive(true, keepAliveAfterMs);
  const tooLate = Object.assign(new Error('no connection in time'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
  const timer = setTimeout(() => socket.destroy(tooLate), timeoutMs).unref();
  const opened = new Promise<void>((resolve, reject) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', resolve);
    socket.on('error', reject);
  }).finally(() => clearTimeout(timer));
  opened.catch(() => {});
  // Each turn of the event loop serves the sockets once: the first opens the connection, the second begins TLS.
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);

  let isTaken = false;
  return (usual: Connector): Connector =>
    (wanted, callback) => {
      if (isTaken) return usual(wanted, callback);
      isTaken = true;
      opened.then(
        () => (socket.destroyed ? usual(wanted, callback) : callback(null, socket)),
        (error) => callback(error, null),
      );
    };
}
