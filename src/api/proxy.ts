import type { Env } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';

export interface ProxySettings {
  /** An http or https URL, maybe with user and password. */
  url: string;
  /** The hosts of NO_PROXY, as they stand there. */
  noProxy: string;
}

/** The proxy that the environment names for an origin, as curl reads it; an empty variable counts as unset. */
export function proxyFor(origin: string, env: Env): ProxySettings | undefined {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const name = origin.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = read(name) ?? read('ALL_PROXY');
  if (value === undefined) return undefined;
  const url = value.includes('://') ? value : `http://${value}`;
  if (!isProxyUrl(url)) {
    throw usageProblem(
      `the proxy address in ${read(name) ? name : 'ALL_PROXY'} is not an http or https URL`,
      'write it as http://host:port or http://user:password@host:port, or unset it',
    );
  }
  return { url, noProxy: read('NO_PROXY') ?? '' };
}

/** `user:password` as they are meant, of a proxy's URL; undefined where it names neither. */
export function credentialsOf({ url }: ProxySettings): string | undefined {
  const { username, password } = new URL(url);
  return username || password ? `${decodeURIComponent(username)}:${decodeURIComponent(password)}` : undefined;
}

function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}`);
  } catch {
    return false;
  }
  return protocol === 'http:' || protocol === 'https:';
}
