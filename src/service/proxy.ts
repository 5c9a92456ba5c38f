import { BlockList, isIP } from 'node:net';
import { Problem } from '../core/report.ts';
import { isLoopback } from '../text/loopback.ts';

export interface HttpProxy {
  url: URL;
  /** The headers of CONNECT, without `host`. */
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
  try {
    return parseProxy(text.includes('://') ? text : `http://${text}`, variable);
  } catch {
    // The text isn't quoted, because it may have a password.
    throw new Problem(`${variable} must be an HTTP proxy such as http://user:password@host:3128`);
  }
}

function parseProxy(text: string, variable: string): HttpProxy {
  const url = new URL(text);
  // A `/`, `?` or `#` in a password ends the host, unless it is percent-encoded.
  const isWhole = !`${url.pathname}${url.search}${url.hash}`.includes('@');
  if (!isWhole || !/^https?:$/.test(url.protocol)) throw new Error('not a proxy URL');
  const credentials = [url.username, url.password].map(decodeURIComponent).join(':');
  const base64 = Buffer.from(credentials).toString('base64');
  return {
    url,
    headers: {
      'proxy-connection': 'keep-alive',
      ...(credentials !== ':' && { 'proxy-authorization': `Basic ${base64}` }),
    },
    title: `the proxy ${url.host} (${variable})`,
  };
}

/** Whether the host is in `NO_PROXY`: names, which mean their subdomains too, addresses, ranges. */
function isExcepted({ hostname, port }: URL, exceptions: string): boolean {
  const host = withoutBrackets(hostname);
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, name = entry, onlyPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
      if (onlyPort && onlyPort !== (port || '443')) return false;
      const domain = withoutBrackets(name.replace(/^\*?\./, ''));
      const isName = host === domain || host.endsWith(`.${domain}`);
      return name === '*' || isName || isInRange(host, domain);
    });
}

/** Whether the host is an address of a range such as `10.0.0.0/8`. */
function isInRange(host: string, range: string): boolean {
  const [, network = '', bits] = /^(.+)\/(\d+)$/.exec(range) ?? [];
  const version = isIP(host);
  if (!version || isIP(network) !== version) return false;
  const [family, maxBits] = version === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const addresses = new BlockList();
  addresses.addSubnet(network, Math.min(Number(bits), maxBits), family);
  return addresses.check(host, family);
}

/** An address without the brackets of IPv6, a name without a dot at its end. */
export const withoutBrackets = (host: string) =>
  host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
