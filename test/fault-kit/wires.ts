import type { ServerResponse } from 'node:http';
import type { Reply } from '../../src/emulator/reply.ts';
import { sendWhole } from '../../src/emulator/server.ts';

/** How a reply is sent, or not. */
export type Wire = (response: ServerResponse, reply: Reply) => void;

export const reset: Wire = ({ socket }) => socket?.resetAndDestroy();

export const close: Wire = ({ socket }) => socket?.destroy();

export const hang: Wire = () => {};

/** The head and half of the body, and then nothing. */
export const hangBody: Wire = (response, reply) => void sendHead(response, reply).write(firstHalf(reply));

/** The head and half of the body, and then the end of the connection. */
export const truncate: Wire = (response, reply) =>
  void sendHead(response, reply).write(firstHalf(reply), () => response.socket?.end());

export const delay =
  (delayMs: number): Wire =>
  (response, reply) => {
    const timer = setTimeout(() => sendWhole(response, reply), delayMs);
    response.once('close', () => clearTimeout(timer));
  };

const sendHead = (response: ServerResponse, { status, headers, body }: Reply) =>
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });

const firstHalf = ({ body }: Reply) => body.slice(0, body.length / 2);
