import type { Fault } from '../runs/service.ts';
import type { ExchangeFailure } from './exchange.ts';

/** What an attempt without a complete answer means. `sent` alone decides whether a trigger may have acted. */
export function faultOf(failure: ExchangeFailure, { host, timeoutMs }: { host: string; timeoutMs: number }): Fault {
  const acted = failure.sent ? 'unknown' : 'no';
  if (failure.reason === 'interrupted') return { kind: 'interrupted', transient: false, acted, message: 'interrupted' };
  if (failure.reason === 'deadline') {
    const seconds = `${timeoutMs / 1000} s`;
    return failure.sent
      ? { kind: 'lost', transient: true, acted, message: `${host} did not finish an answer within ${seconds}` }
      : { kind: 'unreachable', transient: true, acted, message: `no connection to ${host} within ${seconds}` };
  }
  const causes = causesOf(failure.error);
  return (
    proxyFault(causes) ??
    tlsFault(causes, host, acted) ?? {
      kind: failure.sent ? 'lost' : 'unreachable',
      transient: true,
      acted,
      message: networkMessage(causes, host, failure),
    }
  );
}

interface Cause {
  code: string;
  message: string;
}

/** The error, what caused it, and what it bundles: undici and `net` nest the telling one at any of these places. */
function causesOf(error: unknown, depth = 0): Cause[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const bundled = error instanceof AggregateError ? error.errors : [];
  return [
    { code, message: error.message },
    ...[error.cause, ...bundled].flatMap((inner) => causesOf(inner, depth + 1)),
  ];
}

function proxyFault(causes: Cause[]): Fault | undefined {
  // undici tells a refusal of the proxy in words only, under the code of an aborted request or of a wrong argument.
  const form = /^Proxy (?:response|Authentication Required) \((\d+)\)/;
  const status = causes.map(({ message }) => form.exec(message)?.[1]).find(Boolean);
  if (!status) return undefined;
  // What the proxy refused, it did not pass on.
  const acted = 'no';
  if (status === '407') {
    const hint = 'put the user and password into HTTPS_PROXY as http://user:password@host:port';
    return { kind: 'proxy_refused', transient: false, acted, message: 'the proxy wants other credentials (407)', hint };
  }
  return { kind: 'unreachable', transient: true, acted, message: `the proxy answered ${status} instead of connecting` };
}

const expired = 'the certificate of $ has expired';
const unknownIssuer = 'the certificate of $ is signed by an authority this machine does not trust';
const trustHint = 'name the authority in NODE_EXTRA_CA_CERTS=<file.pem>';
const tlsMessages: Record<string, [message: string, hint?: string]> = {
  CERT_HAS_EXPIRED: [expired, "check this machine's clock, or have the certificate renewed"],
  CERT_NOT_YET_VALID: ['the certificate of $ is not yet valid', "check this machine's clock: it may be slow"],
  ERR_TLS_CERT_ALTNAME_INVALID: ['the certificate of $ is for another host', 'check the base address'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['the certificate of $ is self-signed', trustHint],
  SELF_SIGNED_CERT_IN_CHAIN: [unknownIssuer, trustHint],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [unknownIssuer, trustHint],
  UNABLE_TO_GET_ISSUER_CERT: [unknownIssuer, trustHint],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [unknownIssuer, trustHint],
  CERT_UNTRUSTED: [unknownIssuer, trustHint],
  CERT_REVOKED: ['the certificate of $ has been revoked'],
};

function tlsFault(causes: Cause[], host: string, acted: Fault['acted']): Fault | undefined {
  for (const { code, message } of causes) {
    const known = tlsMessages[code];
    if (known) return untrusted(known[0].replace('$', host), known[1], acted);
    if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
      if (/wrong version number|packet length too long|http request/i.test(message)) {
        return untrusted(`${host} does not speak https`, 'check the scheme and the port of the base address', acted);
      }
      return untrusted(`the TLS handshake with ${host} failed (${sslReason(message)})`, undefined, acted);
    }
  }
  return undefined;
}

function untrusted(message: string, hint: string | undefined, acted: Fault['acted']): Fault {
  return { kind: 'untrusted', transient: false, acted, message, hint };
}

const sslReason = (message: string) =>
  /:([a-z][a-z0-9 ]+):/i.exec(message.split('routines:')[1] ?? '')?.[1] ?? 'no reason given';

const networkMessages: Record<string, string> = {
  ENOTFOUND: 'the name $ is unknown',
  EAI_AGAIN: 'the name $ cannot be looked up just now',
  ECONNREFUSED: 'nothing listens at $',
  EHOSTUNREACH: 'no route to $',
  ENETUNREACH: 'no network to reach $',
  ETIMEDOUT: '$ did not answer',
  UND_ERR_CONNECT_TIMEOUT: '$ did not accept a connection in time',
  UND_ERR_HEADERS_TIMEOUT: '$ accepted a connection and then said nothing',
  ECONNRESET: '$ reset the connection',
  EPIPE: '$ closed the connection',
  UND_ERR_SOCKET: '$ closed the connection',
};

function networkMessage(causes: Cause[], host: string, { sent, status }: ExchangeFailure): string {
  const known = causes.map(({ code }) => networkMessages[code]).find((text) => text !== undefined);
  const words =
    known?.replace('$', host) ?? `the exchange with ${host} failed (${causes[0]?.message ?? 'no reason given'})`;
  if (status !== undefined) return `${words} in the middle of a ${status} answer`;
  return sent ? `${words} before it answered` : words;
}
