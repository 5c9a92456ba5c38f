import type { Socket } from 'node:net';
import { statusPath } from '../../src/service/endpoints.ts';
import { type FaultyService, startFaultyServer, wireAnswer } from './faulty-server.ts';
import { gzipBomb } from './gzip-bomb.ts';
import { executionId, run } from './scripted-service.ts';

/** What a server does with a request that it has read. */
export type ServerFault = (socket: Socket) => void;

const halfAnswer = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"status"';
const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
const mebibyte = 2 ** 20;
/** More of these than a result may have. */
const oneMebibyte = Buffer.alloc(mebibyte, 'x');
const bomb = gzipBomb(65);

/** Faults of a service that can be reached. */
export const serverFaults: Record<string, ServerFault> = {
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
  'huge body': (socket) => {
    const start = `{"executionId":"${executionId}","status":"COMPLETED","x":"`;
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${start.length + 65 * mebibyte + 2}\r\n\r\n${start}`);
    for (let written = 0; written < 65; written++) socket.write(oneMebibyte);
    socket.end('"}');
  },
  'gzip bomb': (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
    socket.end(bomb);
  },
  'broken gzip': answer(200, 'not gzip at all', 'content-encoding: gzip'),
  // RFC 8446 §6: level fatal, protocol_version.
  'TLS alert': (socket) => socket.end(Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46])),
  redirect: answer(302, '', 'location: https://elsewhere.invalid/login'),
  'redirect to a run': answer(302, '', `location: ${statusPath(run)}`),
  'see other': answer(303, '', 'location: /v0/elsewhere'),
};

/** A whole answer, the connection closed after it. */
export function answer(status: number, body = '', header = 'x-nothing: more'): ServerFault {
  return (socket) => socket.end(wireAnswer(body, `HTTP/1.1 ${status} Some Reason\r\n${header}`));
}

/** A service that answers each request with a fault, which is chosen by the head of the request. */
export async function startFaultyService(faultOf: (head: string) => ServerFault): Promise<FaultyService> {
  const { origin, received } = await startFaultyServer((socket, text) => faultOf(text)(socket));
  return {
    env: { RUNCTL_BASE_URL: origin },
    requests: () => received.join('').match(/(GET|POST) \/v0\//g)?.length ?? 0,
  };
}
