import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Certificate } from './certificates.ts';
import { listen } from './faulty-server.ts';

export interface Proxy {
  port: number;
  url: string;
  /** `CONNECT host:port`, `GET http://host/path`, … with the headers that came along. */
  readonly requests: { line: string; headers: IncomingMessage['headers'] }[];
}

export interface ProxyOptions {
  /** `user:password`; without it nobody is asked. */
  credentials?: string;
  /** Answers every request with this status. */
  refuse?: number;
  /** Never answers a CONNECT. */
  hang?: boolean;
  /** Answers a CONNECT so much later. */
  lateMs?: number;
  /** Values of `Proxy-Authenticate`. */
  challenges?: string[];
  /** Bytes of the headers of its answers to CONNECT. */
  headerBytes?: number;
  /** Speaks https with it. */
  certificate?: Certificate & TlsOptions;
}

/** An HTTP proxy on loopback: forwards plain requests, tunnels by CONNECT. Whatever the host, it goes to loopback. */
export async function startProxy({
  credentials,
  refuse,
  hang,
  lateMs = 0,
  challenges = [],
  headerBytes = 0,
  certificate,
}: ProxyOptions = {}): Promise<Proxy> {
  const requests: Proxy['requests'] = [];
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;

  /** The status to refuse a request with, if it is not served. */
  const judge = ({ method, url, headers }: IncomingMessage) => {
    requests.push({ line: `${method} ${url}`, headers });
    if (wanted && headers['proxy-authorization'] !== wanted) return 407;
    return refuse;
  };

  const server = certificate ? createTlsServer(certificate) : createServer();
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    const refused = judge(incoming);
    if (refused) return void response.writeHead(refused).end('the proxy says no');
    const { method, headers, url = '' } = incoming;
    const { port, pathname } = new URL(url);
    const onward = request({ host: '127.0.0.1', port, path: pathname, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });

  server.on('connect', (incoming, client: Socket) => {
    client.on('error', () => {});
    const refused = judge(incoming);
    const wanted = challenges.map((challenge) => `proxy-authenticate: ${challenge}\r\n`).join('');
    if (refused) return void client.end(`HTTP/1.1 ${refused} No\r\n${wanted}content-length: 0\r\n\r\n`);
    if (hang) return;
    setTimeout(() => {
      const upstream = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
        client.write(`HTTP/1.1 200 Connection established\r\nx: ${'y'.repeat(headerBytes)}\r\n\r\n`);
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('close', () => upstream.destroy());
    }, lateMs);
  });

  const port = await listen(server);
  return { port, url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`, requests };
}

export interface SocksProxy {
  url: string;
  /** `host:port` of each connection that was asked for. */
  readonly targets: string[];
}

/**
 * A SOCKS5 proxy on loopback (RFC 1928, RFC 1929) for names and IPv4 addresses. Whatever the host, it goes to loopback.
 * `reply` is what it answers to a connection instead; with `hang`, it answers nothing.
 */
export async function startSocksProxy({
  credentials,
  reply = 0,
  hang,
}: {
  credentials?: string;
  reply?: number;
  hang?: boolean;
} = {}): Promise<SocksProxy> {
  const targets: string[] = [];
  const server = createTcpServer((client) => {
    client.on('error', () => {});
    const method = credentials === undefined ? 0 : 2;
    const steps = [
      (greeting: Buffer) => {
        const isOffered = greeting.subarray(2).includes(method);
        client.write(Buffer.from([5, isOffered ? method : 0xff]));
        if (method === 0) steps.shift();
      },
      (login: Buffer) => {
        const [userLength = 0] = login.subarray(1);
        const user = login.subarray(2, 2 + userLength).toString();
        const password = login.subarray(3 + userLength).toString();
        const isKnown = !user.includes(':') && `${user}:${password}` === credentials;
        client.write(Buffer.from([1, isKnown ? 0 : 1]));
      },
      (request: Buffer) => {
        const isName = request[3] === 3;
        const host = isName ? request.subarray(5, -2).toString() : request.subarray(4, -2).join('.');
        const port = request.readUInt16BE(request.length - 2);
        targets.push(`${host}:${port}`);
        const answer = Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
        if (reply !== 0) return void client.end(answer);
        client.removeAllListeners('data');
        const upstream = connect(port, '127.0.0.1', () => {
          client.write(answer);
          upstream.pipe(client).pipe(upstream);
        });
        upstream.on('error', () => client.destroy());
        client.on('close', () => upstream.destroy());
      },
    ];
    client.on('data', (chunk) => !hang && steps.shift()?.(chunk));
  });
  return { url: `socks5://127.0.0.1:${await listen(server)}`, targets };
}
