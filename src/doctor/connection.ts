import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { causesOf } from '../api/exchange.ts';
import { type Attempt, faultOf } from '../api/network-fault.ts';
import { ProxyFailure, type ProxySettings, proxyFor, proxyNameOf } from '../api/proxy.ts';
import { requireBaseUrl, requireRequestTimeoutMs } from '../config/settings.ts';
import { exitNameOf } from '../problems/fault-facts.ts';
import { Problem } from '../problems/problem.ts';
import { interruptedProblem } from '../problems/watch-problems.ts';
import { onAbort } from '../runs/on-abort.ts';
import { type Finding, type Machine, ok } from './finding.ts';

/** Checks each step from the name of the host to its certificate, without sending the service a request. */
export async function* checkConnection({ settings, context }: Machine): AsyncGenerator<Finding> {
  if (!settings) return;
  const url = new URL(requireBaseUrl(settings));
  const timeoutMs = requireRequestTimeoutMs(settings);
  const proxy = proxyFor(url.origin, context.env);
  yield ok('proxy', proxy ? proxyNameOf(proxy) : 'none for this base URL');

  const first = proxy ? new URL(proxy.origin) : url;
  const host = bareHost(first);
  const port = portOf(first);
  const attempt = { host: url.host, proxy, timeoutMs };
  const step = <T>(work: Promise<T>, isOfProxy = false) =>
    bounded(work, timeoutMs, context.signal).catch((error) => {
      throw error instanceof Problem ? error : problemOf(isOfProxy ? new ProxyFailure(error) : error, attempt);
    });
  const hasProxy = proxy !== undefined;
  let socket: Socket | undefined;
  try {
    const addresses = await step(lookup(host, { all: true }), hasProxy);
    const found = addresses.map(({ address }) => address).join(', ');
    yield ok('dns', isIP(host) ? `not needed: ${host} is an IP address` : `${host} is ${found}`);

    socket = connectTcp({ host, port });
    await step(opened(socket, 'connect'), hasProxy);
    if (proxy) socket = await step(openTunnel(socket, proxy, url), hasProxy);
    yield ok('connection', proxy ? `${url.host}, through the proxy` : `${socket.remoteAddress}, port ${port}`);

    if (url.protocol === 'http:') return yield ok('tls', 'not used: plain HTTP (allowed for localhost only)');
    // Accept any certificate, to report who signed it. Nothing is sent on this connection.
    const secure = connectTls({ socket, ...namesOf(url), rejectUnauthorized: false });
    socket = secure;
    await step(opened(secure, 'secureConnect'));
    yield tlsFinding(secure, attempt);
  } finally {
    socket?.destroy();
  }
}

const bareHost = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));

/** The name that the certificate must have; SNI takes no addresses (RFC 6066 §3). */
function namesOf(url: URL): { host: string; servername?: string } {
  const host = bareHost(url);
  return isIP(host) ? { host } : { host, servername: host };
}

function tlsFinding(socket: TLSSocket, attempt: Attempt): Finding {
  const { subject, issuer, valid_to: end } = socket.getPeerCertificate();
  const signer = [issuer?.O, issuer?.CN].filter(Boolean).join(', ') || 'nobody';
  if (socket.authorized) {
    return ok('tls', `certificate of ${subject?.CN ?? 'the host'}, signed by ${signer}, valid until ${dayOf(end)}`);
  }
  // Node's types call this an error, but it is an error code.
  const code = String(socket.authorizationError);
  const problem = problemOf(Object.assign(new Error(code), { code }), attempt);
  throw problem.with({ message: `${problem.message}; it is signed by ${signer}, valid until ${dayOf(end)}` });
}

const dayOf = (time: string) => new Date(time).toISOString().slice(0, 10);

/** Asks the proxy for a tunnel to the service. Throws `ProxyFailure` if it refuses. */
async function openTunnel(socket: Socket, { origin, credentials }: ProxySettings, url: URL): Promise<Socket> {
  const { request } = await import('node:http');
  const isSecure = origin.startsWith('https:');
  const way = isSecure ? connectTls({ socket, ...namesOf(new URL(origin)) }) : socket;
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
      else reject(new ProxyFailure(new Error(`Proxy response (${statusCode})`)));
    });
  });
}

const opened = (socket: Socket, event: 'connect' | 'secureConnect') =>
  new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    socket.on('error', reject);
  });

const deadline = 'timed out';

async function bounded<T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  let forget = () => {};
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(deadline)), timeoutMs);
    forget = onAbort(signal, () => reject(interruptedProblem(signal)));
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

function problemOf(error: unknown, attempt: Attempt): Problem {
  const reason = causesOf(error).some(({ message }) => message === deadline) ? 'deadline' : 'network';
  const fault = faultOf({ sent: false, reason, error }, attempt);
  const hint = fault.hint ?? 'check the base URL and the network';
  return new Problem({ name: exitNameOf(fault), message: fault.message, hint });
}
