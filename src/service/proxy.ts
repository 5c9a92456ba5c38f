import type { Fault } from '../run/fault.ts';
import { usageProblem } from '../run/problem.ts';
import type { Env } from '../system/env.ts';
import { isLoopback } from '../system/loopback.ts';
import type { Cause } from './exchange.ts';

export interface ProxySettings {
  origin: string; // without a path or query, which are ignored, as in curl
  credentials?: string; // `user:password`, decoded
  variable: string; // the environment variable that names it
}

/**
 * The proxy for `origin`, read from the environment like curl; undefined for localhost. `HTTP_PROXY` isn't read, because
 * only localhost uses plain HTTP. Throws a usage problem if the proxy isn't an http or https URL.
 */
export function proxyFor(origin: string, env: Env): ProxySettings | undefined {
  const service = new URL(origin);
  const variable = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find((name) => env[name]);
  if (variable === undefined || isLoopback(service.hostname)) return undefined;
  if (isExcepted(service, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const address = parseProxy(env[variable] ?? '');
  if (address) return { ...address, variable };
  throw usageProblem(
    `the proxy address in ${variable} is not an http or https URL`,
    'write it as http://host:port or http://user:password@host:port, or unset it',
  );
}

function isExcepted({ hostname, port }: URL, list: string): boolean {
  const host = bare(hostname);
  return list
    .toLowerCase()
    .split(/[,\s]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, only] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
      const domain = bare(name.replace(/^\*?\./, ''));
      if (domain === '' || (only !== undefined && only !== (port || '443'))) return false;
      return host === domain || host.endsWith(`.${domain}`);
    });
}

/** The host without IPv6 brackets and without a trailing dot. */
const bare = (host: string) => host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

function parseProxy(text: string): Omit<ProxySettings, 'variable'> | undefined {
  const url = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  if (!username && !password) return { origin };
  try {
    return { origin, credentials: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` };
  } catch {
    return undefined;
  }
}

/** The connection failed before the tunnel through the proxy was open. */
export class ProxyFailure extends Error {
  readonly code = 'PROXY';

  constructor(cause: unknown) {
    super("the proxy didn't open a tunnel", { cause });
  }
}

export const isOfProxy = (causes: Cause[]) => causes.some(({ code }) => code === 'PROXY');

export const proxyNameOf = ({ origin, variable }: ProxySettings) => `the proxy ${new URL(origin).host} (${variable})`;

export const hintFor = ({ variable }: ProxySettings) => `check ${variable}; hosts that need no proxy go in NO_PROXY`;

/** The fault of a proxy that refused the tunnel. Undefined if none of the causes says so. */
export function refusalOf(causes: Cause[], proxy: ProxySettings, host: string): Fault | undefined {
  const form = /^Proxy response \((\d+)\)/;
  const status = causes.map(({ message }) => form.exec(message)?.[1]).find(Boolean);
  if (!status) return undefined;
  const name = proxyNameOf(proxy);
  // tinyproxy returns 401 for a wrong password.
  if (status === '407' || status === '401') {
    const hint = `put the user and password into ${proxy.variable} as http://user:password@host:port`;
    return { kind: 'proxy_refused', message: `${name} rejected the credentials (${status})`, hint };
  }
  if (status === '403') {
    const hint = "ask the proxy's administrator, or add the host to NO_PROXY";
    return { kind: 'proxy_refused', message: `${name} doesn't allow connections to ${host} (403)`, hint };
  }
  return { kind: 'unreachable', message: `${name} did not connect to ${host} (${status})`, hint: hintFor(proxy) };
}
