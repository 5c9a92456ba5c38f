import type { Fault } from '../run/fault.ts';
import { formatDuration } from '../system/time-text.ts';
import { type Cause, causesOf, type ExchangeFailure } from './exchange.ts';
import type { ProxySettings } from './proxy.ts';
import { isOfProxy, proxyHint, proxyNameOf, proxyRefusalOf } from './proxy-fault.ts';
import { tlsFault } from './tls-fault.ts';

interface ConnectionAttempt {
  host: string;
  proxy?: ProxySettings;
  timeoutMs: number;
  /** NODE_EXTRA_CA_CERTS is set. */
  hasExtraAuthorities?: boolean;
}

/**
 * The fault of an attempt that got no response. Whether the service may have acted on a trigger
 * follows from `failure.wasSent`.
 */
export function networkFaultOf(failure: ExchangeFailure, attempt: ConnectionAttempt): Fault {
  switch (failure.kind) {
    case 'interrupted': {
      const kind = failure.wasSent ? 'interrupted_in_flight' : 'interrupted';
      return { kind, message: 'interrupted' };
    }
    case 'deadline':
      return deadlineFault(failure, attempt);
    case 'network': {
      const causes = causesOf(failure.error);
      return (
        clientFault(causes, failure) ??
        proxyFault(causes, failure, attempt) ??
        connectionFault(causes, failure, attempt)
      );
    }
  }
}

function deadlineFault(
  { wasSent }: ExchangeFailure,
  { host, proxy, timeoutMs }: ConnectionAttempt,
): Fault {
  const limit = formatDuration(timeoutMs);
  if (wasSent)
    return { kind: 'lost', message: `${host} didn't finish its response within ${limit}` };
  const through = proxy ? ` through ${proxyNameOf(proxy)}` : '';
  const message = `no connection to ${host}${through} within ${limit}`;
  return { kind: 'unreachable', message, hint: proxy && proxyHint(proxy) };
}

/** The fault of the proxy, or of the connection to it. Undefined if it isn't at fault. */
function proxyFault(
  causes: Cause[],
  failure: ExchangeFailure,
  attempt: ConnectionAttempt,
): Fault | undefined {
  const { proxy, host } = attempt;
  if (!proxy) return undefined;
  const refusal = proxyRefusalOf(causes, proxy, host);
  if (refusal || !isOfProxy(causes)) return refusal;
  const fault = connectionFault(causes, failure, { ...attempt, host: proxyNameOf(proxy) });
  return { ...fault, hint: proxyHint(proxy) };
}

function connectionFault(
  causes: Cause[],
  failure: ExchangeFailure,
  attempt: ConnectionAttempt,
): Fault {
  const { wasSent } = failure;
  const fault = tlsFault(causes, { ...attempt, wasSent }) ?? unsendableFault(causes);
  if (fault) return fault;
  const kind = wasSent ? 'lost' : 'unreachable';
  const unreadable = unreadableResponse(causes, attempt);
  if (unreadable) return { kind, ...unreadable };
  const message = networkMessage(causes, failure, attempt);
  const hasNoNameServer = causes.some(({ code }) => code === 'EAI_AGAIN');
  return { kind, message, hint: hasNoNameServer ? dnsHint : undefined };
}

/** A fault for a request that HTTP can't carry and undici refuses to write. */
function unsendableFault(causes: Cause[]): Fault | undefined {
  const cause = causes.find(({ code }) => code === 'UND_ERR_INVALID_ARG');
  if (!cause) return undefined;
  return { kind: 'unsendable', message: `the request can't be sent (${cause.message})` };
}

const programmingErrors = /^(Type|Range|Reference|Syntax|Assertion|Compile|Link|Runtime)Error$/;

/**
 * A fault of the HTTP client in this process, such as too little memory for its parser: no
 * connection failed.
 */
function clientFault(causes: Cause[], { wasSent }: ExchangeFailure): Fault | undefined {
  const cause = causes.find(({ name }) => programmingErrors.test(name));
  const isOfNetwork = causes.some(
    ({ code, name }) => !/^$|^PROXY$/.test(code) && !programmingErrors.test(name),
  );
  if (!cause || isOfNetwork) return undefined;
  return {
    kind: wasSent ? 'client_failed_after_sending' : 'client_failed_before_sending',
    message: `the HTTP client in this process failed (${cause.message})`,
    hint: clientHints.find(([form]) => form.test(cause.message))?.[1],
  };
}

const clientHints: [RegExp, string][] = [
  [/not defined/i, 'start Node without --jitless, which turns WebAssembly off'],
  [
    /out of memory|allocat/i,
    'set NODE_OPTIONS=--disable-wasm-trap-handler, or raise the memory limit (ulimit -v)',
  ],
];

// getaddrinfo(3): the problem is the name server, not the name.
const dnsHint = "check this machine's DNS and network connection";

/**
 * The messages by error code. If several addresses failed in different ways, the first row that
 * matches is printed.
 */
const networkMessages: Record<string, string> = {
  ENOTFOUND: "can't resolve $",
  EAI_AGAIN: "can't resolve $: no name server responded",
  ECONNREFUSED: "can't connect to $: connection refused",
  ECONNRESET: '$ reset the connection',
  EPIPE: '$ closed the connection',
  ETIMEDOUT: "$ didn't accept a connection in time",
  UND_ERR_CONNECT_TIMEOUT: "$ didn't accept a connection in time",
  UND_ERR_HEADERS_TIMEOUT: '$ accepted the connection but never responded',
  UND_ERR_SOCKET: '$ closed the connection',
  EHOSTUNREACH: 'no route to $',
  ENETUNREACH: 'no network to reach $',
};

/** The message for a response that can't be read as HTTP. */
function unreadableResponse(
  causes: Cause[],
  { host }: ConnectionAttempt,
): { message: string; hint: string } | undefined {
  const sender = `${host}, or a proxy in front of it,`;
  for (const { code, name, message } of causes) {
    // undici reads no further after a 100 (lib/dispatcher/client-h1.js), though RFC 9110 §15.2
    // allows one at any time.
    if (message === 'bad response')
      return {
        message: `${sender} sent a "100 Continue" that runctl didn't ask for and can't read past`,
        hint: askServer,
      };
    if (code === 'UND_ERR_HEADERS_OVERFLOW')
      return { message: `${sender} sent response headers of more than 256 KB`, hint: askServer };
    if (name === 'HTTPParserError' || code.startsWith('HPE_'))
      return {
        message: `${sender} sent a response that isn't HTTP (${message})`,
        hint: "check the base URL's port",
      };
  }
  return undefined;
}

const askServer = 'ask whoever runs the server, or the proxy, to change that';

function networkMessage(
  causes: Cause[],
  { wasSent, status }: ExchangeFailure,
  { host }: ConnectionAttempt,
): string {
  const codes = causes.map(({ code }) => code);
  const [, template] = Object.entries(networkMessages).find(([code]) => codes.includes(code)) ?? [];
  const reason = causes.find(({ code }) => code !== 'PROXY')?.message ?? 'no reason given';
  const failure = template?.replace('$', host) ?? `the connection to ${host} failed (${reason})`;
  if (status !== undefined) return `${failure} in the middle of a ${status} response`;
  return wasSent ? `${failure} before it responded` : failure;
}
