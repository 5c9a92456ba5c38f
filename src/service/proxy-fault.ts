import type { Fault } from '../run/fault.ts';
import type { Cause } from './exchange.ts';
import type { ProxySettings } from './proxy.ts';

/** The connection failed before the tunnel through the proxy was open. */
export class ProxyFailure extends Error {
  readonly code = 'PROXY';

  constructor(cause: unknown) {
    super("the proxy didn't open a tunnel", { cause });
  }
}

/** Whether the request failed before the tunnel through the proxy was open. */
export const isOfProxy = (causes: Cause[]) => causes.some(({ code }) => code === 'PROXY');

/** The proxy in a message, without its credentials. */
export const proxyNameOf = ({ origin, variable }: ProxySettings) =>
  `the proxy ${new URL(origin).host} (${variable})`;

/** What to do if the proxy can't be reached. */
export const proxyHint = ({ variable }: ProxySettings) =>
  `check ${variable}; hosts that need no proxy go in NO_PROXY`;

/** An HTTP proxy responded to CONNECT with another status than 200. */
export class RefusedTunnel extends Error {
  readonly data: string; // the authentication schemes that it accepts, separated by blanks

  constructor(status: number, challenges: readonly string[]) {
    super(`Proxy response (${status})`);
    this.data = schemesIn(challenges).join(' ');
  }
}

/** `Basic` and `NTLM` in `Basic realm="a, b", NTLM`. */
const schemesIn = (challenges: readonly string[]): string[] =>
  challenges.flatMap((challenge) => {
    const unquoted = challenge.replace(/"[^"]*"/g, '""');
    return unquoted.match(/(?<=^|,\s*)[a-z][\w-]*(?=\s|,|$)/gi) ?? [];
  });

/** The fault of a proxy that refused the tunnel. Undefined if none of the causes says so. */
export function proxyRefusalOf(
  causes: Cause[],
  proxy: ProxySettings,
  host: string,
): Fault | undefined {
  return refusalOfHttp(causes, proxy, host) ?? refusalOfSocks(causes, proxy, host);
}

function refusalOfHttp(causes: Cause[], proxy: ProxySettings, host: string): Fault | undefined {
  const form = /^Proxy response \((\d+)\)/;
  const cause = causes.find(({ message }) => form.test(message));
  if (!cause) return undefined;
  const [, status = ''] = form.exec(cause.message) ?? [];
  // tinyproxy returns 401 for a wrong password.
  if (status === '407' || status === '401') return wantsCredentials(proxy, status, cause.data);
  if (status === '403') return forbids(proxy, host, ' (403)');
  return doesNotReach(proxy, host, status);
}

/** The replies of RFC 1928 and RFC 1929, by undici's codes. */
function refusalOfSocks(causes: Cause[], proxy: ProxySettings, host: string): Fault | undefined {
  const cause = causes.find(({ code }) => code.startsWith('UND_ERR_SOCKS5'));
  if (!cause) return undefined;
  const [, reply] = /^UND_ERR_SOCKS5_REPLY_(\d+)$/.exec(cause.code) ?? [];
  if (reply === '2') return forbids(proxy, host, '');
  if (reply !== undefined)
    return doesNotReach(proxy, host, cause.message.replace(/^SOCKS5 connection failed: /, ''));
  if (cause.code.startsWith('UND_ERR_SOCKS5_AUTH')) return wantsCredentials(proxy);
  return {
    kind: 'proxy_refused',
    message: `${proxyNameOf(proxy)} doesn't speak SOCKS5`,
    hint: proxyHint(proxy),
  };
}

function wantsCredentials(proxy: ProxySettings, status?: string, schemes = ''): Fault {
  const name = proxyNameOf(proxy);
  const http = status === undefined ? '' : ` (${status})`;
  const accepted = schemes.split(' ').filter(Boolean);
  if (accepted.length > 0 && !accepted.some((scheme) => /^basic$/i.test(scheme))) {
    const message = `${name} accepts only ${accepted.join(' or ')} authentication, which runctl doesn't support${http}`;
    return {
      kind: 'proxy_refused',
      message,
      hint: `run a local proxy that does, such as px or cntlm, and name it in ${proxy.variable}`,
    };
  }
  if (proxy.credentials !== undefined) {
    const hint = `check the user name and password in ${proxy.variable}`;
    return { kind: 'proxy_refused', message: `${name} rejected the credentials${http}`, hint };
  }
  const { protocol } = new URL(proxy.origin);
  const hint = `put the user and password into ${proxy.variable} as ${protocol}//user:password@host:port`;
  return { kind: 'proxy_refused', message: `${name} wants credentials${http}`, hint };
}

function forbids(proxy: ProxySettings, host: string, http: string): Fault {
  return {
    kind: 'proxy_refused',
    message: `${proxyNameOf(proxy)} doesn't allow connections to ${host}${http}`,
    hint: "ask the proxy's administrator, or add the host to NO_PROXY",
  };
}

function doesNotReach(proxy: ProxySettings, host: string, reason: string): Fault {
  const message = `${proxyNameOf(proxy)} did not connect to ${host} (${reason})`;
  return { kind: 'unreachable', message, hint: proxyHint(proxy) };
}
