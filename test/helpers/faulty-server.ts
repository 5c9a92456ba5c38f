import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server on raw sockets: what it does with a connection is the test's business. */
export interface FaultyServer {
  port: number;
  origin: string;
  /** What each connection has sent so far, in the order of their opening. */
  readonly received: string[];
}

/** A service that fails: the settings that reach it, and how many requests it has seen (or connections, before any). */
export interface FaultyService {
  env: Record<string, string>;
  requests(): number | undefined;
}

/** `act` is called once a connection has sent a whole head and body (or, with `atOnce`, when it opens). */
export async function startFaultyServer(
  act: (socket: Socket, head: string) => void,
  { atOnce = false } = {},
): Promise<FaultyServer> {
  const received: string[] = [];
  const server = createServer((socket) => {
    const index = received.push('') - 1;
    socket.on('error', () => {});
    if (atOnce) act(socket, '');
    socket.on('data', (chunk) => {
      received[index] += chunk.toString('latin1');
      const text = received[index] ?? '';
      const isWhole = text.endsWith('{}') || (text.endsWith('\r\n\r\n') && !/\r\ncontent-length: 2\r\n/.test(text));
      if (!atOnce && isWhole) act(socket, text);
    });
  });
  const port = await listen(server);
  return { port, origin: `http://127.0.0.1:${port}`, received };
}

/** Listens on a free port of loopback until the test is over, and then ends every connection. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** A port at which nothing listens, nor is likely to: below those that Linux gives to the next server which asks for any. */
export async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return false;
    },
  );
  if (!isFree) return freePort();
  server.close();
  await once(server, 'close');
  return port;
}

/** A whole answer as it stands on the wire. */
export function wireAnswer(body: string, head = 'HTTP/1.1 200 OK'): string {
  return `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export interface StalledServer {
  port: number;
  /** Lets it accept again. */
  resume(): void;
  /** What it was sent by then. */
  received(): string;
}

const stalled = `
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      process.stdout.write(chunk);
      socket.write('HTTP/1.1 204 No Content\\r\\n\\r\\n');
    });
  });
  server.listen(0, '127.0.0.1', 1, () => process.stdout.write(server.address().port + '\\n'));
`;

/**
 * A server whose queue of connections is full: its process is stopped, so the next connection is neither accepted nor
 * refused. Linux drops the SYN and sends it again after a second; elsewhere nothing of this is sure.
 */
export async function startStalledServer(): Promise<StalledServer> {
  const child = spawn(process.execPath, ['-e', stalled], { stdio: ['ignore', 'pipe', 'inherit'] });
  const fillers: Socket[] = [];
  onTestFinished(() => {
    child.kill('SIGKILL');
    for (const filler of fillers) filler.destroy();
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child.stdout, 'data');
  const port = Number(output.trim());
  output = '';
  child.kill('SIGSTOP');
  for (let n = 0; n < 8; n++) fillers.push(createConnection(port, '127.0.0.1').on('error', () => {}));
  return { port, resume: () => child.kill('SIGCONT'), received: () => output };
}
