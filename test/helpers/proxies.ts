import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
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
  /** Speaks https with it. */
  certificate?: Certificate;
}

/** An HTTP proxy on loopback: forwards plain requests, tunnels by CONNECT. Whatever the host, it goes to loopback. */
export async function startProxy({
  credentials,
  refuse,
  hang,
  lateMs = 0,
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
    if (refused) return void client.end(`HTTP/1.1 ${refused} No\r\ncontent-length: 0\r\n\r\n`);
    if (hang) return;
    setTimeout(() => {
      const upstream = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('close', () => upstream.destroy());
    }, lateMs);
  });

  const port = await listen(server);
  return { port, url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`, requests };
}
