import { createServer as createHttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { type CertificateOptions, createAuthority, createCertificate, daysFromNow } from './certificates.ts';
import { freePort, listen, startFaultyServer, wireAnswer } from './faulty-server.ts';
import { gzipBomb } from './gzip-bomb.ts';
import { type ProxyOptions, startProxy } from './proxies.ts';
import { executionId } from './scripted-service.ts';
import { trustedAuthority } from './trusted-authority.ts';

/** What a server does with a request that it has read. */
export type Misdeed = (socket: Socket) => void;

/** A place where nothing goes well: how to reach it, and how many requests it has seen (or connections, before any). */
export interface BadPlace {
  env: Record<string, string>;
  requests(): number | undefined;
}

const halfAnswer = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"status"';
const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
const mebibyte = 2 ** 20;
const bomb = gzipBomb(64);

/** Faults of a service that can be reached. */
export const misdeeds: Record<string, Misdeed> = {
  reset: (socket) => socket.resetAndDestroy(),
  close: (socket) => socket.destroy(),
  'hang before headers': () => {},
  'hang in body': (socket) => socket.write(halfAnswer),
  drip: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => clearInterval(timer));
  },
  truncation: (socket) => socket.end(halfAnswer),
  'early 100': (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
  '408': answer(408),
  '429': answer(429),
  '429, seconds': answer(429, '', 'retry-after: 60'),
  '429, date': (socket) => answer(429, '', `retry-after: ${inAnHour()}`)(socket),
  '429, past date': answer(429, '', 'retry-after: Sun, 06 Nov 1994 08:49:37 GMT'),
  '429, garbage': answer(429, '', 'retry-after: in a while'),
  '429, huge': answer(429, '', `retry-after: ${'9'.repeat(400)}`),
  '500': answer(500, '{"message":"oh"}'),
  '501': answer(501),
  '502 HTML': answer(502, '<html><title>Bad Gateway</title><body>nginx</body></html>'),
  '503': answer(503),
  '503, seconds': answer(503, '', 'retry-after: 60'),
  '504': answer(504),
  '200 HTML': answer(200, '<html><title>Sign in</title></html>', 'content-type: text/html'),
  'no body': answer(200),
  'wrong JSON': answer(200, '[{"ok":true}]'),
  'wrong types': answer(200, '{"executionId":7,"status":["RUNNING"]}'),
  'another run': answer(200, '{"executionId":"7d0c7a43-9d0f-4a1a-8f0e-a1b2c3d4e5f6","status":"COMPLETED"}'),
  'huge body': answer(200, `{"executionId":"${executionId}","status":"COMPLETED","x":"${'x'.repeat(2 * mebibyte)}"}`),
  'gzip bomb': (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
    socket.end(bomb);
  },
  'broken gzip': answer(200, 'not gzip at all', 'content-encoding: gzip'),
  // RFC 8446 §6: level fatal, protocol_version.
  'TLS alert': (socket) => socket.end(Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46])),
  redirect: answer(302, '', 'location: https://elsewhere.invalid/login'),
  'see other': answer(303, '', 'location: /v0/elsewhere'),
};

/** A whole answer, the connection closed after it. */
export function answer(status: number, body = '', header = 'x-nothing: more'): Misdeed {
  return (socket) => socket.end(wireAnswer(body, `HTTP/1.1 ${status} Some Reason\r\n${header}`));
}

const stranger = createAuthority('authority of nobody');

/** Faults on the way to the service. */
export const badWays: Record<string, () => Promise<BadPlace>> = {
  refused: async () => ({ env: at(`http://127.0.0.1:${await freePort()}`), requests: () => undefined }),
  unresolvable: async () => ({ env: at('https://no-such-host.invalid'), requests: () => undefined }),
  'TLS stall': async () => {
    const { port, received } = await startFaultyServer(() => {}, { atOnce: true });
    return { env: at(`https://127.0.0.1:${port}`), requests: () => received.length };
  },
  'expired certificate': () => tls({ issuer: trustedAuthority(), from: daysFromNow(-9), to: daysFromNow(-1) }),
  'certificate not yet valid': () => tls({ issuer: trustedAuthority(), from: daysFromNow(2) }),
  'certificate of another host': () => tls({ issuer: trustedAuthority(), hosts: ['other.test'] }),
  'self-signed certificate': () => tls({}),
  'unknown authority': () => tls({ issuer: stranger }),
  'https to an http port': async () => {
    const server = createHttpServer();
    const connections = countConnections(server);
    return { env: at(`https://127.0.0.1:${await listen(server)}`), requests: connections };
  },
  'http to an https port': async () => {
    const { env, requests } = await tls({ issuer: trustedAuthority() });
    return { env: { ...env, ...at(env.RUNCTL_BASE_URL?.replace('https:', 'http:') ?? '') }, requests };
  },
  'proxy hang': () => proxied({ hang: true }),
  'proxy 407': () => proxied({ credentials: 'user:proxy-password-1' }),
  'proxy 403': () => proxied({ refuse: 403 }),
  'proxy 502': () => proxied({ refuse: 502 }),
  'proxy refused': async () => {
    const { env } = await tls({ issuer: trustedAuthority() });
    return { env: { ...env, HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` }, requests: () => undefined };
  },
};

const at = (url: string) => ({ RUNCTL_BASE_URL: url });

/** A service that misbehaves. `does` is asked for each request. */
export async function startBadService(does: (head: string) => Misdeed): Promise<BadPlace> {
  const { origin, received } = await startFaultyServer((socket, text) => does(text)(socket));
  return { env: at(origin), requests: () => received.join('').match(/(GET|POST) \/v0\//g)?.length ?? 0 };
}

async function tls(options: CertificateOptions): Promise<BadPlace> {
  const server = createTlsServer(createCertificate(options), (_request, response) => void response.end('{}'));
  server.on('tlsClientError', () => {});
  const connections = countConnections(server);
  const port = await listen(server);
  return { env: at(`https://127.0.0.1:${port}`), requests: connections };
}

async function proxied(options: ProxyOptions): Promise<BadPlace> {
  const [{ env }, proxy] = await Promise.all([tls({ issuer: trustedAuthority() }), startProxy(options)]);
  const url = proxy.url.replace('//', '//user:proxy-password-2@');
  return { env: { ...env, HTTPS_PROXY: url }, requests: () => proxy.requests.length };
}

function countConnections(server: { on(event: 'connection', act: () => void): unknown }): () => number {
  let count = 0;
  server.on('connection', () => {
    count += 1;
  });
  return () => count;
}

/** As many at a time as keep two cores busy. */
export async function inModeration<T, U>(items: readonly T[], act: (item: T) => Promise<U>, atATime = 8): Promise<U[]> {
  const results: U[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await act(items[index] as T);
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}
