import type { Env } from '../context.ts';
import { isLoopback } from '../loopback.ts';
import { usageProblem } from '../problems/problem.ts';

export interface ProxySettings {
  origin: string; // without a path or query, which mean nothing, as with curl
  credentials?: string; // `user:password`, decoded
  variable: string; // the environment variable that names it
}

/**
 * The proxy for `origin`, read from the environment as curl does; undefined for this machine. `HTTP_PROXY` is not read,
 * as only this machine is spoken to in plain http. Throws a usage problem for a proxy that is no http or https URL.
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

/** The host without the brackets of IPv6 and the dot that may end a name. */
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
