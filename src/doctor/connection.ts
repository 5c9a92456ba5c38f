import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { faultOf } from '../api/network-fault.ts';
import { type ProxySettings, proxyFor } from '../api/proxy.ts';
import { ProxyFailure, proxyNameOf } from '../api/proxy-fault.ts';
import { requireBaseUrl, requireRequestTimeoutMs } from '../config/settings.ts';
import { exitNameOf } from '../problems/fault-facts.ts';
import { Problem } from '../problems/problem.ts';
import { interruptedProblem } from '../problems/watch-problems.ts';
import type { Fault } from '../runs/fault.ts';
import { onAbort } from '../runs/on-abort.ts';
import { type Finding, type Machine, ok } from './finding.ts';

/** From the name of the host to its certificate, on a connection that carries no request of ours to the service. */
export async function* checkConnection({ settings, context }: Machine): AsyncGenerator<Finding> {
  if (!settings) return;
  const url = new URL(requireBaseUrl(settings));
  const timeoutMs = requireRequestTimeoutMs(settings);
  const proxy = proxyFor(url.origin, context.env);
  yield ok('proxy', proxy ? proxyNameOf(proxy) : 'none for this base URL');

  const first = proxy ? new URL(proxy.origin) : url;
  const host = first.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = portOf(first);
  const attempt = { host: url.host, isPlain: url.protocol === 'http:', proxy, timeoutMs };
  const faulty = (error: unknown) => {
    const ofProxy = proxy && !(error instanceof ProxyFailure) && !isTunnelled ? new ProxyFailure(error) : error;
    const reason = error instanceof Deadline ? 'deadline' : 'network';
    return problemOf(faultOf({ sent: false, reason, error: ofProxy }, attempt));
  };
  let isTunnelled = false;
  let socket: Socket | undefined;
  const step = <T>(work: Promise<T>) =>
    bounded(work, timeoutMs, context.signal).catch((error) => {
      throw error instanceof Problem ? error : faulty(error);
    });
  try {
    const addresses = await step(lookup(host, { all: true }));
    const found = addresses.map(({ address }) => address).join(', ');
    yield ok('dns', isIP(host) ? `${host} is an address` : `${host} is ${found}`);

    socket = connectTcp({ host, port });
    await step(opened(socket, 'connect'));
    if (proxy) socket = await step(openTunnel(socket, proxy, url));
    isTunnelled = true;
    yield ok('connection', proxy ? `${url.host}, through the proxy` : `${socket.remoteAddress}, port ${port}`);

    if (url.protocol === 'http:') return yield ok('tls', 'not used: plain http, which is for this machine alone');
    const secure = connectTls({ socket, host: url.hostname, ...serverNameOf(url), rejectUnauthorized: false });
    socket = secure;
    await step(opened(secure, 'secureConnect'));
    yield tlsFinding(secure, faulty);
  } finally {
    socket?.destroy();
  }
}

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));

const serverNameOf = ({ hostname }: URL) => (isIP(hostname.replace(/[[\]]/g, '')) ? {} : { servername: hostname });

/** Only looked at: it was taken whatever it is, so that who signed it can be said, and nothing is sent on it. */
function tlsFinding(socket: TLSSocket, faulty: (error: unknown) => Problem): Finding {
  const { subject, issuer, valid_to: end } = socket.getPeerCertificate();
  const signer = [issuer?.O, issuer?.CN].filter(Boolean).join(', ') || 'nobody';
  if (socket.authorized) {
    return ok('tls', `certificate of ${subject?.CN ?? 'the host'}, signed by ${signer}, valid until ${dayOf(end)}`);
  }
  // Typed as an error, it is a code.
  const code = String(socket.authorizationError);
  const problem = faulty(Object.assign(new Error(code), { code }));
  throw problem.with({ message: `${problem.message}; it is signed by ${signer}, valid until ${dayOf(end)}` });
}

const dayOf = (time: string) => new Date(time).toISOString().slice(0, 10);

/** Asks the proxy for a way to the service. Throws `ProxyFailure` where it refuses. */
async function openTunnel(socket: Socket, { origin, credentials }: ProxySettings, url: URL): Promise<Socket> {
  const { request } = await import('node:http');
  const isSecure = origin.startsWith('https:');
  const way = isSecure ? connectTls({ socket, ...serverNameOf(new URL(origin)) }) : socket;
  if (isSecure) await opened(way, 'secureConnect');
  const target = `${url.hostname}:${portOf(url)}`;
  const authorization = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const asked = request({
    createConnection: () => way,
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...(authorization && { 'proxy-authorization': authorization }) },
  }).end();
  return new Promise((resolve, reject) => {
    asked.on('error', (error) => reject(new ProxyFailure(error)));
    asked.on('connect', ({ statusCode = 0 }) => {
      if (statusCode >= 200 && statusCode < 300) resolve(way);
      // As undici says it.
      else reject(new ProxyFailure(new Error(`Proxy response (${statusCode})`)));
    });
  });
}

const opened = (socket: Socket, event: 'connect' | 'secureConnect') =>
  new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    socket.on('error', reject);
  });

class Deadline extends Error {}

/** Throws `Deadline` after this time, and the interrupted problem when the user interrupts. */
async function bounded<T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  let forget = () => {};
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Deadline()), timeoutMs);
    forget = onAbort(signal, () => reject(interruptedProblem(signal)));
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

const problemOf = (fault: Fault) =>
  new Problem({
    name: exitNameOf(fault),
    message: fault.message,
    hint: fault.hint ?? 'check the base URL and the network',
  });
