import { once } from 'node:events';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { type Answer, type Failure, failureOf } from '../core/failure.ts';
import { type HttpProxy, withoutBrackets } from './proxy.ts';

/**
 * Opens a connection to the service, through the proxy if there is one. Nothing of a request is
 * written to it. The signal closes it.
 */
export async function openConnection(
  service: URL,
  proxy: HttpProxy | undefined,
  signal: AbortSignal,
): Promise<Answer<Socket>> {
  let peer = proxy?.title ?? service.host;
  try {
    let socket = await connectTo(proxy?.url ?? service, signal);
    // A resolver may lead `localhost` elsewhere, and the API key would be read on its way.
    if (service.protocol === 'http:' && isElsewhere(socket.remoteAddress)) {
      const reason = `${peer} isn't on this machine`;
      return { ok: false, failure: failureOf('unreachable', { reason }) };
    }
    if (proxy) {
      const refusal = await openTunnel(socket, proxy, service, signal);
      if (refusal) return { ok: false, failure: refusal };
      peer = service.host;
      socket = await startTls(socket, service, signal);
    }
    return { ok: true, value: socket };
  } catch (error) {
    return { ok: false, failure: connectFailure(error as NodeJS.ErrnoException, peer) };
  }
}

/** A connection that is closed already has no address. */
const isElsewhere = (address: string | undefined) =>
  address !== undefined && !/^(::1$|(::ffff:)?127\.)/.test(address);

/** Over TLS if the URL is https. */
async function connectTo(url: URL, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({
    host: withoutBrackets(url.hostname),
    port: portOf(url),
    lookup,
    // Node gives each address but the last 250 ms. Slow lines take longer (nodejs/node#54359).
    autoSelectFamilyAttemptTimeout: 2_000,
  });
  await untilOpen(socket, 'connect', signal);
  return url.protocol === 'https:' ? startTls(socket, url, signal) : socket;
}

async function startTls(socket: Socket, url: URL, signal: AbortSignal): Promise<Socket> {
  const { default: tls } = await import('node:tls');
  const host = withoutBrackets(url.hostname);
  // The name of a server is never an address (RFC 6066 §3).
  const servername = isIP(host) ? '' : host;
  const secure = tls.connect({ socket, host, servername, ALPNProtocols: ['http/1.1'] });
  return untilOpen(secure, 'secureConnect', signal);
}

async function untilOpen(socket: Socket, event: string, signal: AbortSignal): Promise<Socket> {
  addAbortSignal(signal, socket);
  // Whoever waits for it hears of an error, too. Without a listener it would end the process.
  socket.on('error', () => {});
  await once(socket, event, { signal });
  return socket;
}

/** Asks the proxy for a connection to the service. Returns why it opens none. */
async function openTunnel(
  socket: Socket,
  { headers, title }: HttpProxy,
  service: URL,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const { request } = await import('node:http');
  const target = `${service.hostname}:${portOf(service)}`;
  const connecting = request({
    createConnection: () => socket,
    method: 'CONNECT',
    path: target,
    headers: { ...headers, host: target },
  });
  connecting.on('error', () => {}).end();
  const [{ statusCode }] = await once(connecting, 'connect', { signal });
  if (statusCode === 200) return undefined;
  // Only a 4xx is the proxy's own decision, which it won't change.
  const kind = statusCode >= 400 && statusCode < 500 ? 'proxy' : 'unreachable';
  const wants =
    statusCode === 407 ? 'wants a user name and password' : `didn't connect to ${target}`;
  return failureOf(kind, { reason: `${title} ${wants} (${statusCode})` });
}

const portOf = ({ port, protocol }: URL): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

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

/** The codes of a certificate that isn't accepted, by OpenSSL (X509_V_ERR) and by Node. */
const certificateError =
  /^(?!ERR_SSL)\w*(CERT|CRL|SIGNATURE)|^(UNABLE_TO|INVALID|PATH_LENGTH|HOSTNAME)_/;

function connectFailure({ code = '', message }: NodeJS.ErrnoException, peer: string): Failure {
  if (certificateError.test(code)) {
    const reason = `the certificate for ${peer} isn't trusted (${message})`;
    return failureOf('tls', { reason });
  }
  const words: Record<string, string> = {
    ENOTFOUND: `${peer} can't be found`,
    ECONNREFUSED: `${peer} refused the connection`,
  };
  const what = words[code] ?? `the connection to ${peer} failed`;
  return failureOf('unreachable', { reason: `${what} (${tlsReason(message) ?? code})` });
}

/** `no shared cipher` in `0A0000C1:SSL routines:tls_early_post_process:no shared cipher:../deps/…`. */
export const tlsReason = (message: string): string | undefined =>
  /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1];
