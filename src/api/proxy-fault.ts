import type { Fault } from '../runs/fault.ts';
import type { Cause } from './causes.ts';
import type { ProxySettings } from './proxy.ts';

/** The connection failed before the tunnel through the proxy was open. */
export class ProxyFailure extends Error {
  readonly code = 'PROXY';

  constructor(cause: unknown) {
    super('the proxy did not open a tunnel', { cause });
  }
}

export const isOfProxy = (causes: Cause[]) => causes.some(({ code }) => code === 'PROXY');

export const proxyNameOf = ({ origin, variable }: ProxySettings) => `the proxy ${new URL(origin).host} (${variable})`;

export const hintFor = ({ variable }: ProxySettings) => `check ${variable}; NO_PROXY names hosts that need no proxy`;

/** The fault of a proxy that refused the tunnel; undefined if none of the causes says so. */
export function refusalOf(causes: Cause[], proxy: ProxySettings, host: string): Fault | undefined {
  const form = /^Proxy response \((\d+)\)/;
  const status = causes.map(({ message }) => form.exec(message)?.[1]).find(Boolean);
  if (!status) return undefined;
  const name = proxyNameOf(proxy);
  // tinyproxy answers 401 to a wrong password.
  if (status === '407' || status === '401') {
    const hint = `put the user and password into ${proxy.variable} as http://user:password@host:port`;
    return { kind: 'proxy_refused', message: `${name} wants other credentials (${status})`, hint };
  }
  if (status === '403') {
    const hint = 'ask whoever runs the proxy, or name the host in NO_PROXY';
    return { kind: 'proxy_refused', message: `${name} does not allow connections to ${host} (403)`, hint };
  }
  return { kind: 'unreachable', message: `${name} did not connect to ${host} (${status})`, hint: hintFor(proxy) };
}
