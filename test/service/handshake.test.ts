import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { watchHandshakes } from '../../src/service/handshake.ts';

// In TLS 1.2 a server may ask for a certificate after it has read a request (RFC 5246 §7.4.1.1).
test.each([
  ['TLSv1.3', true],
  ['TLSv1.2', false],
])(
  'an alert for want of a certificate, after %s was agreed on, has refused the handshake: %s',
  (version, isRefusal) => {
    const socket = Object.assign(new Duplex({ read() {} }), {
      getProtocol: () => version,
      getPeerCertificate: () => ({}),
    });
    const { connect, handshakeAlert } = watchHandshakes((_, done) => done(null, socket as unknown as TLSSocket));
    connect({ hostname: 'service.test', protocol: 'https:', port: '443' }, () => {});
    const alert = new Error('sslv3 alert bad certificate: SSL alert number 42');
    socket.on('error', () => {}).emit('error', alert);
    expect(handshakeAlert()).toBe(isRefusal ? alert : undefined);
  },
);
