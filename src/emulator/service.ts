import { unescape as decode } from 'node:querystring';
import type { Automation, JsonObject } from '../run/run.ts';
import { type Reply, refusal } from './reply.ts';
import {
  ageMsAt,
  type EmulatedRun,
  executionDocument,
  hasEnded,
  type RunPlan,
  resultDocument,
} from './run.ts';

type Endpoint = 'trigger' | 'status' | 'result';

/** What happens to an automation's runs, and to the requests about them. */
export interface AutomationPlan extends RunPlan {
  /** What every trigger gets instead of a run. */
  refusal?: Reply;
  /** How long a run that was started elsewhere is active, from the service's first trigger on. */
  activeElsewhereMs?: number;
  /** The first response to each such request is lost. */
  losesFirst?: readonly Endpoint[];
  outages?: readonly Outage[];
  /** A repeated idempotency key starts another run. */
  ignoresKeys?: boolean;
  /** Looks for an active run before it looks at the idempotency key. */
  checksActiveFirst?: boolean;
}

/** What requests about a run get while the run is of this age. */
interface Outage {
  fromMs: number;
  untilMs: number;
  /** Status and result by default. */
  endpoint?: Endpoint;
  /** By default the connection is reset. */
  reply?: Reply;
}

/** Plans by the automation's name; `*` is any other name, which isn't found without it. */
export type Automations = Readonly<Record<string, AutomationPlan>>;

export interface ServiceRequest {
  method: string;
  /** The path, with the query if there is one. */
  url: string;
  /** By name in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
  /** When it arrived, in milliseconds since 1970. */
  atMs: number;
}

export interface ServiceResponse {
  reply: Reply;
  /** The one that the reply names. */
  run?: EmulatedRun;
  /** The service has done its part, but the connection is reset instead of the reply. */
  isLost?: boolean;
}

/** The state of the service, with what the summary counts. */
export const createService = (automations: Automations, apiKey: string, speed: number) => ({
  automations,
  apiKey,
  speed,
  /** Oldest first. */
  runs: [] as EmulatedRun[],
  /** By agent and execution, as they are shown. */
  agentExecutions: new Map<string, JsonObject>(),
  /** The 201 of each idempotency key. Keys are scoped per API key, and there is only one. */
  accepted: new Map<string, ServiceResponse>(),
  /** The requests whose first response was lost. */
  lostRequests: new Set<string>(),
  firstTriggerAtMs: undefined as number | undefined,
  triggerCount: 0,
  startedTwiceCount: 0,
});

type EmulatedService = ReturnType<typeof createService>;

/** What a client gets for its request, from the service or from what fails on the way. */
export function respond(service: EmulatedService, request: ServiceRequest): ServiceResponse {
  const route = routeOf(request);
  const outage = route && outageOf(service, route, request.atMs);
  if (outage?.reply) return { reply: outage.reply };

  const response = answer(service, request, route);
  const { run } = response;
  if (!route || !run) return response;
  if (outage || losesResponse(service, request, route)) return { ...response, isLost: true };
  run.isKnown = true;
  run.isResultRead ||= route.endpoint === 'result' && hasEnded(run, request.atMs);
  return response;
}

/** One line: triggers, runs, runs started twice, results not read. */
export function summaryOf(service: EmulatedService, nowMs: number): string {
  const { runs, triggerCount, startedTwiceCount } = service;
  const unread = runs.filter((run) => hasEnded(run, nowMs) && !run.isResultRead);
  const facts = [
    count(triggerCount, 'trigger'),
    count(runs.length, 'run'),
    `${count(startedTwiceCount, 'run')} started twice`,
    ...(unread.length > 0 ? [`${count(unread.length, 'result')} not read`] : []),
  ];
  return `emulator: ${facts.join(', ')}`;
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

interface Route {
  endpoint: Endpoint;
  automation: Automation;
  /** Empty for a trigger. */
  executionId: string;
}

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const automationPath = new RegExp(
  `^/v0/automation/(${uuid})/([^/]+)/(?:trigger|executions/([^/]+)(/result)?)$`,
);
const agentPath = new RegExp(`^/v0/agent/(${uuid})/(?:trigger|executions/([^/]+))$`);

const pathOf = ({ url }: ServiceRequest): string => url.replace(/\?.*/, '');

function routeOf(request: ServiceRequest): Route | undefined {
  const [, project, name, id, result] = automationPath.exec(pathOf(request)) ?? [];
  if (!project || !name || request.method !== (id ? 'GET' : 'POST')) return undefined;
  const automation = { projectId: project.toLowerCase(), name: decode(name) };
  if (!id) return { endpoint: 'trigger', automation, executionId: '' };
  return { endpoint: result ? 'result' : 'status', automation, executionId: id.toLowerCase() };
}

const planOf = ({ automations }: EmulatedService, { name }: Automation) =>
  automations[Object.hasOwn(automations, name) ? name : '*'];

const isOf = ({ automation }: EmulatedRun, { projectId, name }: Automation): boolean =>
  automation.projectId === projectId && automation.name === name;

const findRun = ({ runs }: EmulatedService, { automation, executionId }: Route) =>
  runs.find((run) => run.executionId === executionId && isOf(run, automation));

function outageOf(service: EmulatedService, route: Route, nowMs: number): Outage | undefined {
  const run = findRun(service, route);
  if (!run) return undefined;
  const ageMs = ageMsAt(run, nowMs);
  return planOf(service, run.automation)?.outages?.find(
    ({ fromMs, untilMs, endpoint = route.endpoint }) =>
      endpoint === route.endpoint && ageMs >= fromMs && ageMs < untilMs,
  );
}

/** Whether this response is lost. The next one to the same request isn't. */
function losesResponse(
  service: EmulatedService,
  { url, headers }: ServiceRequest,
  { endpoint, automation }: Route,
): boolean {
  const repeated = `${url} ${headers['idempotency-key']}`;
  const isFirst = !service.lostRequests.has(repeated);
  service.lostRequests.add(repeated);
  return isFirst && planOf(service, automation)?.losesFirst?.includes(endpoint) === true;
}

const refuse = (...facts: Parameters<typeof refusal>): ServiceResponse => ({
  reply: refusal(...facts),
});
const notFound = refuse(422, 'notFound', 'There is no such execution');
const badBody = refuse(400, 'badBody', 'The body must be a JSON object of type application/json');

/** What the service answers, without what fails on the way. */
function answer(service: EmulatedService, request: ServiceRequest, route?: Route): ServiceResponse {
  const { 'x-api-key': apiKey } = request.headers;
  if (!apiKey) return refuse(401, 'unauthorized', 'The header x-api-key is missing');
  if (apiKey !== service.apiKey) return refuse(401, 'unauthorized', 'The API key is not valid');
  if (!route) return answerAgent(service, request);
  if (route.endpoint === 'trigger') return trigger(service, request, route.automation);
  const run = findRun(service, route);
  if (!run) return notFound;
  const documentOf = route.endpoint === 'status' ? executionDocument : resultDocument;
  return { reply: { status: 200, body: documentOf(run, request.atMs) }, run };
}

function trigger(
  service: EmulatedService,
  request: ServiceRequest,
  automation: Automation,
): ServiceResponse {
  service.triggerCount += 1;
  const plan = planOf(service, automation);
  if (!plan) return refuse(404, 'automationNotFound', 'The project has no such automation');
  if (!bodyOf(request)) return badBody;
  if (plan.refusal) return { reply: plan.refusal };

  const idempotencyKey = idempotencyKeyOf(request);
  const earlier = plan.ignoresKeys ? undefined : service.accepted.get(idempotencyKey);
  if (earlier && !plan.checksActiveFirst) return earlier;
  if (isActive(service, automation, plan, request.atMs)) {
    return refuse(422, 'runAlreadyActive', 'The same automation is already running');
  }
  if (earlier) return earlier;

  const run = startRun(service, { automation, idempotencyKey, plan, startedAtMs: request.atMs });
  const response = { reply: { status: 201, body: executionDocument(run, request.atMs) }, run };
  service.accepted.set(idempotencyKey, response);
  return response;
}

function isActive(
  service: EmulatedService,
  automation: Automation,
  { activeElsewhereMs = 0 }: AutomationPlan,
  atMs: number,
): boolean {
  service.firstTriggerAtMs ??= atMs;
  const elsewhereAgeMs = (atMs - service.firstTriggerAtMs) * service.speed;
  return (
    elsewhereAgeMs < activeElsewhereMs ||
    service.runs.some((run) => isOf(run, automation) && !hasEnded(run, atMs))
  );
}

function startRun(
  service: EmulatedService,
  facts: Pick<EmulatedRun, 'automation' | 'idempotencyKey' | 'plan' | 'startedAtMs'>,
): EmulatedRun {
  const latest = service.runs.findLast((run) => isOf(run, facts.automation));
  // The client doesn't know that the run before was started, so it means that one.
  if (latest?.isKnown === false) service.startedTwiceCount += 1;
  const executionId = crypto.randomUUID();
  const { speed } = service;
  const run = { ...facts, executionId, speed, isKnown: false, isResultRead: false };
  service.runs.push(run);
  return run;
}

/** Agents are discontinued: their trigger is answered, but starts no run. */
function answerAgent(service: EmulatedService, request: ServiceRequest): ServiceResponse {
  const [, agentId, executionId] = agentPath.exec(pathOf(request)) ?? [];
  if (!agentId || request.method !== (executionId ? 'GET' : 'POST')) {
    return refuse(404, 'unknownPath', 'There is no such endpoint');
  }
  if (executionId) {
    const execution = service.agentExecutions.get(`${agentId}/${executionId}`.toLowerCase());
    return execution ? { reply: { status: 200, body: execution } } : notFound;
  }
  const body = bodyOf(request);
  if (!body) return badBody;
  const idempotencyKey = idempotencyKeyOf(request);
  const earlier = service.accepted.get(idempotencyKey);
  if (earlier) return earlier;

  const { title = null, message = null } = body;
  const at = new Date(request.atMs).toISOString();
  const times = { startedAt: at, completedAt: null, createdAt: at };
  const ids = { executionId: crypto.randomUUID(), agentId: agentId.toLowerCase() };
  const execution = { ...ids, status: 'RUNNING', title, message, ...times };
  service.agentExecutions.set(`${ids.agentId}/${ids.executionId}`, execution);
  const response = { reply: { status: 201, body: execution } };
  service.accepted.set(idempotencyKey, response);
  return response;
}

/** A request without a key gets one of its own, so it never repeats another. */
const idempotencyKeyOf = ({ headers }: ServiceRequest): string =>
  headers['idempotency-key'] || crypto.randomUUID();

/** The JSON object of a request; undefined if it has none. */
function bodyOf({ headers, body }: ServiceRequest): JsonObject | undefined {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return undefined;
  try {
    const value = JSON.parse(body);
    return value && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
