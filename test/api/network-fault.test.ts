import { describe, expect, test } from 'vitest';
import { causesOf } from '../../src/api/exchange.ts';
import { faultOf } from '../../src/api/network-fault.ts';
import type { FaultKind } from '../../src/runs/fault.ts';

const coded = (code: string, message = code, fields: object = {}) =>
  Object.assign(new Error(message), { code, ...fields });
/** As undici and `net` nest it. */
const nested = (error: Error) => new TypeError('fetch failed', { cause: new AggregateError([error]) });
const attempt = { host: 'service.test', timeoutMs: 1500 };
const network = (error: unknown, { sent = false, status }: { sent?: boolean; status?: number } = {}) =>
  faultOf({ reason: 'network', sent, status, error }, attempt);

describe('a connection that fails', () => {
  test.each<[Error, string]>([
    [coded('ENOTFOUND'), "can't resolve service.test"],
    [coded('ECONNREFUSED'), "can't connect to service.test: connection refused"],
    [coded('EHOSTUNREACH'), 'no route to service.test'],
    [coded('ENETUNREACH'), 'no network to reach service.test'],
    [coded('ETIMEDOUT'), "service.test didn't respond"],
    [coded('UND_ERR_CONNECT_TIMEOUT'), "service.test didn't accept a connection in time"],
    [coded('UND_ERR_HEADERS_TIMEOUT'), 'service.test accepted the connection but never responded'],
    [coded('ECONNRESET'), 'service.test reset the connection'],
    [coded('EPIPE'), 'service.test closed the connection'],
    [coded('UND_ERR_SOCKET', 'other side closed'), 'service.test closed the connection'],
    [coded('ENEW', 'something new'), 'the connection to service.test failed (fetch failed)'],
  ])('with %s is put into words', (error, message) => {
    expect(network(nested(error))).toEqual({ kind: 'unreachable', message });
    const before = { kind: 'lost', message: `${message} before it responded` };
    expect(network(nested(error), { sent: true })).toEqual(before);
    const within = { kind: 'lost', message: `${message} in the middle of a 200 response` };
    expect(network(nested(error), { sent: true, status: 200 })).toEqual(within);
  });

  test('since no name server answers is the fault of the machine, not of the base URL', () => {
    const { message, hint } = network(nested(coded('EAI_AGAIN')));
    expect([message, hint]).toEqual([
      "can't resolve service.test: no name server responded",
      "check this machine's DNS and network connection",
    ]);
  });

  test('without a reason says so', () => {
    expect(network(undefined).message).toBe('the connection to service.test failed (no reason given)');
  });

  test('since HTTP cannot carry the request is not tried again', () => {
    const error = nested(coded('UND_ERR_INVALID_ARG', 'invalid header'));
    expect(network(error)).toEqual({ kind: 'unsendable', message: "the request can't be sent (invalid header)" });
  });
});

test.each<['interrupted' | 'deadline', boolean, FaultKind, string]>([
  ['interrupted', false, 'interrupted', 'interrupted'],
  ['interrupted', true, 'interrupted_in_flight', 'interrupted'],
  ['deadline', false, 'unreachable', 'no connection to service.test within 1.5s'],
  ['deadline', true, 'lost', "service.test didn't finish its response within 1.5s"],
])('a request that was %s, and sent: %s, is %s', (reason, sent, kind, message) => {
  expect(faultOf({ reason, sent }, attempt)).toEqual({ kind, message });
});

describe('a TLS connection that fails', () => {
  const ofHost = 'the certificate for service.test';
  const authority = `${ofHost} is signed by an authority this machine doesn't trust`;
  const trust = 'add the authority with NODE_EXTRA_CA_CERTS=<file.pem>';
  const ssl = (reason: string) => `80:error:0A:SSL routines:ssl3_read_bytes:${reason}:../ssl/record.c:1605:`;

  test.each<[Error, string, string | undefined]>([
    [coded('CERT_HAS_EXPIRED'), `${ofHost} has expired`, "check this machine's clock, or renew the certificate"],
    [coded('CERT_NOT_YET_VALID'), `${ofHost} is not yet valid`, "check this machine's clock: it may be slow"],
    [
      coded('ERR_TLS_CERT_ALTNAME_INVALID'),
      'service.test presented a certificate for another host',
      'check the base URL',
    ],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), `${ofHost} is self-signed`, trust],
    [coded('SELF_SIGNED_CERT_IN_CHAIN'), authority, trust],
    [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), authority, trust],
    [coded('UNABLE_TO_GET_ISSUER_CERT'), authority, trust],
    [coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), authority, trust],
    [coded('CERT_UNTRUSTED'), authority, trust],
    [coded('CERT_REVOKED'), `${ofHost} has been revoked`, undefined],
    [
      coded('EPROTO', ssl('wrong version number')),
      "service.test doesn't speak HTTPS",
      "check the base URL's scheme and port",
    ],
    [
      coded('ERR_SSL_HTTP_REQUEST', 'HTTP request'),
      "service.test doesn't speak HTTPS",
      "check the base URL's scheme and port",
    ],
    [
      coded('EPROTO', ssl('packet length too long')),
      "service.test doesn't speak HTTPS",
      "check the base URL's scheme and port",
    ],
    [
      coded('EPROTO', ssl('tlsv1 alert protocol version')),
      'the TLS handshake with service.test failed (tlsv1 alert protocol version)',
      undefined,
    ],
    [coded('ERR_SSL_NEW', 'new'), 'the TLS handshake with service.test failed (no reason given)', undefined],
  ])('with %s is put into words', (error, message, hint) => {
    expect(network(nested(error))).toEqual({ kind: 'untrusted', message, hint });
    expect(network(nested(error), { sent: true })).toEqual({ kind: 'broken_tls', message, hint });
  });

  test('since the server alone speaks TLS was never acted on', () => {
    const message = 'service.test speaks TLS, not plain http';
    const hint = 'begin the base URL with https://';
    const alert = coded('HPE_INVALID_CONSTANT', 'Parse Error', { data: '\x15\x03\x01' });
    expect(network(nested(alert), { sent: true })).toEqual({ kind: 'untrusted', message, hint });
    const page = coded('HPE_INVALID_CONSTANT', 'Parse Error', { data: 'x\x15\x03' });
    expect(network(nested(page), { sent: true }).kind).toBe('lost');
  });
});

test('the causes of an error are found wherever they are nested, to a depth of six, and read whatever they are', () => {
  const odd = Object.assign(new Error('odd'), { code: 7, data: {}, cause: 'text' });
  expect(causesOf(odd)).toEqual([{ code: '', message: 'odd', data: '' }]);
  expect(causesOf('text')).toEqual([]);
  const bundle = new AggregateError([coded('A', 'a', { data: 'd' }), 'text'], 'both', { cause: coded('B', 'b') });
  expect(causesOf(bundle).map(({ code, message, data }) => `${code} ${message} ${data}`)).toEqual([
    ' both ',
    'B b ',
    'A a d',
  ]);
  let deep = new Error('0');
  for (let n = 1; n < 9; n++) deep = new Error(String(n), { cause: deep });
  expect(causesOf(deep)).toHaveLength(6);
});
