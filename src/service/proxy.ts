import { BlockList, isIP, type Socket } from 'node:net';
import { type Failure, failure } from '../run/failure.ts';
import { Problem } from '../run/report.ts';
import { isLoopback } from '../text/loopback.ts';
import { connectError, connectFailure } from './connection-failure.ts';

export interface HttpProxy {
  url: URL;
  headers: Record<string, string>;
  /** For messages: its host, and the environment variable that names it. */
  title: string;
}

/**
 * The proxy for a service, found in the environment as curl does. Undefined for this machine.
 * `HTTP_PROXY` isn't read, because only this machine is asked without TLS. Throws a `Problem` if
 * the variable names no proxy that runctl can use.
 */
export function proxyFor(
  service: URL,
  env: Readonly<Record<string, string | undefined>>,
): HttpProxy | undefined {
  const names = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
  const variable = names.find((name) => env[name]?.trim());
  if (variable === undefined || isLoopback(service.hostname)) return undefined;
  if (isExcepted(service, env.no_proxy || env.NO_PROXY || '')) return undefined;

  const text = env[variable]?.trim() ?? '';
  // The text isn't quoted, because it may have a password.
  if (/^socks/i.test(text)) {
    throw new Problem(`${variable} names a SOCKS proxy, and runctl only supports HTTP proxies`);
  }
  try {
    return parseProxy(text.includes('://') ? text : `http://${text}`, variable);
  } catch {
    throw new Problem(`${variable} must be a URL such as http://user:password@host:3128`);
  }
}

function parseProxy(text: string, variable: string): HttpProxy {
  const url = new URL(text);
  // A `/`, `?` or `#` in a password ends the host, unless it is percent-encoded.
  const isWhole = !`${url.pathname}${url.search}${url.hash}`.includes('@');
  if (!isWhole || !/^https?:$/.test(url.protocol)) throw new Error('not a proxy URL');
  const { host, username, password } = url;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers: Record<string, string> = { 'proxy-connection': 'keep-alive' };
  if (credentials !== ':') {
    const base64 = Buffer.from(credentials).toString('base64');
    headers['proxy-authorization'] = `Basic ${base64}`;
  }
  return { url, headers, title: `the proxy ${host} (${variable})` };
}

/** Whether the host is in `NO_PROXY`: names, which mean their subdomains too, addresses, ranges. */
function isExcepted({ hostname, port }: URL, exceptions: string): boolean {
  const host = withoutBrackets(hostname);
  const entries = exceptions.toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    if (entry === '*') return true;
    const [, name = entry, onlyPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    if (onlyPort && onlyPort !== (port || '443')) return false;
    const domain = withoutBrackets(name.replace(/^\*?\./, ''));
    return host === domain || host.endsWith(`.${domain}`) || isInRange(host, domain);
  });
}

function isInRange(host: string, range: string): boolean {
  const [, network = '', prefix] = /^(.+?)(?:\/(\d+))?$/.exec(range) ?? [];
  const address = withoutBrackets(network);
  if (!isIP(host) || !isIP(address)) return false;
  const bits = Number(prefix ?? (isIP(address) === 4 ? 32 : 128));
  const addresses = new BlockList();
  try {
    addresses.addSubnet(address, bits, familyOf(address));
  } catch {
    return false; // more bits than an address has
  }
  return addresses.check(host, familyOf(host));
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** An address without the brackets of IPv6, a name without a dot at its end. */
const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

/** Asks the proxy for a connection to `service` (`host:port`). Rejects with a `connectError`. */
export async function openTunnel(
  { url, headers, title }: HttpProxy,
  service: string,
  socketOptions: { signal: AbortSignal; timeout: number },
): Promise<Socket> {
  const isTls = url.protocol === 'https:';
  const { request } = isTls ? await import('node:https') : await import('node:http');
  const host = withoutBrackets(url.hostname);
  return new Promise((resolve, reject) => {
    const connecting = request({
      ...socketOptions,
      agent: false,
      host,
      port: url.port,
      // Else Node would expect the certificate of the `host` header, which names the service.
      servername: isIP(host) ? '' : host,
      method: 'CONNECT',
      path: service,
      headers: { ...headers, host: service },
    });
    const fail = (why: Failure) => reject(connectError(why));
    connecting.on('connect', ({ statusCode = 0 }, socket: Socket) => {
      socket.setTimeout(0).on('error', () => {});
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      // Only a 4xx is the proxy's own decision, which it won't change.
      const kind = statusCode >= 400 && statusCode < 500 ? 'proxy' : 'unreachable';
      const wants =
        statusCode === 407
          ? 'wants a user name and password'
          : `opened no connection to ${service}`;
      fail(failure(kind, { reason: `${title} ${wants} (${statusCode})` }));
    });
    connecting.on('timeout', () => connecting.destroy(new Error('no response in time')));
    connecting.on('error', (error) => fail(connectFailure(error, title)));
    connecting.end();
  });
}
