import type { ServerResponse } from 'node:http';
import type { Delivery } from './emulation.ts';
import type { Reply } from './reply.ts';

const longestTimerMs = 2 ** 31 - 1;

/** Puts a delivery on the wire, or breaks it there. */
export function deliver(response: ServerResponse, delivery: Delivery, date: Date): void {
  const { wire, reply, delayMs } = delivery;
  if (wire === 'reset') response.socket?.resetAndDestroy();
  else if (wire === 'close') response.socket?.destroy();
  else if (!reply || response.destroyed) return;
  else if (delayMs === 0) send(response, reply, delivery, date);
  else {
    const timer = setTimeout(() => send(response, reply, delivery, date), Math.min(delayMs, longestTimerMs));
    response.once('close', () => clearTimeout(timer));
  }
}

function send(response: ServerResponse, { status, headers, body }: Reply, { wire, gapMs }: Delivery, date: Date): void {
  // RFC 9110 §8.6: these carry neither a body nor its length, whatever the scenario says.
  const hasBody = status !== 204 && status !== 304;
  const bytes = Buffer.from(hasBody ? body : '');
  const length = hasBody && { 'content-length': bytes.length };
  response.writeHead(status, { ...headers, ...length, date: date.toUTCString() });
  if (wire === 'whole') response.end(bytes);
  else if (wire === 'drip') drip(response, bytes, gapMs);
  else response.write(bytes.subarray(0, bytes.length / 2), () => wire === 'truncate' && response.socket?.end());
}

function drip(response: ServerResponse, bytes: Buffer, gapMs: number): void {
  let sent = 0;
  const timer = setInterval(
    () => {
      if (sent < bytes.length) response.write(bytes.subarray(sent, ++sent));
      else response.end();
    },
    Math.min(gapMs, longestTimerMs),
  );
  response.once('close', () => clearInterval(timer));
}
