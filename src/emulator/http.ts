import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopback } from '../loopback.ts';
import type { EmulatedResponse } from './faults.ts';
import type { Reply } from './reply.ts';
import type { ServiceRequest } from './request.ts';

const mostBodyBytes = 2 ** 20;

/** Is it for this machine? A web page whose name leads here (DNS rebinding) sends that name in its `Host`. */
export function isForLoopback({ headers }: IncomingMessage): boolean {
  const url = `http://${headers.host}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

/** The whole request; undefined if the caller left in the middle of it, or sends more than anybody would. */
export async function readRequest(incoming: IncomingMessage): Promise<ServiceRequest | undefined> {
  const { method = '', url = '' } = incoming;
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, value?.toString()]);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Any page in a browser on this machine may send to it.
      if (bytes > mostBodyBytes) return undefined;
    }
  } catch {
    return undefined;
  }
  return { method, url, headers: Object.fromEntries(headers), body: Buffer.concat(chunks).toString() };
}

const longestTimerMs = 2 ** 31 - 1;

/** Sends a response, or breaks it on its way. */
export function sendResponse(response: ServerResponse, planned: EmulatedResponse, date: Date): void {
  const { wire, reply, delayMs = 0 } = planned;
  if (wire === 'reset') response.socket?.resetAndDestroy();
  else if (wire === 'close') response.socket?.destroy();
  else if (!reply || response.destroyed) return;
  else if (delayMs === 0) send(response, reply, planned, date);
  else {
    const timer = setTimeout(() => send(response, reply, planned, date), Math.min(delayMs, longestTimerMs));
    response.once('close', () => clearTimeout(timer));
  }
}

function send(response: ServerResponse, reply: Reply, { wire, gapMs = 0 }: EmulatedResponse, date: Date): void {
  const { status, headers, body } = reply;
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
