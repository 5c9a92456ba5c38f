import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { usageProblem } from '../problems/problem.ts';
import { nameOf } from '../runs/run.ts';
import { statusAt } from './emulated-run.ts';
import { createEmulatedService } from './emulated-service.ts';
import { createFaultInjector, type EmulatedResponse } from './faults.ts';
import { isForLoopback, readRequest, sendResponse } from './http.ts';
import type { createReport } from './rehearsal-report.ts';
import { errorReply, type Reply, refusals } from './reply.ts';
import { routeOf, type ServiceRequest } from './request.ts';
import { checkScenario, type Scenario } from './scenario.ts';

export interface EmulatorOptions {
  scenario: Scenario;
  port?: number;
  apiKey?: string;
  projectId?: string; // printed as a setting; any UUID is accepted as a project
  nowMs?(): number;
  speed?: number; // seconds of the emulator's clock in a real second; above 0
  random?(): number;
  onRequest?(line: string): void;
  report?: Report; // is told of every request
  keepsRequests?: boolean; // fills `requests`; not by default, as an emulator may run for months
}

type Report = Pick<ReturnType<typeof createReport>, 'add'>;

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

interface RecordedRequest extends ServiceRequest {
  atMs: number;
  status?: number;
  fault?: EmulatedResponse['fault'];
}

const misdirected: EmulatedResponse = { reply: errorReply('flat', refusals.notLoopback), wire: 'whole' };

/** Only this machine can reach the emulator. */
const host = '127.0.0.1';

/** Starts an emulator. Throws a usage problem for an invalid scenario, and for a port that is in use. */
export async function startEmulator(options: EmulatorOptions) {
  const { port = 0, apiKey = 'emulator-key', speed = 1 } = options;
  const { nowMs = Date.now, random = Math.random, onRequest, report, keepsRequests } = options;
  const scenario = checkScenario(options.scenario, 'scenario');
  const startedMs = nowMs();
  const emulatedMs = () => startedMs + (nowMs() - startedMs) * speed;
  const service = createEmulatedService(scenario, apiKey);
  const respond = createFaultInjector(service, scenario, random);
  const requests: RecordedRequest[] = [];

  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    if (!request) return void response.destroy();
    const now = { realMs: nowMs(), emulatedMs: emulatedMs() };
    const latestRun = service.latestRun();
    const planned = isForLoopback(incoming) ? respond(request, now) : misdirected;
    const startedRun = service.latestRun() === latestRun ? undefined : service.latestRun();
    const { fault, reply } = planned;
    if (keepsRequests) requests.push({ ...request, atMs: now.realMs, status: reply?.status, fault });
    onRequest?.(lineOf(request, planned));
    if (report) onceSent(response, planned, report.add(request, startedRun));
    sendResponse(response, planned, new Date(now.realMs));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(port, error)));
    server.listen({ host, port }, resolve);
  });
  const { port: boundPort } = server.address() as AddressInfo;

  return {
    /** The base URL, without a slash at its end. */
    url: `http://${host}:${boundPort}`,
    port: boundPort,
    apiKey,
    projectId: options.projectId ?? '00000000-0000-4000-8000-000000000001',
    requests: requests as readonly RecordedRequest[],
    /** Every run as it is now, oldest first. */
    runs: () => service.runs().map((run) => ({ ...run, status: statusAt(run, emulatedMs()) })),
    /** Also ends connections that hang. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Tells the reply when all of it was sent, or at once that it will not be; also if the client leaves before. */
function onceSent(response: ServerResponse, { wire, reply }: EmulatedResponse, tell: (sent?: Reply) => void): void {
  const isWhole = reply && (wire === 'whole' || wire === 'drip');
  if (!isWhole) tell();
  else response.once('close', () => tell(response.writableFinished ? reply : undefined));
}

/** The line for a request, such as `status nightly a5663ff0: 200 RUNNING`. */
function lineOf(request: ServiceRequest, { fault, reply }: EmulatedResponse): string {
  const route = routeOf(request);
  const asked =
    route.kind === 'none'
      ? [request.method, request.url]
      : [route.kind, nameOf(route.target), 'executionId' in route && route.executionId.slice(0, 8)];
  // The status of the run, or the code of the error.
  const [, word] = /"(?:status|code)":"(\w+)"/.exec(reply?.body ?? '') ?? [];
  const answer = [reply?.status ?? 'no answer', fault ? `(${fault})` : word];
  return `${asked.filter(Boolean).join(' ')}: ${answer.filter(Boolean).join(' ')}`;
}

function cannotListen(port: number, { code, message }: NodeJS.ErrnoException) {
  const reason = code === 'EADDRINUSE' ? 'it is in use' : (code ?? message);
  return usageProblem(
    `the emulator can't listen on port ${port} of ${host}: ${reason}`,
    'choose another port, or 0 for any free one',
  );
}
