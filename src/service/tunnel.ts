import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { WatchedConnect } from './handshake.ts';
import type { ProxySettings } from './proxy.ts';
import { ProxyFailure, RefusedTunnel } from './proxy-fault.ts';

type TunnelTarget = Pick<buildConnector.Options, 'hostname' | 'host' | 'port' | 'protocol'>;

/** Opens tunnels through a proxy. Its errors are all a `ProxyFailure`. */
interface Tunnels {
  open(target: TunnelTarget): Promise<Socket>;
  /** Closes the connection to the proxy, and ends tunnels that are being opened. */
  destroy(): void;
}

/** Prepares tunnels through an HTTP or a SOCKS proxy. Nothing is connected until one is opened. */
export async function openTunnels(
  proxy: ProxySettings,
  toProxy: WatchedConnect,
  timeoutMs: number,
): Promise<Tunnels> {
  const openKind = proxy.isSocks ? openSocksTunnels : openHttpTunnels;
  const tunnels = await openKind(proxy, toProxy, timeoutMs);
  return {
    destroy: tunnels.destroy,
    open: (target) =>
      tunnels
        .open(target)
        .catch((error) => Promise.reject(new ProxyFailure(toProxy.handshakeAlert() ?? error))),
  };
}

async function openHttpTunnels(
  { origin, credentials }: ProxySettings,
  { connect }: WatchedConnect,
  timeoutMs: number,
): Promise<Tunnels> {
  const { loadTunnelClient, maxHeaderSize } = await import('./undici.ts');
  const Client = await loadTunnelClient();
  const client = new Client(origin, {
    maxHeaderSize,
    // Otherwise a proxy that hangs on CONNECT would hold its connection for five minutes.
    headersTimeout: timeoutMs,
    // undici would check the proxy's certificate against the name of the service that the tunnel
    // leads to.
    connect: (target, done) => connect({ ...target, servername: undefined }, done),
  });
  const authorization = credentials && {
    'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
  return {
    destroy: () => void client.destroy(),
    async open({ host, port, protocol }) {
      const path = port ? String(host) : `${host}:${portOf({ port, protocol })}`;
      const headers = { host: String(host), 'proxy-connection': 'keep-alive', ...authorization };
      const { statusCode, headers: answer, socket } = await client.connect({ path, headers });
      if (statusCode === 200) return socket as Socket;
      socket.on('error', () => {}).destroy();
      throw new RefusedTunnel(statusCode, [answer['proxy-authenticate'] ?? []].flat());
    },
  };
}

/** The proxy resolves the name of the service, as after `socks5h://`. */
async function openSocksTunnels(
  { origin, credentials }: ProxySettings,
  { connect }: WatchedConnect,
  timeoutMs: number,
): Promise<Tunnels> {
  const { loadSocks5Client } = await import('./undici.ts');
  const Socks5Client = await loadSocks5Client();
  const { hostname, host, port } = new URL(origin);
  const address = {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    host,
    port: port || '1080',
    protocol: 'http:',
  };
  const [, username, password] = /^(.*?):(.*)$/s.exec(credentials ?? '') ?? [];
  const opening = new Set<Socket>();
  return {
    destroy() {
      for (const socket of opening) socket.destroy();
    },
    async open({ hostname, port, protocol }) {
      const socket = await new Promise<Socket>((resolve, reject) =>
        connect(address, (error, socket) => (error ? reject(error) : resolve(socket as Socket))),
      );
      opening.add(socket);
      const timer = setTimeout(() => socket.destroy(timedOut()), timeoutMs);
      try {
        await new Promise<unknown>((resolve, reject) => {
          const client = new Socks5Client(socket, { username, password });
          client.on('error', reject).on('close', () => reject(closed()));
          client.on('authenticated', () => client.connect(hostname, portOf({ port, protocol })));
          client.on('connected', resolve).handshake();
        });
        return socket;
      } finally {
        clearTimeout(timer);
        opening.delete(socket);
      }
    },
  };
}

const portOf = ({ port, protocol }: Pick<TunnelTarget, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });
const timedOut = () => coded('UND_ERR_HEADERS_TIMEOUT', "the proxy didn't respond in time");
const closed = () => coded('UND_ERR_SOCKET', 'the proxy closed the connection');
