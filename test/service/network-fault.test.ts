import { describe, expect, test } from 'vitest';
import type { FaultKind } from '../../src/run/fault.ts';
import { causesOf } from '../../src/service/exchange.ts';
import { faultOf } from '../../src/service/network-fault.ts';

const coded = (code: string, message = code, fields: object = {}) =>
  Object.assign(new Error(message), { code, ...fields });
/** As undici and `net` nest it. */
const nested = (error: Error) => new TypeError('fetch failed', { cause: new AggregateError([error]) });
const attempt = { host: 'service.test', timeoutMs: 1500 };
const network = (error: unknown, { sent = false, status }: { sent?: boolean; status?: number } = {}) =>
  faultOf({ reason: 'network', sent, status, error }, attempt);

describe('a connection that fails', () => {
  test.each<[Error, says: string]>([
    [coded('ENOTFOUND'), "can't resolve service.test"],
    [coded('EAI_AGAIN'), 'no name server'],
    [coded('ECONNREFUSED'), 'refused'],
    [coded('EHOSTUNREACH'), 'no route'],
    [coded('ENETUNREACH'), 'no network'],
    [coded('ETIMEDOUT'), 'respond'],
    [coded('UND_ERR_CONNECT_TIMEOUT'), 'accept'],
    [coded('UND_ERR_HEADERS_TIMEOUT'), 'never responded'],
    [coded('ECONNRESET'), 'reset'],
    [coded('EPIPE'), 'closed'],
    [coded('UND_ERR_SOCKET', 'other side'), 'closed'],
    [coded('ENEW', 'something new'), '(fetch failed)'],
  ])('with %s says so, and how far it got', (error, says) => {
    const { kind, message, hint } = network(nested(error));
    expect([kind, message]).toEqual(['unreachable', expect.stringContaining(says)]);
    expect(message).toContain('service.test');
    // A name server that doesn't respond is the machine's, not one of the base URL.
    expect(hint?.includes('DNS') === true).toBe(says === 'no name server');
    const before = { kind: 'lost', message: `${message} before it responded` };
    expect(network(nested(error), { sent: true })).toMatchObject(before);
    const within = { kind: 'lost', message: `${message} in the middle of a 200 response` };
    expect(network(nested(error), { sent: true, status: 200 })).toMatchObject(within);
  });

  test('without a reason says so', () => expect(network(undefined).message).toContain('no reason given'));

  test('since HTTP cannot carry the request is not tried again', () => {
    const error = nested(coded('UND_ERR_INVALID_ARG', 'invalid header'));
    expect(network(error)).toMatchObject({ kind: 'unsendable', message: expect.stringContaining('invalid header') });
  });
});

test.each<['interrupted' | 'deadline', boolean, FaultKind, says: string]>([
  ['interrupted', false, 'interrupted', 'interrupted'],
  ['interrupted', true, 'interrupted_in_flight', 'interrupted'],
  ['deadline', false, 'unreachable', '1.5s'],
  ['deadline', true, 'lost', '1.5s'],
])('a request that was %s, and sent: %s, is %s', (reason, sent, kind, says) => {
  expect(faultOf({ reason, sent }, attempt)).toEqual({ kind, message: expect.stringContaining(says) });
});

describe('a TLS connection that fails', () => {
  const trust = 'NODE_EXTRA_CA_CERTS';
  const ssl = (reason: string) => `80:error:0A:SSL routines:ssl3_read_bytes:${reason}:../ssl/record.c:1605:`;

  test.each<[Error, says: string, hint: string | undefined]>([
    [coded('CERT_HAS_EXPIRED'), 'expired', 'clock'],
    [coded('CERT_NOT_YET_VALID'), 'not yet valid', 'clock'],
    [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'another host', 'base URL'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'self-signed', trust],
    [coded('SELF_SIGNED_CERT_IN_CHAIN'), 'authority', trust],
    [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'authority', trust],
    [coded('UNABLE_TO_GET_ISSUER_CERT'), 'authority', trust],
    [coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), 'authority', trust],
    [coded('CERT_UNTRUSTED'), 'authority', trust],
    [coded('CERT_REVOKED'), 'revoked', undefined],
    [coded('EPROTO', ssl('wrong version number')), "doesn't speak HTTPS", 'base URL'],
    [coded('EPROTO', ssl('packet length too long')), "doesn't speak HTTPS", 'base URL'],
    [coded('ERR_SSL_HTTP_REQUEST', 'HTTP request'), "doesn't speak HTTPS", 'base URL'],
    [coded('EPROTO', ssl('tlsv1 alert protocol version')), '(tlsv1 alert protocol version)', undefined],
    [coded('ERR_SSL_NEW', 'new'), '(no reason given)', undefined],
  ])('with %s says so, and what helps', (error, says, helps) => {
    const { kind, message, hint } = network(nested(error));
    expect([kind, message, hint]).toEqual([
      'untrusted',
      expect.stringContaining(says),
      helps && expect.stringContaining(helps),
    ]);
    expect(message).toContain('service.test');
    expect(network(nested(error), { sent: true })).toEqual({ kind: 'broken_tls', message, hint });
  });

  test('since the server alone speaks TLS was never acted on', () => {
    const broken = (data: string) => nested(coded('HPE_INVALID_CONSTANT', 'Parse Error', { data }));
    const hint = expect.stringContaining('https://');
    expect(network(broken('\x15\x03\x01'), { sent: true })).toMatchObject({ kind: 'untrusted', hint });
    expect(network(broken('x\x15\x03'), { sent: true }).kind).toBe('lost');
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
