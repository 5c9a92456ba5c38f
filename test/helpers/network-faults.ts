import { createServer as createHttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type CertificateOptions, createAuthority, createCertificate, daysFromNow } from './certificates.ts';
import { type FaultyService, freePort, listen, startFaultyServer } from './faulty-server.ts';
import { type ProxyOptions, startProxy } from './proxies.ts';
import { trustedAuthority } from './trusted-authority.ts';

const stranger = createAuthority('authority of nobody');

/** Faults on the way to the service. */
export const networkFaults: Record<string, () => Promise<FaultyService>> = {
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
    const proxy = `http://127.0.0.1:${await freePort()}`;
    return { env: { ...at(beyondProxy), HTTPS_PROXY: proxy }, requests: () => undefined };
  },
};

const at = (url: string) => ({ RUNCTL_BASE_URL: url });

// Loopback would not be reached through a proxy.
const beyondProxy = 'https://service.test';

async function tls(options: CertificateOptions): Promise<FaultyService> {
  const server = createTlsServer(createCertificate(options), (_request, response) => void response.end('{}'));
  server.on('tlsClientError', () => {});
  const connections = countConnections(server);
  const port = await listen(server);
  return { env: at(`https://127.0.0.1:${port}`), requests: connections };
}

async function proxied(options: ProxyOptions): Promise<FaultyService> {
  const proxy = await startProxy(options);
  const url = proxy.url.replace('//', '//user:proxy-password-2@');
  return { env: { ...at(beyondProxy), HTTPS_PROXY: url }, requests: () => proxy.requests.length };
}

function countConnections(server: { on(event: 'connection', act: () => void): unknown }): () => number {
  let count = 0;
  server.on('connection', () => {
    count += 1;
  });
  return () => count;
}
