import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Automations, type Reply, type ScenarioName, scenarios } from './scenarios.ts';
import { countsOf, createEmulatedService, respond, type ServiceResponse } from './service.ts';

export interface EmulatorOptions {
  /** `happy` by default. */
  scenario?: ScenarioName;
  /** Instead of a scenario's. */
  automations?: Automations;
  /** How much faster than `nowMs` the runs age; above 0. */
  speed?: number;
  /** Any free one by default. */
  port?: number;
  nowMs(): number;
  /** Called with a line about each request. */
  onRequest?(line: string): void;
}

export const emulatorApiKey = 'emulator-key';

/** Only this machine can reach the emulator. */
const host = '127.0.0.1';

/** Serves a local copy of the service. Rejects with the error of `listen`. */
export async function startEmulator({
  scenario = 'happy',
  automations = scenarios[scenario].automations,
  speed = 1,
  port = 0,
  nowMs,
  onRequest,
}: EmulatorOptions) {
  const service = createEmulatedService(automations, emulatorApiKey, speed);
  const server = createServer((incoming, outgoing) => {
    const atMs = nowMs();
    const { method = '', url = '', headers } = incoming;
    const { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey } = headers;
    const response = respond(service, { method, url, apiKey, idempotencyKey, atMs });
    onRequest?.(requestLine(incoming, response));
    if (response.isLost) incoming.socket.resetAndDestroy();
    else writeReply(outgoing, response.reply, atMs);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });

  return {
    /** Without a slash at its end. */
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    /** Every run, oldest first. */
    runs: () => service.runs,
    summary: () => countsOf(service, nowMs()),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function writeReply(
  outgoing: ServerResponse,
  { status, body, headers }: Reply,
  atMs: number,
): void {
  const isPage = typeof body === 'string';
  const type = isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
  const date = new Date(atMs).toUTCString();
  outgoing.writeHead(status, { 'content-type': type, date, ...headers });
  outgoing.end(isPage ? body : JSON.stringify(body));
}

/** Such as `POST /v0/automation/00000000…/nightly/trigger 201 RUNNING a5663ff0 (response lost)`. */
function requestLine(
  { method, url = '' }: IncomingMessage,
  { reply, isLost }: ServiceResponse,
): string {
  const { body } = reply;
  const { status, code, executionId } = typeof body === 'string' ? { status: 'HTML page' } : body;
  const shortUrl = url.replace(/(?<=\/[\da-f]{8})(-[\da-f]{4}){3}-[\da-f]{12}/gi, '…');
  const newId = method === 'POST' && `${executionId ?? ''}`.slice(0, 8);
  const facts = [method, shortUrl, reply.status, status ?? code, newId];
  return [...facts, isLost && '(response lost)'].filter(Boolean).join(' ');
}
