import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { usageProblem } from '../run/problem.ts';
import { isLoopback } from '../system/loopback.ts';
import { executionIdIn, type Reply, refusalReply, refusals } from './reply.ts';
import { type Route, routeOf, type ServiceRequest } from './request.ts';
import { statusAt } from './run.ts';
import type { EmulatedResponse, EmulatedService } from './service.ts';
import { createSummary } from './summary.ts';

export interface EmulatorOptions {
  service: EmulatedService;
  /** By default any free port. */
  port?: number;
  /** Seconds of the emulator's clock in a real second; above 0. */
  speed?: number;
  nowMs(): number;
  onRequest?(line: string): void;
}

/** Only this machine can reach the emulator. */
const host = '127.0.0.1';
const maxBodyBytes = 2 ** 20;

/** Serves a service over HTTP. Throws a usage problem for a port that is in use. */
export async function startEmulator({
  service,
  port = 0,
  speed = 1,
  nowMs,
  onRequest,
}: EmulatorOptions) {
  const startedMs = nowMs();
  const emulatedMs = () => startedMs + (nowMs() - startedMs) * speed;
  const summary = createSummary();

  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    if (!request) return void response.destroy();
    const now = { realMs: nowMs(), emulatedMs: emulatedMs() };
    const planned = isForLoopback(incoming) ? service.respond(request, now) : misdirected;
    const route = routeOf(request);
    onRequest?.(requestLineOf(request, route, planned));
    const recordSent = summary.recordRequest(route, planned.reply);
    response.once('close', () => response.writableFinished && recordSent());
    response.setHeader('date', new Date(now.realMs).toUTCString());
    const { send = sendWhole } = planned;
    send(response, planned.reply);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(port, error)));
    server.listen({ host, port }, resolve);
  });
  const { port: boundPort } = server.address() as AddressInfo;
  const runs = () => service.runs().map((run) => ({ ...run, status: statusAt(run, emulatedMs()) }));

  return {
    /** The base URL, without a slash at its end. */
    url: `http://${host}:${boundPort}`,
    /** Every run as it is now, oldest first. */
    runs,
    /** What it has seen, in one line. */
    summary: () =>
      summary.line(
        runs().flatMap(({ executionId, status }) => (status === 'RUNNING' ? [] : executionId)),
      ),
    /** Stops the server, and closes connections that hang. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const misdirected: EmulatedResponse = { reply: refusalReply(refusals.notLoopback) };

/**
 * Whether the `Host` names this machine. A web page that attacks by DNS rebinding sends its own
 * name.
 */
function isForLoopback({ headers }: IncomingMessage): boolean {
  const url = `http://${headers.host}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

/**
 * Reads a complete request. Undefined if the client disconnects before its end, or sends too much.
 */
async function readRequest(incoming: IncomingMessage): Promise<ServiceRequest | undefined> {
  const { method = '', url = '' } = incoming;
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    value?.toString(),
  ]);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Any page in a browser on this machine may send requests.
      if (bytes > maxBodyBytes) return undefined;
    }
  } catch {
    return undefined;
  }
  return {
    method,
    url,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks).toString(),
  };
}

/** Sends a complete reply, with its length. */
export function sendWhole(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** The line for a request, such as `trigger nightly: 201 RUNNING a5663ff0`. */
function requestLineOf(
  { method, url }: ServiceRequest,
  route: Route,
  { reply, failure }: EmulatedResponse,
): string {
  const subject =
    route.kind === 'none' ? `${method} ${url}` : `${route.kind} ${route.target.automationName}`;
  // The status of the run, or the code of the error.
  const [, word] = /"(?:status|code)":"(\w+)"/.exec(reply.body) ?? [];
  const facts = [reply.status, word, executionIdIn(reply)?.slice(0, 8), failure && `(${failure})`];
  return `${subject}: ${facts.filter(Boolean).join(' ')}`;
}

function cannotListen(port: number, { code, message }: NodeJS.ErrnoException) {
  const reason = code === 'EADDRINUSE' ? 'it is in use' : (code ?? message);
  return usageProblem(
    `the emulator can't listen on port ${port} of ${host}: ${reason}`,
    'choose another port, or 0 for any free one',
  );
}
