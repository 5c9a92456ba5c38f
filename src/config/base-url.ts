import { usageProblem } from '../problems/problem.ts';

const example = 'an address looks like https://api.example.com';

/**
 * An address without the slash at its end and without `/v0`, which every path brings along. A path prefix is kept.
 * Throws a usage problem that does not repeat the address: it may hold a password.
 */
export function parseBaseUrl(text: string, source: string): string {
  const flaw = flawOf(text);
  if (flaw) throw usageProblem(`the base address (${source}) ${flaw}`, example);
  const { origin, pathname } = new URL(text);
  return origin + trimSlashes(trimSlashes(pathname).replace(/\/v0$/, ''));
}

const trimSlashes = (path: string) => path.replace(/\/+$/, '');

function flawOf(text: string): string | undefined {
  // The URL parser drops them without a word.
  if (/[\s\p{Cc}]/u.test(text)) return 'holds a blank or a control character';
  if (!/^https?:\/\//i.test(text)) return 'does not begin with https://';
  if (!URL.canParse(text)) return 'is not a valid URL';
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return 'holds a user name or password, which it must not';
  if (/[?#]/.test(text)) return 'holds a query or a fragment, which it must not';
  if (protocol === 'http:' && !isLoopback(hostname)) return 'must begin with https://, as it is not this machine';
  return undefined;
}

/** Of a host as the URL parser writes it: lower case, IPv4 in four parts, IPv6 in brackets. */
function isLoopback(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);
}
