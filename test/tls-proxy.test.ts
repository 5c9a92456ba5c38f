import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Problem } from '../src/run/report.ts';
import { proxyFor } from '../src/service/proxy.ts';
import { createService } from '../src/service/service.ts';

const executionId = '4b7c19e2-65a1-4c49-a73d-3512aa99cd94';
const automation = { projectId: '00000000-0000-4000-8000-000000000001', name: 'nightly' };
const trigger = { automation, idempotencyKey: 'k', isKeyGiven: false };
const timeoutMs = 5_000;
const shortMs = 150;

/** `server` and `expired` are for api.test, localhost and 127.0.0.1, signed by `authority`. */
const pem = (name: string) =>
  readFileSync(join(import.meta.dirname, `certificates/${name}.pem`), 'utf8');

/** The certificates that this test trusts. Node reads NODE_EXTRA_CA_CERTS only when it starts. */
let ca: string | undefined;
const connectTls = tls.connect;
beforeEach(() => {
  ca = pem('authority');
  const trusting = (options: tls.ConnectionOptions, ...rest: []) =>
    connectTls({ ...options, ca }, ...rest);
  vi.spyOn(tls, 'connect').mockImplementation(trusting as never);
});

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening');
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A service with TLS that accepts each trigger. */
async function startService(certificate = 'server', host = '127.0.0.1') {
  const requests: IncomingMessage[] = [];
  const identity = { cert: pem(certificate), key: pem(certificate) };
  const server = createHttpsServer(identity, (request, response) => {
    requests.push(request);
    response.writeHead(201).end(JSON.stringify({ executionId }));
  });
  return { port: await listen(server, host), requests };
}

interface ProxyOptions {
  isTls?: boolean;
  /** What it does with a CONNECT. By default it connects to this machine, whatever the host. */
  answer?(client: Socket): void;
}

async function startProxy({ isTls = false, answer }: ProxyOptions = {}) {
  const requests: IncomingMessage[] = [];
  const server = isTls
    ? createHttpsServer({ cert: pem('server'), key: pem('server') })
    : createServer();
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    requests.push(request);
    client.on('error', () => {});
    if (answer) return answer(client);
    const service = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      service.pipe(client).pipe(service);
    });
    service.on('error', () => client.destroy());
  });
  return { port: await listen(server), requests };
}

/** Sends a trigger to the base URL. */
async function send(baseUrl: string, { env = {}, limitMs = timeoutMs } = {}) {
  const service = createService({
    baseUrl,
    apiKey: { read: async () => 'key-0123456789' },
    requestTimeoutMs: limitMs,
    userAgent: 'runctl/test',
    env,
    clock: { nowMs: Date.now, elapsedMs: () => performance.now() },
    randomUuid: () => executionId,
    signal: new AbortController().signal,
    scrub: (text) => text,
  });
  onTestFinished(service.close);
  return await service.trigger(trigger, limitMs);
}

const failed = (kind: string, reason: string | RegExp) => ({
  ok: false,
  failure: expect.objectContaining({ kind, reason: expect.stringMatching(reason) }),
});

describe('TLS', () => {
  test('carries a trigger if the certificate is trusted', async () => {
    const { port } = await startService();
    expect(await send(`https://127.0.0.1:${port}`)).toMatchObject({ ok: true });
  });

  test.each([
    [
      'expired',
      '127.0.0.1',
      /^the certificate for 127.0.0.1:\d+ has expired \(CERT_HAS_EXPIRED\)$/,
    ],
    ['server', '127.0.0.2', /^127.0.0.2:\d+ has a certificate for another host/],
  ])('sends nothing to a server with the certificate %s at %s', async (name, host, reason) => {
    const { port, requests } = await startService(name, host);
    expect(await send(`https://${host}:${port}`)).toEqual(failed('tls', reason));
    expect(requests).toEqual([]);
  });

  test('sends nothing if the authority is not trusted', async () => {
    ca = undefined;
    const { port, requests } = await startService();
    const answer = await send(`https://127.0.0.1:${port}`);
    expect(answer).toEqual(failed('tls', /^this machine doesn't trust the authority that signed/));
    expect(requests).toEqual([]);
  });

  // biome-ignore format: a table
  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['is reset', (socket) => socket.once('data', () => socket.resetAndDestroy()), /closed the connection \(ECONNRESET\)$/],
    ['is closed', (socket) => socket.once('data', () => socket.end()), /closed the connection \(ECONNRESET\)$/],
    ['hangs', () => {}, /^nobody answered within 0.15s$/],
    ['gets plain HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /doesn't speak TLS/],
  ])('has sent nothing if the handshake %s', async (_, answer, reason) => {
    const port = await listen(createTcpServer(answer));
    const got = await send(`https://127.0.0.1:${port}`, { limitMs: shortMs });
    expect(got).toEqual(failed('unreachable', reason));
  });
});

describe('a proxy', () => {
  test.each([false, true])('tunnels to the service (with TLS of its own: %s)', async (isTls) => {
    const service = await startService();
    const proxy = await startProxy({ isTls });
    const HTTPS_PROXY = `${isTls ? 'https' : 'http'}://user:p%40ss@127.0.0.1:${proxy.port}`;
    const answer = await send(`https://api.test:${service.port}`, { env: { HTTPS_PROXY } });
    expect(answer).toMatchObject({ ok: true });
    const [request] = proxy.requests;
    expect(request?.url).toBe(`api.test:${service.port}`);
    expect(request?.headers['proxy-authorization']).toBe(`Basic ${btoa('user:p@ss')}`);
    expect(service.requests).toHaveLength(1);
  });

  test('does not hide that the certificate of the service is bad', async () => {
    const { port, requests } = await startService('expired');
    const env = { HTTPS_PROXY: `127.0.0.1:${(await startProxy()).port}` };
    const answer = await send(`https://api.test:${port}`, { env });
    expect(answer).toEqual(failed('tls', /^the certificate for api.test:\d+ has expired/));
    expect(requests).toEqual([]);
  });

  // biome-ignore format: a table
  test.each<[string, (client: Socket) => void, string, RegExp]>([
    ['wants a password', (client) => client.end('HTTP/1.1 407 No\r\n\r\n'), 'proxy', /^the proxy 127.0.0.1:\d+ \(HTTPS_PROXY\) wants a user name and password \(407\)$/],
    ['forbids it', (client) => client.end('HTTP/1.1 403 No\r\n\r\n'), 'proxy', /opened no connection to api.test:443 \(403\)$/],
    ['finds nobody', (client) => client.end('HTTP/1.1 502 No\r\n\r\n'), 'unreachable', /\(502\)$/],
    ['speaks no HTTP', (client) => client.end('SSH-2.0\r\n\r\n'), 'unreachable', /HTTPS_PROXY\) doesn't speak HTTP/],
    ['closes the connection', (client) => client.end(), 'unreachable', /HTTPS_PROXY\) closed the connection/],
    ['hangs', () => {}, 'unreachable', /^nobody answered within 0.15s$/],
  ])('that %s is asked once', async (_, answer, kind, reason) => {
    const proxy = await startProxy({ answer });
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const got = await send('https://api.test', { env, limitMs: shortMs });
    expect(got).toEqual(failed(kind, reason));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(proxy.requests).toHaveLength(1);
  });

  test('that nobody runs is named without its password', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const env = { all_proxy: `http://user:secret@127.0.0.1:${port}` };
    const reason =
      /^the proxy 127.0.0.1:\d+ \(all_proxy\) refused the connection \(ECONNREFUSED\)$/;
    expect(await send('https://api.test', { env })).toEqual(failed('unreachable', reason));
  });

  const url = 'http://proxy.test:3128';
  test.each<[Record<string, string>, string | undefined]>([
    [{}, undefined],
    [{ HTTPS_PROXY: url }, `${url}/`],
    [{ https_proxy: url, HTTPS_PROXY: 'http://other.test' }, `${url}/`],
    [{ https_proxy: '', HTTPS_PROXY: ` ${url}\n` }, `${url}/`],
    [{ HTTP_PROXY: url, http_proxy: url }, undefined],
    [{ ALL_PROXY: url }, `${url}/`],
    [{ ALL_PROXY: 'http://other.test', HTTPS_PROXY: 'proxy.test:3128' }, `${url}/`],
    [{ HTTPS_PROXY: '[::1]:3128' }, 'http://[::1]:3128/'],
  ])('from the environment %j is %s', (env, expected) => {
    expect(proxyFor(new URL('https://api.test'), env)?.url.href).toBe(expected);
  });

  test.each(['http://localhost:8080', 'https://a.localhost', 'https://127.0.0.9', 'http://[::1]'])(
    'is never used for %s on this machine',
    (service) => expect(proxyFor(new URL(service), { HTTPS_PROXY: 'socks5://x' })).toBeUndefined(),
  );

  test.each([
    ['*', 'https://api.test', true],
    ['API.test.', 'https://api.test', true],
    ['a.test, test', 'https://api.test', true],
    ['.api.test', 'https://eu.api.test', true],
    ['*.api.test', 'https://eu.api.test', true],
    ['api.test:443', 'https://api.test', true],
    ['api.test:8443', 'https://api.test', false],
    ['pi.test', 'https://api.test', false],
    ['192.0.2.0/24', 'https://192.0.2.7', true],
    ['192.0.2.0/24', 'https://192.0.3.7', false],
    ['192.0.2.0/', 'https://192.0.3.7', false],
    ['192.0.2.0/33', 'https://192.0.2.7', false],
    ['192.0.2.0/24', 'https://api.test', false],
    ['2001:db8::/32', 'https://[2001:db8:1::2]', true],
    ['[2001:0db8::0001]:443', 'https://[2001:db8::1]', true],
    ['', 'https://api.test', false],
  ])('with NO_PROXY=%s does not serve %s: %s', (list, service, isExcepted) => {
    const env = { HTTPS_PROXY: url, no_proxy: '', NO_PROXY: list };
    expect(proxyFor(new URL(service), env) === undefined).toBe(isExcepted);
  });

  test.each([
    ['socks5://user:secret@proxy.test', /^HTTPS_PROXY names a SOCKS proxy/],
    ['ftp://user:secret@proxy.test', /^HTTPS_PROXY must be a URL such as/],
    ['http://user:12#secret@proxy.test', /^HTTPS_PROXY must be a URL such as/],
    ['http://user:100%secret@proxy.test', /^HTTPS_PROXY must be a URL such as/],
  ])('%s is wrong usage', (HTTPS_PROXY, message) => {
    const find = () => proxyFor(new URL('https://api.test'), { HTTPS_PROXY });
    expect(find).toThrow(Problem);
    expect(find).toThrow(message);
    expect(find).not.toThrow(/secret/);
  });
});
