import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Certificate, createAuthority, createCertificate, daysFromNow } from '../helpers/certificates.ts';
import { exchange } from '../helpers/exchange.ts';
import { exchangeInProcess } from '../helpers/exchange-process.ts';
import { freePort, listen, startFaultyServer } from '../helpers/faulty-server.ts';
import { startProxy } from '../helpers/proxies.ts';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';
import { trustedAuthority } from '../helpers/trusted-authority.ts';

const authority = trustedAuthority();
const stranger = createAuthority('authority of nobody');
const good = () => createCertificate({ issuer: authority });

async function startService(certificate: Certificate) {
  const requests: string[] = [];
  const server = createServer(certificate, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(201).end('{"ok":true}');
  });
  server.on('tlsClientError', () => {});
  const port = await listen(server);
  return { port, origin: `https://127.0.0.1:${port}`, requests };
}

/** Where nothing but the limit can end an exchange. */
const onlyLimitMs = 300;

describe('over TLS', () => {
  test('a certificate of a trusted authority is enough', async () => {
    const { origin, requests } = await startService(good());
    expect(await exchange({ origin })).toMatchObject({ status: 201, body: '{"ok":true}' });
    expect(requests).toEqual(['POST /v0/x']);
  });

  test('a process trusts the authority that its environment names, and without it no other than the usual', async () => {
    const { origin, requests } = await startService(good());
    expect(await exchangeInProcess({ origin }, authority.file)).toMatchObject({ status: 201 });
    expect(await exchangeInProcess({ origin })).toMatchObject({ sent: false, fault: { kind: 'untrusted' } });
    expect(requests).toEqual(['POST /v0/x']);
  });

  test.each<[string, () => Certificate, RegExp, RegExp]>([
    [
      'expired',
      () => createCertificate({ issuer: authority, from: daysFromNow(-9), to: daysFromNow(-1) }),
      /has expired$/,
      /clock/,
    ],
    [
      'not yet valid',
      () => createCertificate({ issuer: authority, from: daysFromNow(2) }),
      /is not yet valid$/,
      /clock/,
    ],
    [
      'for another host',
      () => createCertificate({ issuer: authority, hosts: ['other.test'] }),
      /for another host$/,
      /base URL/,
    ],
    ['self-signed', () => createCertificate(), /is self-signed$/, /NODE_EXTRA_CA_CERTS/],
    ['of an unknown authority', () => createCertificate({ issuer: stranger }), /doesn't trust$/, /NODE_EXTRA_CA_CERTS/],
  ])('a certificate that is %s is refused before anything is sent', async (_, certificate, message, hint) => {
    const { origin, requests } = await startService(certificate());
    const report = await exchange({ origin });
    expect(report).toMatchObject({
      sent: false,
      fault: {
        kind: 'untrusted',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      },
    });
    expect(report.fault?.message).toContain(new URL(origin).host);
    expect(requests).toEqual([]);
  });

  test('a port that speaks plain http is reported as such, and nothing is sent', async () => {
    const port = await listen(createHttpServer());
    expect(await exchange({ origin: `https://127.0.0.1:${port}` })).toMatchObject({
      sent: false,
      fault: { kind: 'untrusted', message: `127.0.0.1:${port} doesn't speak HTTPS` },
    });
  });

  test('a TLS port that is spoken to in plain http leaves a fault that says something', async () => {
    const { port, requests } = await startService(good());
    const { fault, sent } = await exchange({ origin: `http://127.0.0.1:${port}` });
    expect({ fault, sent }).toMatchObject({ sent: true, fault: { kind: 'lost' } });
    expect(fault?.message).toMatch(/^the exchange with|closed|reset/);
    expect(requests).toEqual([]);
  });

  test.each([
    ['never answers the handshake', () => {}, 'unreachable', /no connection to .* within 300ms/],
    [
      'closes in the handshake',
      (socket: { destroy(): void }) => socket.destroy(),
      'unreachable',
      /reset|closed|failed/,
    ],
  ] as const)('a server that %s was sent nothing', async (_, act, kind, message) => {
    const { port, received } = await startFaultyServer(act, { atOnce: true });
    const report = await exchange({ origin: `https://127.0.0.1:${port}`, timeoutMs: onlyLimitMs });
    expect(report).toMatchObject({ sent: false, fault: { kind } });
    expect(report.fault?.message).toMatch(message);
    expect(report.tookMs).toBeLessThan(ampleLimitMs);
    expect(received.join('')).not.toContain('POST');
  });
});

/** A proxy as the variable of a test names it. */
const through = (origin: string, credentials?: string) => ({ origin, credentials, variable: 'https_proxy' });

describe('through a proxy', () => {
  test.each([
    ['without credentials', undefined],
    ['with credentials', 'user:p@ss word'],
    ['with a user alone', 'user:'],
  ])('the request goes by a tunnel %s, and its headers are not the proxy’s to see', async (_, credentials) => {
    const { origin, port, requests } = await startService(good());
    const proxy = await startProxy({ credentials });
    expect(await exchange({ origin, proxy: through(proxy.url, credentials) })).toMatchObject({ status: 201 });
    expect(proxy.requests.map(({ line }) => line)).toEqual([`CONNECT 127.0.0.1:${port}`]);
    expect(requests).toEqual(['POST /v0/x']);
  });

  test('a proxy that has an IP address and speaks https is not given the address as a name', async () => {
    const { origin, requests } = await startService(good());
    const proxy = await startProxy({ certificate: good() });
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    expect(await exchange({ origin, proxy: through(proxy.url) })).toMatchObject({ status: 201 });
    expect(requests).toEqual(['POST /v0/x']);
    expect(warnings).toEqual([]);
  });

  test('a certificate is checked behind it too', async () => {
    const { origin, requests } = await startService(createCertificate());
    const { url } = await startProxy();
    const { fault } = await exchange({ origin, proxy: through(url) });
    expect(fault).toMatchObject({ kind: 'untrusted', message: expect.stringMatching(/self-signed$/) });
    expect(requests).toEqual([]);
  });

  test.each([
    ['wants credentials', { credentials: 'a:b' }, 'proxy_refused', /rejected the credentials \(407\)$/],
    ['says so in the words of tinyproxy', { refuse: 401 }, 'proxy_refused', /rejected the credentials \(401\)$/],
    ['forbids it', { refuse: 403 }, 'proxy_refused', /doesn't allow connections to 127\.0\.0\.1:\d+ \(403\)$/],
    ['cannot reach the service', { refuse: 502 }, 'unreachable', /did not connect to 127\.0\.0\.1:\d+ \(502\)$/],
    [
      'hangs',
      { hang: true },
      'unreachable',
      /^no connection to 127\.0\.0\.1:\d+ through .* within 300ms$|said nothing/,
    ],
  ] as const)('a proxy that %s was given nothing of the request', async (_, options, kind, message) => {
    const { origin, requests } = await startService(good());
    const { url } = await startProxy(options);
    const timeoutMs = 'hang' in options ? onlyLimitMs : undefined;
    const report = await exchange({ origin, proxy: through(url), timeoutMs });
    expect(report).toMatchObject({ sent: false, fault: { kind } });
    expect(report.fault?.message).toMatch(message);
    expect(report.fault?.message).toContain(`the proxy ${new URL(url).host} (https_proxy)`);
    expect(report.tookMs).toBeLessThan(ampleLimitMs);
    expect(requests).toEqual([]);
  });

  test.each<[string, () => Promise<string>, RegExp]>([
    [
      'is not there',
      async () => `http://127.0.0.1:${await freePort()}`,
      /^can't connect to the proxy 127\.0\.0\.1:\d+ \(/,
    ],
    [
      'has an unknown name',
      async () => 'http://no-such-proxy.invalid:3128',
      /the (name )?proxy no-such-proxy\.invalid:3128 \(https_proxy\)/,
    ],
    [
      'resets the connection',
      async () => (await startFaultyServer((socket) => socket.resetAndDestroy())).origin,
      /^the proxy 127\.0\.0\.1:\d+ \(https_proxy\) (reset|closed) the connection$/,
    ],
    [
      "doesn't speak HTTPS, though its address says so",
      async () => `https://127.0.0.1:${await listen(createHttpServer())}`,
      /^the proxy 127\.0\.0\.1:\d+ \(https_proxy\) doesn't speak HTTPS$/,
    ],
  ])('a proxy that %s is named, with its variable', async (_, start, message) => {
    const { origin, requests } = await startService(good());
    const report = await exchange({ origin, proxy: through(await start()) });
    expect(report).toMatchObject({ sent: false, fault: { hint: expect.stringContaining('https_proxy') } });
    expect(report.fault?.message).toMatch(message);
    expect(report.fault?.message).not.toContain(new URL(origin).host);
    expect(requests).toEqual([]);
  });

  test.each(['GET', 'POST'] as const)('a proxy that connects too late opens the way for no %s', async (method) => {
    const { origin, requests } = await startService(good());
    const proxy = await startProxy({ lateMs: 800 });
    const order = {
      origin,
      method,
      proxy: through(proxy.url),
      timeoutMs: onlyLimitMs,
      connectTimeoutMs: ampleLimitMs,
    };
    const report = await exchange({ ...order, lingerMs: 1_500 });
    expect(report).toMatchObject({ sent: false, fault: { kind: 'unreachable' } });
    expect(report.tookMs).toBeLessThan(ampleLimitMs);
    expect(proxy.requests).toHaveLength(1);
    expect(requests).toEqual([]);
  });
});

describe('after an exchange', () => {
  test.each(['GET', 'POST'] as const)('nothing of a %s that was answered keeps the process', async (method) => {
    const server = createHttpServer({ keepAliveTimeout: 60_000 }, (_request, response) => void response.end('{}'));
    const origin = `http://127.0.0.1:${await listen(server)}`;
    const report = await exchangeInProcess({ origin, method });
    expect(report).toMatchObject({ status: 200 });
    expect(report.lastedMs).toBeLessThan(report.atOnceMs);
  });

  test.each(['GET', 'POST'] as const)('nothing of a %s that was given up keeps the process', async (method) => {
    const server = createHttpServer(() => {});
    const origin = `http://127.0.0.1:${await listen(server)}`;
    const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
    const report = await exchangeInProcess({ origin, method, timeoutMs: shortLimitMs });
    expect(report).toMatchObject({ sent: true, fault: { kind: 'lost' } });
    expect(report.lastedMs).toBeLessThan(report.atOnceMs);
    await closed;
  });

  test('nothing of a proxy that hangs keeps the process', async () => {
    const { origin } = await startService(good());
    const { url } = await startProxy({ hang: true });
    const report = await exchangeInProcess({ origin, proxy: through(url), timeoutMs: onlyLimitMs });
    expect(report).toMatchObject({ sent: false, fault: { kind: 'unreachable' } });
    expect(report.lastedMs).toBeLessThan(report.atOnceMs);
  });
});
