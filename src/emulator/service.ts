import { unescape as decode } from 'node:querystring';
import { type Automation, isSameAutomation } from '../core/run.ts';
import { plural } from '../text/plural.ts';
import { ageMsAt, type EmulatedRun, executionDocument, hasEnded, resultDocument } from './run.ts';
import {
  type AutomationPlan,
  type Automations,
  alreadyActive,
  type Endpoint,
  noAutomation,
  type Outage,
  type Reply,
  refusal,
} from './scenarios.ts';

export interface ServiceRequest {
  method: string;
  /** The path, with the query if there is one. */
  url: string;
  apiKey: unknown;
  idempotencyKey: unknown;
  /** When it arrived, in milliseconds since 1970. */
  atMs: number;
}

export interface ServiceResponse {
  reply: Reply;
  /** The service has done its part, but the connection is reset instead of the reply. */
  isLost?: boolean;
}

/** The state of the service. */
export const createEmulatedService = (automations: Automations, apiKey: string, speed: number) => ({
  automations,
  apiKey,
  speed,
  /** Oldest first. */
  runs: [] as EmulatedRun[],
  /** The 201 of each idempotency key. Keys are scoped per API key, and there is only one. */
  accepted: new Map<unknown, Reply>(),
  /** The requests that came before. */
  answered: new Set<string>(),
  triggerCount: 0,
  /** Runs of which a trigger's response or a later one has told the client, and results it read. */
  told: new Set<string>(),
  resultsRead: new Set<string>(),
});

type EmulatedService = ReturnType<typeof createEmulatedService>;

/** What a client gets for its request, from the service or from what fails on the way. */
export function respond(service: EmulatedService, request: ServiceRequest): ServiceResponse {
  if (request.apiKey !== service.apiKey) {
    return { reply: refusal(401, 'unauthorized', 'The API key is not valid') };
  }
  const route = routeOf(request);
  if (!route) return { reply: refusal(404, 'unknownPath', 'There is no such endpoint') };
  const { endpoint, automation } = route;
  const plan = planOf(service, automation);
  const run = runOf(service, route);
  const outage = run && outageOf(run, endpoint, request.atMs);
  if (outage?.reply) return { reply: outage.reply };

  const reply =
    endpoint === 'trigger'
      ? acceptTrigger(service, request, automation, plan)
      : read(run, endpoint, request.atMs);
  const repeated = `${request.url} ${request.idempotencyKey}`;
  const isFirst = !service.answered.has(repeated);
  service.answered.add(repeated);
  const isLost = outage !== undefined || (isFirst && plan.losesFirst?.includes(endpoint));
  const response = { reply, isLost: isLost && reply.status < 300 };
  if (!response.isLost) note(service, endpoint, reply);
  return response;
}

/** Remembers what the client knows by this reply. */
function note(service: EmulatedService, endpoint: Endpoint, { body }: Reply): void {
  if (typeof body === 'string' || typeof body.executionId !== 'string') return;
  service.told.add(body.executionId);
  if (endpoint === 'result' && body.completedAt) service.resultsRead.add(body.executionId);
}

/** One line: triggers, runs, runs that were started twice, results that weren't read. */
export function countsOf(service: EmulatedService, nowMs: number): string {
  const { runs, told, resultsRead, triggerCount } = service;
  // Whoever triggers again without having heard of the run before starts the same work twice.
  const isTwice = (run: EmulatedRun, index: number) =>
    !told.has(run.executionId) &&
    runs.slice(index + 1).some((later) => isSameAutomation(later.automation, run.automation));
  const unread = runs.filter((run) => hasEnded(run, nowMs) && !resultsRead.has(run.executionId));
  return [
    `emulator: ${plural(triggerCount, 'trigger')}, ${plural(runs.length, 'run')}`,
    `${plural(runs.filter(isTwice).length, 'run')} started twice`,
    `${plural(unread.length, 'result')} not read`,
  ].join(', ');
}

interface Route {
  endpoint: Endpoint;
  automation: Automation;
  /** Empty for a trigger. */
  executionId: string;
}

const uuidPattern = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const routePattern = new RegExp(
  `^/v0/automation/(${uuidPattern})/([^/]+)/(?:trigger|executions/([^/]+)(/result)?)$`,
);

function routeOf({ method, url }: ServiceRequest): Route | undefined {
  const [, project, name, id, result] = routePattern.exec(url.replace(/\?.*/, '')) ?? [];
  if (!project || !name || method !== (id ? 'GET' : 'POST')) return undefined;
  const automation = { projectId: project.toLowerCase(), name: decode(name) };
  if (!id) return { endpoint: 'trigger', automation, executionId: '' };
  return { endpoint: result ? 'result' : 'status', automation, executionId: id.toLowerCase() };
}

const planOf = ({ automations }: EmulatedService, { name }: Automation): AutomationPlan =>
  automations[Object.hasOwn(automations, name) ? name : '*'] ?? { refusal: noAutomation };

const runOf = ({ runs }: EmulatedService, { automation, executionId }: Route) =>
  runs.find(
    (run) => run.executionId === executionId && isSameAutomation(run.automation, automation),
  );

function outageOf(run: EmulatedRun, endpoint: Endpoint, nowMs: number): Outage | undefined {
  const ageMs = ageMsAt(run, nowMs);
  return run.plan.outages?.find(
    ({ fromMs, untilMs, endpoint: only = endpoint }) =>
      only === endpoint && ageMs >= fromMs && ageMs < untilMs,
  );
}

function read(run: EmulatedRun | undefined, endpoint: Endpoint, nowMs: number): Reply {
  if (!run) return refusal(422, 'notFound', 'There is no such execution');
  const documentOf = endpoint === 'status' ? executionDocument : resultDocument;
  return { status: 200, body: documentOf(run, nowMs) };
}

function acceptTrigger(
  service: EmulatedService,
  { idempotencyKey, atMs }: ServiceRequest,
  automation: Automation,
  plan: AutomationPlan,
): Reply {
  const { accepted, runs, speed } = service;
  service.triggerCount += 1;
  if (plan.refusal) return plan.refusal;
  const earlier = plan.ignoresKeys ? undefined : accepted.get(idempotencyKey);
  const isActive = runs.some(
    (run) => isSameAutomation(run.automation, automation) && !hasEnded(run, atMs),
  );
  if (isActive && (!earlier || plan.checksActiveFirst)) return alreadyActive;
  if (earlier) return earlier;

  const executionId = crypto.randomUUID();
  const run = { automation, executionId, plan, startedAtMs: atMs, speed };
  runs.push(run);
  const reply = { status: 201, body: executionDocument(run, atMs) };
  if (idempotencyKey !== undefined) accepted.set(idempotencyKey, reply);
  return reply;
}
