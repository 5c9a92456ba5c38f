import type { Fault } from '../run/fault.ts';
import type { Cause, CertificateAtFault } from './exchange.ts';

interface Handshake {
  host: string;
  wasSent: boolean;
  hasExtraAuthorities?: boolean;
}

/** What went wrong in a handshake, and what to do about it. */
interface TlsMessage {
  message: string;
  hint: string;
}

/** The fault of a TLS connection. Undefined if none of the causes is a TLS error. */
export function tlsFault(causes: Cause[], handshake: Handshake): Fault | undefined {
  const { host, wasSent } = handshake;
  for (const cause of causes) {
    // A TLS alert (RFC 8446 §5.1) in response to plain HTTP.
    if (cause.data.startsWith('\x15\x03')) {
      const message = `${host} speaks TLS, not plain http`;
      return { kind: 'tls_handshake_failed', message, hint: 'begin the base URL with https://' };
    }
    const text = certificateMessage(cause, handshake) ?? handshakeMessage(cause, host);
    if (text)
      return { kind: wasSent ? 'tls_failed_after_handshake' : 'tls_handshake_failed', ...text };
  }
  return undefined;
}

function certificateMessage(
  { code, certificate }: Cause,
  { host, hasExtraAuthorities }: Handshake,
): TlsMessage | undefined {
  const subject =
    certificate && !certificate.isOfHost
      ? `a certificate that ${host} sends, "${certificate.name}",`
      : `the certificate for ${host}`;
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return {
        message: `${subject} has expired`,
        hint: "check this machine's clock, or renew the certificate on the server",
      };
    case 'CERT_NOT_YET_VALID':
      return {
        message: `${subject} is not yet valid`,
        hint: "check this machine's clock: it may be slow",
      };
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        message: `${host} presented a certificate for another host`,
        hint: 'check the base URL',
      };
    case 'CERT_REVOKED':
      return {
        message: `${subject} has been revoked`,
        hint: 'ask whoever runs the server to replace it',
      };
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return {
        message: `the certificate for ${host} is self-signed`,
        hint: trustHint('that certificate', hasExtraAuthorities),
      };
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return unknownIssuer(host, certificate, hasExtraAuthorities);
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_UNTRUSTED':
      return unknownIssuer(
        host,
        certificate && { ...certificate, isAlone: false },
        hasExtraAuthorities,
      );
    default:
      return undefined;
  }
}

/**
 * Either the authority isn't trusted, or the server left out the certificate between it and its
 * own.
 */
function unknownIssuer(
  host: string,
  certificate: CertificateAtFault | undefined,
  hasExtraAuthorities = false,
): TlsMessage {
  const authority = certificate ? `"${certificate.issuer}"` : 'an authority';
  const message = `the certificate for ${host} is signed by ${authority}, which this machine doesn't trust`;
  const hint = trustHint(certificate ? authority : 'the authority', hasExtraAuthorities);
  if (!certificate?.isAlone) return { message, hint };
  return {
    message: `${message}, and ${host} sends no intermediate certificate`,
    hint: `install the certificate of ${authority} on the server, next to its own, or ${hint}`,
  };
}

const trustHint = (what: string, hasExtraAuthorities = false) =>
  hasExtraAuthorities
    ? `add ${what} to the file that NODE_EXTRA_CA_CERTS names: it isn't among the certificates there`
    : `add ${what} with NODE_EXTRA_CA_CERTS=<file.pem>`;

function handshakeMessage({ code, message }: Cause, host: string): TlsMessage | undefined {
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL_')) return undefined;
  if (/wrong version number|packet length too long|http request/i.test(message))
    return { message: `${host} doesn't speak HTTPS`, hint: "check the base URL's scheme and port" };
  const [, alert = ''] = /SSL alert number (\d+)/.exec(message) ?? [];
  const [, failure = otherFailure] =
    handshakeFailures.find(([form]) => form.test(alert) || form.test(message)) ?? [];
  return {
    message: `${failure.message.replace('$', host)} (${reasonIn(message)})`,
    hint: failure.hint,
  };
}

const serverHint = 'ask whoever runs the server, or a proxy in front of it, about its TLS settings';
const otherFailure = { message: 'the TLS handshake with $ failed', hint: serverHint };
const oldTls = {
  message: "$ and this machine's Node have no TLS version in common",
  hint: serverHint,
};
const wantsCertificate = {
  message: "$ wants a client certificate, which runctl can't send",
  hint: 'use a base URL that needs none, or a local proxy that sends it, such as stunnel',
};

/**
 * The messages by the number of the alert (RFC 8446 §6.2), or by the reason of OpenSSL if this side
 * refuses the handshake.
 */
const handshakeFailures: [RegExp, TlsMessage][] = [
  [/^(116|4[1-689])$/, wantsCertificate],
  [
    /^40$/,
    {
      message: '$ refused the TLS handshake: it may want a client certificate, or other ciphers',
      hint: serverHint,
    },
  ],
  [/^(70|86)$|alert protocol version|unsupported protocol|wrong ssl version/i, oldTls],
  [
    /^71$|no ciphers|no shared cipher|key too small/i,
    { message: '$ and this machine have no TLS ciphers in common', hint: serverHint },
  ],
  [/^112$/, { message: '$ serves no site of that name', hint: 'check the base URL' }],
  [
    /^120$/,
    {
      message: "$ doesn't offer HTTP/1.1, and runctl speaks no other version",
      hint: 'allow HTTP/1.1 on the server',
    },
  ],
];

const reasonIn = (message: string) =>
  /:([a-z][a-z0-9/ ]+):/i.exec(message.split('routines:')[1] ?? '')?.[1] ?? 'no reason given';
