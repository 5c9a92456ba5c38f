import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopback } from '../loopback.ts';
import type { EmulatedResponse } from './faults.ts';
import type { Reply } from './reply.ts';
import type { ServiceRequest } from './request.ts';

const mostBodyBytes = 2 ** 20;

/** Does the `Host` name this machine? A web page that attacks by DNS rebinding sends its own name. */
export function isForLoopback({ headers }: IncomingMessage): boolean {
  const url = `http://${headers.host}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

/** Reads a whole request; undefined if the caller left in the middle of it, or sends too much. */
export async function readRequest(incoming: IncomingMessage): Promise<ServiceRequest | undefined> {
  const { method = '', url = '' } = incoming;
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, value?.toString()]);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Any page in a browser on this machine may send requests.
      if (bytes > mostBodyBytes) return undefined;
    }
  } catch {
    return undefined;
  }
  return { method, url, headers: Object.fromEntries(headers), body: Buffer.concat(chunks).toString() };
}

const longestTimerMs = 2 ** 31 - 1;

export function sendResponse(response: ServerResponse, planned: EmulatedResponse, date: Date): void {
  const { wire, reply, delayMs = 0, gapMs = 0 } = planned;
  if (wire === 'reset') response.socket?.resetAndDestroy();
  else if (wire === 'close') response.socket?.destroy();
  else if (wire !== 'hang' && reply && !response.destroyed) {
    const send = () => bodySenders[wire](response, sendHead(response, reply, date), gapMs);
    if (delayMs === 0) send();
    else {
      const timer = setTimeout(send, Math.min(delayMs, longestTimerMs));
      response.once('close', () => clearTimeout(timer));
    }
  }
}

function sendHead(response: ServerResponse, { status, headers, body }: Reply, date: Date): Buffer {
  // RFC 9110 §8.6: 204 and 304 have neither a body nor its length, whatever the scenario says.
  const hasBody = status !== 204 && status !== 304;
  const bytes = Buffer.from(hasBody ? body : '');
  const length = hasBody && { 'content-length': bytes.length };
  response.writeHead(status, { ...headers, ...length, date: date.toUTCString() });
  return bytes;
}

type BodyWire = Exclude<EmulatedResponse['wire'], 'reset' | 'close' | 'hang'>;

const bodySenders: Record<BodyWire, (response: ServerResponse, bytes: Buffer, gapMs: number) => void> = {
  whole: (response, bytes) => response.end(bytes),
  hangBody: (response, bytes) => response.write(firstHalf(bytes)),
  truncate: (response, bytes) => response.write(firstHalf(bytes), () => response.socket?.end()),
  drip(response, bytes, gapMs) {
    let sent = 0;
    const sendNext = () => (sent < bytes.length ? response.write(bytes.subarray(sent, ++sent)) : response.end());
    const timer = setInterval(sendNext, Math.min(gapMs, longestTimerMs));
    response.once('close', () => clearInterval(timer));
  },
};

const firstHalf = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);
