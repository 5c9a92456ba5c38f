import { describe, expect, test } from 'vitest';
import { type FaultKind, isRetryable, remedyOf, stopsEveryRequest } from '../../src/run/fault.ts';
import { type CertificateAtFault, causesOf } from '../../src/service/exchange.ts';
import { networkFaultOf } from '../../src/service/network-fault.ts';
import { ProxyFailure } from '../../src/service/proxy-fault.ts';

const coded = (code: string, message = code, fields: object = {}) =>
  Object.assign(new Error(message), { code, ...fields });
/** As undici and `net` nest it. */
const nested = (error: Error) => new TypeError('fetch failed', { cause: new AggregateError([error]) });
const acme: CertificateAtFault = { name: 'Acme Intermediate', issuer: 'Acme Root', isOfHost: false, isAlone: false };
const attempt = { host: 'service.test', timeoutMs: 1500 };
const network = (error: unknown, { sent: wasSent = false, status }: { sent?: boolean; status?: number } = {}) =>
  networkFaultOf({ kind: 'network', wasSent, status, error }, attempt);

describe('a connection that fails', () => {
  test.each<[Error, says: string]>([
    [coded('ENOTFOUND'), "can't resolve service.test"],
    [coded('EAI_AGAIN'), 'no name server'],
    [coded('ECONNREFUSED'), 'refused'],
    [coded('EHOSTUNREACH'), 'no route'],
    [coded('ENETUNREACH'), 'no network'],
    [coded('ETIMEDOUT'), 'accept'],
    [coded('UND_ERR_CONNECT_TIMEOUT'), 'accept'],
    [coded('UND_ERR_HEADERS_TIMEOUT'), 'never responded'],
    [coded('ECONNRESET'), 'reset'],
    [coded('EPIPE'), 'closed'],
    [coded('UND_ERR_SOCKET', 'other side'), 'closed'],
    [coded('ENEW', 'something new'), '(fetch failed)'],
  ])('has a message for %s that says how far it got', (error, says) => {
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

  test.each<[codes: string[], says: string]>([
    [['ENETUNREACH', 'ECONNREFUSED'], 'refused'],
    [['ENETUNREACH', 'ETIMEDOUT'], 'in time'],
    [['EHOSTUNREACH', 'ENETUNREACH'], 'no route'],
  ])('has the most useful message if several addresses failed (%j)', (codes, says) => {
    const { message } = network(new AggregateError(codes.map((code) => coded(code))));
    expect(message).toContain(says);
  });

  test.each<[string, Error, says: string]>([
    ['a 100', new Error('bad response'), '100 Continue'],
    ['headers that are too large', coded('UND_ERR_HEADERS_OVERFLOW'), '256 KB'],
    ['what is no HTTP', coded('HPE_INVALID_CONSTANT', 'Expected HTTP/'), "isn't HTTP (Expected HTTP/)"],
  ])('has a message about the response if that was %s', (_, error, says) => {
    const fault = network(error, { sent: true });
    expect(fault).toMatchObject({ kind: 'lost', message: expect.stringContaining(says), hint: expect.any(String) });
    expect(fault.message).not.toContain('before it responded');
  });

  test('has a message that says if no reason was given', () =>
    expect(network(undefined).message).toContain('no reason given'));

  test('is not tried again if HTTP can not carry the request', () => {
    const error = nested(coded('UND_ERR_INVALID_ARG', 'invalid header'));
    expect(network(error)).toMatchObject({ kind: 'unsendable', message: expect.stringContaining('invalid header') });
  });
});

test.each<['interrupted' | 'deadline', boolean, FaultKind, says: string]>([
  ['interrupted', false, 'interrupted', 'interrupted'],
  ['interrupted', true, 'interrupted_in_flight', 'interrupted'],
  ['deadline', false, 'unreachable', '1.5s'],
  ['deadline', true, 'lost', '1.5s'],
])('a request that was %s, and sent: %s, is %s', (reason, wasSent, kind, says) => {
  expect(networkFaultOf({ kind: reason, wasSent }, attempt)).toEqual({ kind, message: expect.stringContaining(says) });
});

describe('the HTTP client of this process', () => {
  test.each<[Error, hint: RegExp | undefined]>([
    [new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate'), /disable-wasm-trap-handler.*ulimit/],
    [new RangeError('Array buffer allocation failed'), /ulimit/],
    [new ReferenceError('WebAssembly is not defined'), /--jitless/],
    [new TypeError('x is not a function'), undefined],
    [coded('ERR_ASSERTION', 'no', { name: 'AssertionError' }), undefined],
  ])('is named if it fails with %s, and not tried again', (error, hint) => {
    const fault = network(error);
    expect(fault).toMatchObject({
      kind: 'client_failed_before_sending',
      message: expect.stringContaining(error.message),
    });
    expect(fault.hint ?? '').toMatch(hint ?? /^$/);
    expect(network(error, { sent: true }).kind).toBe('client_failed_after_sending');
    expect(network(new ProxyFailure(error))).toEqual(fault);
    for (const kind of ['client_failed_before_sending', 'client_failed_after_sending'] as const) {
      expect([isRetryable({ ...fault, kind }), stopsEveryRequest({ ...fault, kind })]).toEqual([false, true]);
      expect(remedyOf({ ...fault, kind })).toBeDefined();
    }
  });
});

describe('a TLS connection that fails', () => {
  const trust = 'NODE_EXTRA_CA_CERTS';
  const alert = (number: number) => coded('ERR_SSL_ALERT', `${ssl('an alert')}SSL alert number ${number}\n`);
  const ssl = (reason: string) => `80:error:0A:SSL routines:ssl3_read_bytes:${reason}:../ssl/record.c:1605:`;

  test.each<[Error, says: string, hint: string]>([
    [coded('CERT_HAS_EXPIRED'), 'expired', 'clock'],
    [coded('CERT_NOT_YET_VALID'), 'not yet valid', 'clock'],
    [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'another host', 'base URL'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'self-signed', trust],
    [coded('SELF_SIGNED_CERT_IN_CHAIN'), 'authority', trust],
    [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'authority', trust],
    [coded('UNABLE_TO_GET_ISSUER_CERT'), 'authority', trust],
    [coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), 'authority', trust],
    [coded('CERT_UNTRUSTED'), 'authority', trust],
    [coded('CERT_REVOKED'), 'revoked', 'replace'],
    [coded('EPROTO', ssl('wrong version number')), "doesn't speak HTTPS", 'base URL'],
    [coded('EPROTO', ssl('packet length too long')), "doesn't speak HTTPS", 'base URL'],
    [coded('ERR_SSL_HTTP_REQUEST', 'HTTP request'), "doesn't speak HTTPS", 'base URL'],
    [coded('EPROTO', ssl('tlsv1 alert protocol version')), 'no TLS version in common (tlsv1 alert', 'server'],
    [alert(70), 'no TLS version in common', 'server'],
    [coded('ERR_SSL_UNSUPPORTED_PROTOCOL', ssl('unsupported protocol')), 'no TLS version in common', 'server'],
    [coded('ERR_SSL_X', ssl('ssl/tls alert handshake failure')), '(ssl/tls alert handshake failure)', 'server'],
    [alert(40), 'may want a client certificate', 'server'],
    [alert(42), 'wants a client certificate', 'stunnel'],
    [alert(48), 'wants a client certificate', 'stunnel'],
    [alert(116), 'wants a client certificate', 'stunnel'],
    [alert(71), 'no TLS ciphers in common', 'server'],
    [coded('ERR_SSL_DH_KEY_TOO_SMALL', ssl('dh key too small')), 'no TLS ciphers in common', 'server'],
    [alert(112), 'no site of that name', 'base URL'],
    [alert(120), "doesn't offer HTTP/1.1", 'server'],
    [alert(80), 'handshake with service.test failed (an alert)', 'server'],
    [coded('ERR_SSL_NEW', 'new'), '(no reason given)', 'server'],
  ])('has a message and a hint for %s', (error, says, helps) => {
    const { kind, message, hint } = network(nested(error));
    expect([kind, message, hint]).toEqual([
      'tls_handshake_failed',
      expect.stringContaining(says),
      expect.stringContaining(helps),
    ]);
    expect(message).toContain('service.test');
    expect(network(nested(error), { sent: true })).toEqual({ kind: 'tls_failed_after_handshake', message, hint });
  });

  test.each<[code: string, CertificateAtFault, says: string[], hint: string]>([
    ['CERT_HAS_EXPIRED', { ...acme, isOfHost: true }, ['the certificate for service.test has expired'], 'clock'],
    ['CERT_HAS_EXPIRED', acme, ['"Acme Intermediate"', 'that service.test sends', 'has expired'], 'renew'],
    ['CERT_NOT_YET_VALID', acme, ['"Acme Intermediate"', 'not yet valid'], 'clock'],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      { ...acme, isAlone: true },
      ['"Acme Root"', 'no intermediate'],
      'on the server',
    ],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', acme, ['"Acme Root"', "doesn't trust"], 'add "Acme Root" with'],
  ])('has a message for %s that names the certificate (%j)', (code, certificate, says, helps) => {
    const { message, hint } = network(coded(code, code, { certificate }));
    for (const words of says) expect(message).toContain(words);
    expect(hint).toContain(helps);
  });

  test.each(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'])(
    'has a hint for %s that says the certificate is not in the file of NODE_EXTRA_CA_CERTS, if that is set',
    (code) => {
      const failure = { kind: 'network', wasSent: false, error: coded(code) } as const;
      expect(networkFaultOf(failure, { ...attempt, hasExtraAuthorities: true }).hint).toContain("isn't among");
      expect(networkFaultOf(failure, attempt).hint).not.toContain("isn't among");
    },
  );

  test('was never acted on if only the server speaks TLS', () => {
    const broken = (data: string) => nested(coded('HPE_INVALID_CONSTANT', 'Parse Error', { data }));
    const hint = expect.stringContaining('https://');
    expect(network(broken('\x15\x03\x01'), { sent: true })).toMatchObject({ kind: 'tls_handshake_failed', hint });
    expect(network(broken('x\x15\x03'), { sent: true }).kind).toBe('lost');
  });
});

test('the causes of an error are found wherever they are nested, to a depth of six, and read whatever they are', () => {
  const odd = Object.assign(new Error('odd'), { code: 7, data: {}, cause: 'text' });
  expect(causesOf(odd)).toEqual([{ code: '', message: 'odd', name: 'Error', data: '' }]);
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
