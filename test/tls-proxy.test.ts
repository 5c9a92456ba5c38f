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
import { Problem } from '../src/core/report.ts';
import { proxyFor } from '../src/service/proxy.ts';
import { clientOf, executionId, shortMs, timeoutMs, trigger } from './service-client.ts';

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
const send = (baseUrl: string, { env = {}, limitMs = timeoutMs } = {}) =>
  clientOf(baseUrl, {}, env).service.trigger(trigger, limitMs);

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
    ['expired', '127.0.0.1', /^the certificate for 127.0.0.1:\d+ isn't trusted \(.* expired\)$/],
    ['server', '127.0.0.2', /^the certificate for 127.0.0.2:\d+ isn't trusted \(.*altnames/],
    ['server', '127.0.0.1', / \(unable to verify the first certificate/],
  ])('sends nothing if the certificate is bad: %s, %s, %s', async (name, host, reason) => {
    if (reason.source.includes('verify')) ca = undefined;
    const { port, requests } = await startService(name, host);
    expect(await send(`https://${host}:${port}`)).toEqual(failed('tls', reason));
    expect(requests).toEqual([]);
  });

  // biome-ignore format: a table
  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['is reset', (socket) => socket.once('data', () => socket.resetAndDestroy()), /^the connection to .* failed \(ECONNRESET\)$/],
    ['is closed', (socket) => socket.once('data', () => socket.end()), /\(ECONNRESET\)$/],
    ['hangs', () => {}, /^nobody answered within 0.15s$/],
    ['wants a certificate of the client', (socket) => socket.once('data', () => socket.end(Buffer.from('1503030002022a', 'hex'))), /bad certificate\)$/],
    ['gets plain HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /\(wrong version number\)$/],
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
    expect(answer).toEqual(failed('tls', /^the certificate for api.test:\d+ isn't trusted/));
    expect(requests).toEqual([]);
  });

  // biome-ignore format: a table
  test.each<[string, (client: Socket) => void, string, RegExp]>([
    ['wants a password', (client) => client.end('HTTP/1.1 407 No\r\n\r\n'), 'proxy', /^the proxy 127.0.0.1:\d+ \(HTTPS_PROXY\) wants a user name and password \(407\)$/],
    ['forbids it', (client) => client.end('HTTP/1.1 403 No\r\n\r\n'), 'proxy', /didn't connect to api.test:443 \(403\)$/],
    ['finds nobody', (client) => client.end('HTTP/1.1 502 No\r\n\r\n'), 'unreachable', /\(502\)$/],
    ['speaks no HTTP', (client) => client.end('SSH-2.0\r\n\r\n'), 'unreachable', /HTTPS_PROXY\) failed \(HPE_INVALID_CONSTANT\)$/],
    ['closes the connection', (client) => client.end(), 'unreachable', /HTTPS_PROXY\) failed \(ECONNRESET\)$/],
    ['hangs', () => {}, 'unreachable', /^nobody answered within 0.15s$/],
  ])('that %s is asked once', async (_, answer, kind, reason) => {
    const proxy = await startProxy({ answer });
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const got = await send('https://api.test', { env, limitMs: shortMs });
    expect(got).toEqual(failed(kind, reason));
    expect(proxy.requests).toHaveLength(1);
  });

  test('that nobody runs is named without its password', async () => {
    const env = { all_proxy: 'http://user:secret@127.0.0.1:1' };
    const reason = /^the proxy 127.0.0.1:1 \(all_proxy\) refused the connection \(ECONNREFUSED\)$/;
    expect(await send('https://api.test', { env })).toEqual(failed('unreachable', reason));
  });

  const url = 'http://proxy.test:3128/';
  const except = (NO_PROXY: string) => ({ HTTPS_PROXY: url, no_proxy: '', NO_PROXY });
  test.each<[env: Record<string, string>, service: string, proxy: string | undefined]>([
    [{}, 'https://api.test', undefined],
    [{ HTTPS_PROXY: url }, 'https://api.test', url],
    [{ https_proxy: url, HTTPS_PROXY: 'http://other.test' }, 'https://api.test', url],
    [{ https_proxy: '', HTTPS_PROXY: ` ${url}\n` }, 'https://api.test', url],
    [{ HTTP_PROXY: url, http_proxy: url }, 'https://api.test', undefined],
    [{ ALL_PROXY: url }, 'https://api.test', url],
    [{ ALL_PROXY: 'http://b.test', HTTPS_PROXY: 'proxy.test:3128' }, 'https://api.test', url],
    [{ HTTPS_PROXY: '[::1]:3128' }, 'https://api.test', 'http://[::1]:3128/'],
    // Not even read for this machine.
    [{ HTTPS_PROXY: 'socks5://x' }, 'http://localhost:8080', undefined],
    [{ HTTPS_PROXY: 'socks5://x' }, 'https://a.localhost', undefined],
    [{ HTTPS_PROXY: 'socks5://x' }, 'https://127.0.0.9', undefined],
    [{ HTTPS_PROXY: 'socks5://x' }, 'http://[::1]', undefined],
    [except('*'), 'https://api.test', undefined],
    [except('API.test.'), 'https://api.test', undefined],
    [except('a.test, test'), 'https://api.test', undefined],
    [except('.api.test'), 'https://eu.api.test', undefined],
    [except('*.api.test'), 'https://eu.api.test', undefined],
    [except('api.test:443'), 'https://api.test', undefined],
    [except('api.test:8443'), 'https://api.test', url],
    [except('pi.test'), 'https://api.test', url],
    [except('192.0.2.0/24'), 'https://192.0.2.7', undefined],
    [except('192.0.2.0/24'), 'https://192.0.3.7', url],
    [except('192.0.2.0/'), 'https://192.0.3.7', url],
    [except('192.0.2.0/33'), 'https://192.0.2.7', url],
    [except('192.0.2.0/24'), 'https://api.test', url],
    [except('2001:db8::/32'), 'https://[2001:db8:1::2]', undefined],
    [except('[2001:db8::1]:443'), 'https://[2001:db8::1]', undefined],
    [except(''), 'https://api.test', url],
  ])('of %j for %s is %s', (env, service, proxy) => {
    expect(proxyFor(new URL(service), env)?.url.href).toBe(proxy);
  });

  test.each([
    'socks5://user:secret@proxy.test',
    'http://user:12#secret@proxy.test',
    'http://user:100%secret@proxy.test',
  ])('%s is wrong usage', (HTTPS_PROXY) => {
    const find = () => proxyFor(new URL('https://api.test'), { HTTPS_PROXY });
    const message = 'HTTPS_PROXY must be an HTTP proxy such as http://user:password@host:3128';
    expect(find).toThrow(new Problem(message));
  });
});
