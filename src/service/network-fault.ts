import type { Fault } from '../run/fault.ts';
import { formatDuration } from '../system/time-text.ts';
import { type Cause, causesOf, type ExchangeFailure } from './exchange.ts';
import { hintFor, isOfProxy, type ProxySettings, proxyNameOf, refusalOf } from './proxy.ts';

interface Attempt {
  host: string;
  proxy?: ProxySettings;
  timeoutMs: number;
}

/** `sent` alone decides whether the service may have acted on a trigger. */
export function faultOf(failure: ExchangeFailure, attempt: Attempt): Fault {
  const { host, proxy, timeoutMs } = attempt;
  if (failure.reason === 'interrupted') {
    return { kind: failure.sent ? 'interrupted_in_flight' : 'interrupted', message: 'interrupted' };
  }
  if (failure.reason === 'deadline') {
    const limit = formatDuration(timeoutMs);
    const way = proxy ? ` through ${proxyNameOf(proxy)}` : '';
    return failure.sent
      ? { kind: 'lost', message: `${host} didn't finish its response within ${limit}` }
      : { kind: 'unreachable', message: `no connection to ${host}${way} within ${limit}` };
  }
  const causes = causesOf(failure.error);
  const refusal = proxy && refusalOf(causes, proxy, host);
  if (refusal) return refusal;
  if (proxy && isOfProxy(causes)) {
    const fault = connectionFault(causes, failure, { ...attempt, host: proxyNameOf(proxy) });
    return { ...fault, hint: hintFor(proxy) };
  }
  return connectionFault(causes, failure, attempt);
}

function connectionFault(causes: Cause[], failure: ExchangeFailure, attempt: Attempt): Fault {
  return (
    tlsFault(causes, attempt.host, failure.sent) ??
    unsendable(causes) ?? {
      kind: failure.sent ? 'lost' : 'unreachable',
      message: networkMessage(causes, failure, attempt),
      hint: causes.some(({ code }) => code === 'EAI_AGAIN') ? dnsHint : undefined,
    }
  );
}

/** A fault for a request that HTTP can't carry and undici refuses to write. */
function unsendable(causes: Cause[]): Fault | undefined {
  const cause = causes.find(({ code }) => code === 'UND_ERR_INVALID_ARG');
  if (!cause) return undefined;
  return { kind: 'unsendable', message: `the request can't be sent (${cause.message})` };
}

// getaddrinfo(3): the problem is the name server, not the name.
const dnsHint = "check this machine's DNS and network connection";

const networkMessages: Record<string, string> = {
  ENOTFOUND: "can't resolve $",
  EAI_AGAIN: "can't resolve $: no name server responded",
  ECONNREFUSED: "can't connect to $: connection refused",
  EHOSTUNREACH: 'no route to $',
  ENETUNREACH: 'no network to reach $',
  ETIMEDOUT: "$ didn't respond",
  UND_ERR_CONNECT_TIMEOUT: "$ didn't accept a connection in time",
  UND_ERR_HEADERS_TIMEOUT: '$ accepted the connection but never responded',
  ECONNRESET: '$ reset the connection',
  EPIPE: '$ closed the connection',
  UND_ERR_SOCKET: '$ closed the connection',
};

function networkMessage(causes: Cause[], { sent, status }: ExchangeFailure, { host }: Attempt): string {
  // undici reads no further after a 100 (lib/dispatcher/client-h1.js), though RFC 9110 §15.2 allows one at any time.
  if (causes.some(({ message }) => message === 'bad response'))
    return `${host}, or a proxy in front of it, sent a "100 Continue" that runctl didn't ask for and can't read past`;
  const known = causes.map(({ code }) => networkMessages[code]).find((text) => text !== undefined);
  const words =
    known?.replace('$', host) ?? `the connection to ${host} failed (${causes[0]?.message ?? 'no reason given'})`;
  if (status !== undefined) return `${words} in the middle of a ${status} response`;
  return sent ? `${words} before it responded` : words;
}

const trustHint = 'add the authority with NODE_EXTRA_CA_CERTS=<file.pem>';
const unknownIssuer = {
  message: "the certificate for $ is signed by an authority this machine doesn't trust",
  hint: trustHint,
};
const tlsMessages: Record<string, { message: string; hint?: string }> = {
  CERT_HAS_EXPIRED: {
    message: 'the certificate for $ has expired',
    hint: "check this machine's clock, or renew the certificate",
  },
  CERT_NOT_YET_VALID: {
    message: 'the certificate for $ is not yet valid',
    hint: "check this machine's clock: it may be slow",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: { message: '$ presented a certificate for another host', hint: 'check the base URL' },
  DEPTH_ZERO_SELF_SIGNED_CERT: { message: 'the certificate for $ is self-signed', hint: trustHint },
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  CERT_UNTRUSTED: unknownIssuer,
  CERT_REVOKED: { message: 'the certificate for $ has been revoked' },
};

/** The fault of a TLS connection. Undefined if none of the causes is a TLS error. */
function tlsFault(causes: Cause[], host: string, sent: boolean): Fault | undefined {
  const kind = sent ? 'broken_tls' : 'untrusted';
  for (const { code, message, data } of causes) {
    // A TLS alert (RFC 8446 §5.1) in response to plain HTTP.
    if (data.startsWith('\x15\x03')) {
      return {
        kind: 'untrusted',
        message: `${host} speaks TLS, not plain http`,
        hint: 'begin the base URL with https://',
      };
    }
    const known = tlsMessages[code];
    if (known) return { kind, message: known.message.replace('$', host), hint: known.hint };
    if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
      if (/wrong version number|packet length too long|http request/i.test(message)) {
        return { kind, message: `${host} doesn't speak HTTPS`, hint: "check the base URL's scheme and port" };
      }
      return { kind, message: `the TLS handshake with ${host} failed (${sslReason(message)})` };
    }
  }
  return undefined;
}

const sslReason = (message: string) =>
  /:([a-z][a-z0-9 ]+):/i.exec(message.split('routines:')[1] ?? '')?.[1] ?? 'no reason given';
