// Real handshakes and proxies: what Node and undici tell of each failure, and that nothing was sent.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CertificateOptions, createAuthority, createCertificate, daysFromNow } from '../helpers/certificates.ts';
import { exchange } from '../helpers/exchange.ts';
import { exchangeInProcess } from '../helpers/exchange-process.ts';
import { freePort, listen, startFaultyServer } from '../helpers/faulty-server.ts';
import { startProxy } from '../helpers/proxies.ts';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';
import { trustedAuthority } from '../helpers/trusted-authority.ts';

const issuer = trustedAuthority();
const stranger = createAuthority('authority of nobody');

async function startService(
  certificate: CertificateOptions = { issuer },
  { above = '', ...options }: SecureContextOptions & TlsOptions & { above?: string } = {},
) {
  const requests: string[] = [];
  const { cert, key } = createCertificate(certificate);
  const server = createServer({ ...options, cert: cert + above, key }, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(201).end('{"ok":true}');
  });
  server.on('tlsClientError', () => {});
  const port = await listen(server);
  return { port, origin: `https://127.0.0.1:${port}`, requests };
}

/** A server that speaks plain HTTP; the origin says https. */
const startPlain = async () => `https://127.0.0.1:${await listen(createHttpServer())}`;
const post = ['POST /v0/x'];
/** Where nothing but the limit can end an exchange. */
const onlyLimitMs = 300;

describe('with TLS', () => {
  test('a request succeeds with a certificate of a trusted authority', async () => {
    const { origin, requests } = await startService();
    expect(await exchange({ origin })).toMatchObject({ status: 201, body: '{"ok":true}' });
    expect(requests).toEqual(post);
  });

  test('a process trusts the authority that its environment names, and without it no other than the usual', async () => {
    const { origin, requests } = await startService();
    expect(await exchangeInProcess({ origin }, issuer.file)).toMatchObject({ status: 201 });
    expect(await exchangeInProcess({ origin })).toMatchObject({ sent: false, fault: { kind: 'tls_handshake_failed' } });
    expect(requests).toEqual(post);
  });

  test.each<[string, CertificateOptions, says: RegExp, hint: RegExp]>([
    ['expired', { issuer, from: daysFromNow(-9), to: daysFromNow(-1) }, /expired/, /clock/],
    ['not yet valid', { issuer, from: daysFromNow(2) }, /not yet valid/, /clock/],
    ['for another host', { issuer, hosts: ['other.test'] }, /another host/, /base URL/],
    ['self-signed', {}, /self-signed/, /NODE_EXTRA_CA_CERTS/],
    ['of an unknown authority', { issuer: stranger }, /doesn't trust/, /NODE_EXTRA_CA_CERTS/],
  ])('a certificate that is %s is refused before anything is sent', async (_, certificate, says, hint) => {
    const { origin, port, requests } = await startService(certificate);
    const { sent, fault } = await exchange({ origin });
    expect({ sent, kind: fault?.kind, requests }).toEqual({ sent: false, kind: 'tls_handshake_failed', requests: [] });
    expect([fault?.message, fault?.hint]).toEqual([expect.stringMatching(says), expect.stringMatching(hint)]);
    expect(fault?.message).toContain(`127.0.0.1:${port}`);
  });

  test('an expired certificate of an authority is not called the certificate of the host', async () => {
    const expired = { issuer, from: daysFromNow(-9), to: daysFromNow(-1) };
    const intermediate = createAuthority('intermediate of the tests', expired);
    const { origin, port } = await startService({ issuer: intermediate }, { above: intermediate.cert });
    const { fault } = await exchange({ origin });
    expect(fault?.message).toBe(`a certificate that 127.0.0.1:${port} sends, "intermediate of the tests", has expired`);
  });

  test('a server that sends no intermediate certificate is named as the cause', async () => {
    const intermediate = createAuthority('intermediate of the tests', { issuer });
    const { fault } = await exchange({ origin: (await startService({ issuer: intermediate })).origin });
    expect(fault?.message).toMatch(/"intermediate of the tests".* no intermediate certificate/);
    const whole = await startService({ issuer: intermediate }, { above: intermediate.cert });
    expect(await exchange({ origin: whole.origin })).toMatchObject({ status: 201 });
  });

  test('a port that speaks plain http is reported as such, and nothing is sent', async () => {
    const fault = { kind: 'tls_handshake_failed', message: expect.stringContaining("doesn't speak HTTPS") };
    expect(await exchange({ origin: await startPlain() })).toMatchObject({ sent: false, fault });
  });

  test('a request in plain HTTP to a TLS port fails with a useful message', async () => {
    const { port, requests } = await startService();
    const fault = { kind: 'lost', message: expect.stringContaining(`127.0.0.1:${port}`) };
    expect(await exchange({ origin: `http://127.0.0.1:${port}` })).toMatchObject({ sent: true, fault });
    expect(requests).toEqual([]);
  });

  test.each<[string, (socket: Socket) => void, says: RegExp]>([
    ['never answers the handshake', () => {}, /within 300ms/],
    ['closes in the handshake', (socket) => socket.destroy(), /reset|closed|failed/],
  ])('a server that %s was sent nothing', async (_, act, says) => {
    const { port, received } = await startFaultyServer(act, { atOnce: true });
    const report = await exchange({ origin: `https://127.0.0.1:${port}`, timeoutMs: onlyLimitMs });
    const fault = { kind: 'unreachable', message: expect.stringMatching(says) };
    expect(report).toMatchObject({ sent: false, fault });
    expect(report.tookMs).toBeLessThan(ampleLimitMs);
    expect(received.join('')).not.toContain('POST');
  });
});

/** Demands a certificate of the client. TLS 1.3 lets the client send its request before it hears of that. */
const demanding = (version: 'TLSv1.2' | 'TLSv1.3') =>
  ({ requestCert: true, rejectUnauthorized: true, minVersion: version, maxVersion: version }) as const;

describe('a server that refuses the handshake', () => {
  const methods = ['GET', 'POST'] as const;

  test.each(methods)('since it wants a client certificate has not acted on the request: %s', async (method) => {
    const { origin, requests } = await startService({ issuer }, demanding('TLSv1.3'));
    const proxy = through((await startProxy()).url);
    for (const way of [{}, { proxy }]) {
      const { sent, fault } = await exchange({ origin, method, ...way });
      expect({ sent, kind: fault?.kind }).toEqual({ sent: false, kind: 'tls_handshake_failed' });
      expect(fault?.message).toContain('wants a client certificate');
    }
    expect(requests).toEqual([]);
  });

  test('because it wants a client certificate does so before the request in TLS 1.2', async () => {
    const { origin } = await startService({ issuer }, demanding('TLSv1.2'));
    const { sent, fault } = await exchange({ origin });
    expect([sent, fault?.message]).toEqual([false, expect.stringContaining('client certificate')]);
  });

  test('is named if it is a proxy', async () => {
    const { origin, requests } = await startService();
    const certificate = { ...createCertificate({ issuer }), ...demanding('TLSv1.3') };
    const { sent, fault } = await exchange({ origin, proxy: through((await startProxy({ certificate })).url) });
    expect([sent, fault?.kind, fault?.message]).toEqual([
      false,
      'tls_handshake_failed',
      expect.stringMatching(/the proxy .* wants a client certificate/),
    ]);
    expect(requests).toEqual([]);
  });

  test('because it speaks only HTTP/2 has a message of its own', async () => {
    const server = createSecureServer({ ...createCertificate({ issuer }), allowHTTP1: false });
    server.on('tlsClientError', () => {});
    const { sent, fault } = await exchange({ origin: `https://127.0.0.1:${await listen(server)}` });
    expect([sent, fault?.message]).toEqual([false, expect.stringContaining("doesn't offer HTTP/1.1")]);
  });

  test('is not the message for a connection that breaks later, whose request is in doubt', async () => {
    const server = createServer(createCertificate({ issuer }), (request, response) => {
      response.writeHead(201, { 'content-length': 99 }).write('{');
      request.socket.destroy();
    });
    server.on('tlsClientError', () => {});
    const report = await exchange({ origin: `https://127.0.0.1:${await listen(server)}` });
    expect(report).toMatchObject({ sent: true, fault: { kind: 'lost' } });
  });
});

/** A proxy as the variable of a test names it. */
const through = (origin: string, credentials?: string) => ({ origin, credentials, variable: 'https_proxy' });

describe('a TLS proxy', () => {
  test('that has an IP address is not given the address as a name', async () => {
    const { origin } = await startService();
    const proxy = await startProxy({ certificate: createCertificate({ issuer }) });
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    expect(await exchange({ origin, proxy: through(proxy.url) })).toMatchObject({ status: 201 });
    expect(warnings).toEqual([]);
  });

  test.each([
    ['localhost', 201],
    ['127.0.0.1', 201],
    ['service.test', undefined],
  ])('has its certificate checked against its own name, and not that of the service: %s', async (host, status) => {
    const { port } = await startService({ issuer, hosts: ['service.test'] });
    const origin = `https://service.test:${port}`;
    const { url } = await startProxy({ certificate: createCertificate({ issuer, hosts: [host] }) });
    const name = host === '127.0.0.1' ? host : 'localhost';
    expect((await exchange({ origin, proxy: through(url.replace('127.0.0.1', name)) })).status).toBe(status);
  });

  test('does not keep the certificate of the service from being checked', async () => {
    const { origin, requests } = await startService({});
    const { url } = await startProxy();
    const fault = { kind: 'tls_handshake_failed', message: expect.stringContaining('self-signed') };
    expect(await exchange({ origin, proxy: through(url) })).toMatchObject({ sent: false, fault });
    expect(requests).toEqual([]);
  });

  test.each<[string, start: () => Promise<string>, kind: string, says: RegExp]>([
    ['wants credentials', () => urlOf({ credentials: 'a:b' }), 'proxy_refused', /credentials \(407\)/],
    ['says so in the words of tinyproxy', () => urlOf({ refuse: 401 }), 'proxy_refused', /credentials \(401\)/],
    ['forbids it', () => urlOf({ refuse: 403 }), 'proxy_refused', /\(403\)/],
    ['cannot reach the service', () => urlOf({ refuse: 502 }), 'unreachable', /\(502\)/],
    ['hangs', () => urlOf({ hang: true }), 'unreachable', /within 300ms|said nothing/],
    ['is not there', async () => `http://127.0.0.1:${await freePort()}`, 'unreachable', /can't connect/],
    ['has an unknown name', async () => 'http://no-such-proxy.invalid:3128', 'unreachable', /resolve|name server/],
    ['resets the connection', async () => (await startFaultyServer(reset)).origin, 'unreachable', /reset|closed/],
    ["doesn't speak HTTPS, as its address says", startPlain, 'tls_handshake_failed', /doesn't speak HTTPS/],
  ])('that %s is named, and was given nothing of the request', async (_, start, kind, says) => {
    const { origin, requests } = await startService();
    const url = await start();
    const timeoutMs = says.source.includes('300ms') ? onlyLimitMs : undefined;
    const { sent, fault, tookMs } = await exchange({ origin, proxy: through(url), timeoutMs });
    expect({ sent, kind: fault?.kind, requests }).toEqual({ sent: false, kind, requests: [] });
    expect(fault?.message).toMatch(says);
    expect(`${fault?.message} ${fault?.hint}`).toMatch(new RegExp(`${new URL(url).host}.* .*https_proxy`));
    expect(tookMs).toBeLessThan(ampleLimitMs);
  });

  const urlOf = async (options: Parameters<typeof startProxy>[0]) => (await startProxy(options)).url;
  const reset = (socket: Socket) => socket.resetAndDestroy();

  test.each(['GET', 'POST'] as const)('that connects too late opens the way for no %s', async (method) => {
    const { origin, requests } = await startService();
    const proxy = await startProxy({ lateMs: 800 });
    const limits = { timeoutMs: onlyLimitMs, connectTimeoutMs: ampleLimitMs, lingerMs: 1_500 };
    const report = await exchange({ origin, method, proxy: through(proxy.url), ...limits });
    expect(report).toMatchObject({ sent: false, fault: { kind: 'unreachable' } });
    expect(report.tookMs).toBeLessThan(ampleLimitMs);
    expect([proxy.requests.length, requests]).toEqual([1, []]);
  });
});

describe('the process after an exchange', () => {
  test.each(['GET', 'POST'] as const)('is not kept by a %s with a response', async (method) => {
    const server = createHttpServer({ keepAliveTimeout: 60_000 }, (_request, response) => void response.end('{}'));
    const report = await exchangeInProcess({ origin: `http://127.0.0.1:${await listen(server)}`, method });
    expect(report).toMatchObject({ status: 200 });
    expect(report.lastedMs).toBeLessThan(report.atOnceMs);
  });

  test.each(['GET', 'POST'] as const)('is not kept by a %s that was given up', async (method) => {
    const server = createHttpServer(() => {});
    const origin = `http://127.0.0.1:${await listen(server)}`;
    const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
    const report = await exchangeInProcess({ origin, method, timeoutMs: shortLimitMs });
    expect(report).toMatchObject({ sent: true, fault: { kind: 'lost' } });
    expect(report.lastedMs).toBeLessThan(report.atOnceMs);
    await closed;
  });

  test('is not kept by a proxy that hangs', async () => {
    const [{ origin }, { url }] = [await startService(), await startProxy({ hang: true })];
    const report = await exchangeInProcess({ origin, proxy: through(url), timeoutMs: onlyLimitMs });
    expect(report).toMatchObject({ sent: false, fault: { kind: 'unreachable' } });
    expect(report.lastedMs).toBeLessThan(report.atOnceMs);
  });
});
