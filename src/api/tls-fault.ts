import type { Fault } from '../runs/fault.ts';
import type { Cause } from './causes.ts';

const expired = 'the certificate of $ has expired';
const unknownIssuer = 'the certificate of $ is signed by an authority this machine does not trust';
const trustHint = 'name the authority in NODE_EXTRA_CA_CERTS=<file.pem>';
const tlsMessages: Record<string, [message: string, hint?: string]> = {
  CERT_HAS_EXPIRED: [expired, "check this machine's clock, or have the certificate renewed"],
  CERT_NOT_YET_VALID: ['the certificate of $ is not yet valid', "check this machine's clock: it may be slow"],
  ERR_TLS_CERT_ALTNAME_INVALID: ['the certificate of $ is for another host', 'check the base URL'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['the certificate of $ is self-signed', trustHint],
  SELF_SIGNED_CERT_IN_CHAIN: [unknownIssuer, trustHint],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [unknownIssuer, trustHint],
  UNABLE_TO_GET_ISSUER_CERT: [unknownIssuer, trustHint],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [unknownIssuer, trustHint],
  CERT_UNTRUSTED: [unknownIssuer, trustHint],
  CERT_REVOKED: ['the certificate of $ has been revoked'],
};

/** The fault of a TLS connection; undefined if none of the causes is one of TLS. */
export function tlsFault(causes: Cause[], host: string, sent: boolean): Fault | undefined {
  const kind = sent ? 'broken_tls' : 'untrusted';
  for (const { code, message, data } of causes) {
    // A TLS alert (RFC 8446 §5.1) in answer to plain http.
    if (data.startsWith('\x15\x03')) {
      return {
        kind: 'untrusted',
        message: `${host} speaks TLS, not plain http`,
        hint: 'begin the base URL with https://',
      };
    }
    const known = tlsMessages[code];
    if (known) return { kind, message: known[0].replace('$', host), hint: known[1] };
    if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
      if (/wrong version number|packet length too long|http request/i.test(message)) {
        return { kind, message: `${host} does not speak https`, hint: 'check the scheme and the port of the base URL' };
      }
      return { kind, message: `the TLS handshake with ${host} failed (${sslReason(message)})` };
    }
  }
  return undefined;
}

const sslReason = (message: string) =>
  /:([a-z][a-z0-9 ]+):/i.exec(message.split('routines:')[1] ?? '')?.[1] ?? 'no reason given';
