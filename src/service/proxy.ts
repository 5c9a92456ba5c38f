import { getBuiltinModule } from 'node:process';
import { usageProblem } from '../run/problem.ts';
import { hasAtSignAfterHost } from '../system/at-sign.ts';
import type { Env } from '../system/env.ts';
import { isLoopback } from '../system/loopback.ts';

export interface ProxySettings {
  /** The URL without its path and query, which are ignored, as in curl. */
  origin: string;
  isSocks?: boolean;
  /** `user:password`, decoded. */
  credentials?: string;
  /** The environment variable that names it. */
  variable: string;
}

/**
 * The proxy for `origin`, read from the environment like curl; undefined for localhost.
 * `HTTP_PROXY` isn't read, because only localhost uses plain HTTP. Throws a usage problem if it
 * isn't the URL of a proxy that runctl can use.
 */
export function proxyFor(origin: string, env: Env): ProxySettings | undefined {
  const service = new URL(origin);
  const variable = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find(
    (name) => env[name],
  );
  if (variable === undefined || isLoopback(service.hostname)) return undefined;
  if (isExcepted(service, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const text = (env[variable] ?? '').trim();
  if (hasAtSignAfterHost(text))
    throw usageProblem(`the proxy address in ${variable} has an @ after its host`, escapeHint);
  const address = parseProxy(text);
  if (address) return { ...address, variable };
  throw usageProblem(
    `the proxy address in ${variable} is not an http, https or socks5 URL`,
    'write it as http://host:port or http://user:password@host:port, or unset it',
  );
}

const escapeHint = 'in a user name or password, write # as %23, / as %2F, ? as %3F and \\ as %5C';

function isExcepted({ hostname, port }: URL, list: string): boolean {
  const host = withoutBrackets(hostname);
  return list
    .toLowerCase()
    .split(/[,\s]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, only] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
      const domain = withoutBrackets(name.replace(/^\*?\./, ''));
      if (domain === '' || (only !== undefined && only !== (port || '443'))) return false;
      return host === domain || host.endsWith(`.${domain}`) || isAddressIn(host, domain);
    });
}

/**
 * Whether the host is an IP address in this range (`192.0.2.0/24`), or this address, however it is
 * written.
 */
function isAddressIn(host: string, text: string): boolean {
  const { BlockList, isIP } = getBuiltinModule('node:net');
  const range = parseRange(text);
  const hostVersion = isIP(host);
  if (!range || hostVersion === 0) return false;
  const { address, version, bits } = range;
  // Node would find each IPv4 address in `::/0`, too.
  if (hostVersion === 4 && version === 6 && bits < 96) return false;
  const addresses = new BlockList();
  addresses.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
  return addresses.check(host, hostVersion === 4 ? 'ipv4' : 'ipv6');
}

/** Returns undefined for a text that is no range. A single address is a range, too. */
function parseRange(text: string): { address: string; version: number; bits: number } | undefined {
  const [network = '', prefix, ...more] = text.split('/');
  const address = withoutBrackets(network);
  const version = getBuiltinModule('node:net').isIP(address);
  if (version === 0 || more.length > 0) return undefined;
  const maxBits = version === 4 ? 32 : 128;
  if (prefix === undefined) return { address, version, bits: maxBits };
  const bits = Number(prefix);
  return /^\d{1,3}$/.test(prefix) && bits <= maxBits ? { address, version, bits } : undefined;
}

/** The host without IPv6 brackets and without a trailing dot. */
const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

/** Undefined for a text that isn't the URL of an http, https or socks5 proxy. */
function parseProxy(text: string): Omit<ProxySettings, 'variable'> | undefined {
  const form = /^(?:(https?|socks(?:5h?)?):\/\/)?(?!.*:\/\/)(.+)$/is;
  const [, scheme = 'http', authority] = form.exec(text) ?? [];
  if (authority === undefined) return undefined;
  const isSocks = /^socks/i.test(scheme);
  // Only the URL of a known scheme is normalized, but with one, its default port would be dropped.
  const url = parsedUrl(`${isSocks ? 'http' : scheme}://${authority}`);
  const port = parsedUrl(`socks5://${authority}`)?.port;
  if (!url || port === undefined) return undefined;
  const { origin, hostname } = url;
  try {
    const credentials = credentialsIn(url);
    if (!isSocks) return { origin, credentials };
    return { origin: `socks5://${hostname}:${port || 1080}`, isSocks, credentials };
  } catch {
    return undefined; // they aren't UTF-8
  }
}

/** Throws if they are percent-encoded and not UTF-8. */
function credentialsIn({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  return `${percentDecoded(username)}:${percentDecoded(password)}`;
}

const parsedUrl = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);

/** Percent-decoded. A `%` that begins no escape stays, as in curl. */
const percentDecoded = (text: string) =>
  decodeURIComponent(text.replace(/%(?![\da-f]{2})/gi, '%25'));
