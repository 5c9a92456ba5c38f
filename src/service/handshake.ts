// Facts about a TLS handshake that undici doesn't report.
import type { Socket } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import type { CertificateAtFault } from './exchange.ts';

export type Connect = buildConnector.connector;

export interface WatchedConnect {
  connect: Connect;
  /**
   * The TLS alert with which the server refused the last handshake, although undici took it for
   * complete.
   */
  handshakeAlert(): Error | undefined;
}

/** Watches the handshakes of the connections that `buildConnector` opens. */
export function watchHandshakes(connect: Connect): WatchedConnect {
  let alert: Error | undefined;
  return {
    handshakeAlert: () => alert,
    connect(target, done) {
      alert = undefined;
      let leaf: DetailedPeerCertificate | undefined;
      // `buildConnector` returns the socket, although its types don't say so.
      const opening: unknown = connect(target, (...answer) => {
        const [error, socket] = answer;
        if (error) return done(withCertificate(error, leaf), null);
        // Only a TLS 1.3 client sends its request before the server has checked the client's
        // certificate.
        if (isTls(socket) && socket.getProtocol() === 'TLSv1.3') {
          socket.once('error', (late: Error) => {
            if (refusesCertificate.test(late.message)) alert = late;
          });
        }
        done(...answer);
      });
      // Node reads the certificates before it checks them, and closes the socket if they are bad.
      if (target.protocol === 'https:' && isTls(opening)) {
        opening.prependOnceListener('secure', () => {
          leaf = opening.getPeerCertificate(true);
        });
      }
    },
  };
}

const isTls = (socket: unknown): socket is TLSSocket & Socket =>
  typeof socket === 'object' && socket !== null && 'getPeerCertificate' in socket;

/**
 * The alerts of RFC 8446 §6.2 about the certificate of a client (42 to 46, unknown_ca,
 * access_denied, certificate_required). A server that sends one hasn't completed the handshake, so
 * it can't have passed on a request. TLS 1.3 has no renegotiation, and Node doesn't offer to be
 * asked for a certificate later.
 */
const refusesCertificate = /SSL alert number (4[2-689]|116)\b/;

function withCertificate(error: Error, leaf: DetailedPeerCertificate | undefined): Error {
  const code = 'code' in error ? String(error.code) : '';
  return leaf?.subject
    ? Object.assign(error, { certificate: certificateAtFault(code, leaf) })
    : error;
}

/** The certificate that isn't valid now, or the last one that the server sent. */
function certificateAtFault(code: string, leaf: DetailedPeerCertificate): CertificateAtFault {
  const chain: DetailedPeerCertificate[] = [];
  // An authority at the top is its own issuer.
  for (
    let next: typeof leaf | undefined = leaf;
    next && !chain.includes(next);
    next = next.issuerCertificate
  )
    chain.push(next);
  const nowMs = Date.now();
  const isInvalid: Record<string, (certificate: DetailedPeerCertificate) => boolean> = {
    CERT_HAS_EXPIRED: ({ valid_to }) => Date.parse(valid_to) < nowMs,
    CERT_NOT_YET_VALID: ({ valid_from }) => Date.parse(valid_from) > nowMs,
  };
  const atFault = chain.find((each) => isInvalid[code]?.(each)) ?? chain.at(-1) ?? leaf;
  return {
    name: commonNameOf(atFault.subject),
    issuer: commonNameOf(atFault.issuer),
    isOfHost: atFault === leaf,
    isAlone: chain.length === 1,
  };
}

/** A subject may have several common names. */
const commonNameOf = ({ CN, O }: DetailedPeerCertificate['subject']): string =>
  String([CN ?? O ?? 'no name'].flat()[0]).slice(0, 100);
