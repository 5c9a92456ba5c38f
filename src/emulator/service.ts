import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { fullNameOf, type Target } from '../run/run.ts';
import { jsonReply, type Refusal, type Reply, refusalReply, refusals } from './reply.ts';
import { bodyRefusal, type Route, routeOf, type ServiceRequest } from './request.ts';
import { type EmulatedRun, executionAt, hasEnded, type RunPlan, resultAt } from './run.ts';

/**
 * What happens to the runs of an automation, and to the requests about them. Times are by the
 * emulator's clock.
 */
export interface AutomationPlan extends RunPlan {
  /** What every trigger gets, instead of a run. */
  refusal?: Refusal;
  /** How long a run of somebody else is active, from the first trigger on. */
  activeElsewhereMs?: number;
  /** The first response to each such request is lost. */
  losesFirst?: readonly Route['kind'][];
  outages?: readonly Outage[];
  /** A repeated idempotency key starts another run. */
  ignoresKeys?: boolean;
  /** Whether a run is active is checked before the idempotency key. */
  checksActiveFirst?: boolean;
}

/** What polls get while their run is of a certain age. */
export interface Outage {
  afterMs: number;
  untilMs: number;
  /** The response. By default there is none, and the connection is reset. */
  reply?: Reply;
}

/** The plans by the automations' names. `*` is any other name, which isn't found without it. */
export type Automations = Readonly<Record<string, AutomationPlan>>;

/** The two clocks, in milliseconds since 1970. */
export interface Now {
  realMs: number;
  /** Runs follow it. */
  emulatedMs: number;
}

export interface EmulatedResponse {
  reply: Reply;
  /** What goes wrong on the way to the client. */
  failure?: string;
  /** Sends the reply. By default it is sent completely. */
  send?(response: ServerResponse, reply: Reply): void;
}

export interface EmulatedService {
  respond(request: ServiceRequest, now: Now): EmulatedResponse;
  /** Oldest first. */
  runs(): readonly EmulatedRun[];
}

type PlanOf = (target: Target) => AutomationPlan | undefined;

/** The service, with what goes wrong on the way to it: only requests and time change it. */
export function createService(automations: Automations, apiKeys: readonly string[]) {
  const planOf: PlanOf = ({ automationName: name }) =>
    automations[Object.hasOwn(automations, name) ? name : '*'];
  const { answer, runs, find } = createAnswers(planOf, apiKeys);
  const lost = new Set<string>(); // the requests whose first response was lost

  function respond(request: ServiceRequest, now: Now): EmulatedResponse {
    const route = routeOf(request);
    const outage = outageOf(route, now);
    if (outage?.reply) return { reply: outage.reply, failure: 'outage' };
    const reply = answer(request, now);
    const isResponseLost = outage !== undefined || loseFirst(request, route, reply);
    return isResponseLost ? { reply, failure: 'response lost', send: reset } : { reply };
  }

  function outageOf(route: Route, { emulatedMs }: Now): Outage | undefined {
    const run = find(route);
    if (!run) return undefined;
    const ageMs = emulatedMs - run.startedAtMs;
    const { outages = [] } = planOf(run.target) ?? {};
    return outages.find(({ afterMs, untilMs }) => ageMs >= afterMs && ageMs < untilMs);
  }

  /**
   * Returns whether this response is lost, and if so, lets the next one to the same request pass.
   */
  function loseFirst({ url, headers }: ServiceRequest, route: Route, { status }: Reply): boolean {
    const plan = route.kind === 'none' ? undefined : planOf(route.target);
    if (status >= 300 || !plan?.losesFirst?.includes(route.kind)) return false;
    const repeated = JSON.stringify([url, headers['idempotency-key']]);
    const isFirst = !lost.has(repeated);
    lost.add(repeated);
    return isFirst;
  }

  return { respond, answer, runs };
}

/** The service of docs/service.md: its answers as they leave it. */
function createAnswers(planOf: PlanOf, apiKeys: readonly string[]) {
  const runs = new Map<string, EmulatedRun>(); // by id
  const latest = new Map<string, EmulatedRun>(); // by the automation's full name
  const accepted = new Map<string, Reply>(); // the 201 that an idempotency key has got

  function find(route: Route): EmulatedRun | undefined {
    if (route.kind === 'none' || route.kind === 'trigger') return undefined;
    const run = runs.get(route.executionId);
    return run && fullNameOf(run.target) === fullNameOf(route.target) ? run : undefined;
  }

  function answer(request: ServiceRequest, now: Now): Reply {
    const apiKey = request.headers['x-api-key'];
    if (!apiKey) return refusalReply(refusals.missingKey);
    if (!apiKeys.includes(apiKey)) return refusalReply(refusals.wrongKey);
    const route = routeOf(request);
    if (route.kind === 'none') return refusalReply(route.refusal);
    if (route.kind === 'trigger') return trigger(request, route.target, now);
    const run = find(route);
    if (!run) return refusalReply(refusals.notFound);
    switch (route.kind) {
      case 'status':
        return jsonReply(200, executionAt(run, now.emulatedMs));
      case 'result':
        return jsonReply(200, resultAt(run, now.emulatedMs));
    }
  }

  function trigger(request: ServiceRequest, target: Target, now: Now): Reply {
    const plan = planOf(target);
    if (!plan) return refusalReply(refusals.unknownAutomation);
    const refusal = bodyRefusal(request) ?? plan.refusal;
    if (refusal) return refusalReply(refusal);
    startElsewhere(target, plan, now);

    const { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey } = request.headers;
    const usedKey = JSON.stringify([apiKey, request.url, idempotencyKey]);
    const earlier = plan.ignoresKeys ? undefined : accepted.get(usedKey);
    const isRefusedIfActive = plan.checksActiveFirst || !earlier;
    if (isRefusedIfActive && isActive(target, now)) return refusalReply(refusals.alreadyActive);
    if (earlier) return earlier;

    const run = start(target, plan, now, idempotencyKey);
    // A 201 always shows RUNNING, however short the run is.
    const reply = jsonReply(201, executionAt(run, run.startedAtMs - 1));
    if (idempotencyKey) accepted.set(usedKey, reply);
    return reply;
  }

  /** Starts the run of somebody else before the first trigger, if the plan says so. */
  function startElsewhere(target: Target, { activeElsewhereMs }: AutomationPlan, now: Now): void {
    if (!activeElsewhereMs || latest.has(fullNameOf(target))) return;
    start(target, { durationMs: activeElsewhereMs }, now);
  }

  function isActive(target: Target, { emulatedMs }: Now): boolean {
    const last = latest.get(fullNameOf(target));
    return last !== undefined && !hasEnded(last, emulatedMs);
  }

  function start(
    target: Target,
    plan: RunPlan,
    { realMs, emulatedMs }: Now,
    idempotencyKey?: string,
  ) {
    const times = {
      shownAtMs: realMs,
      startedAtMs: emulatedMs,
      endsAtMs: emulatedMs + (plan.durationMs ?? 20_000),
    };
    const run: EmulatedRun = { target, executionId: randomUUID(), idempotencyKey, ...times, plan };
    runs.set(run.executionId, run);
    latest.set(fullNameOf(target), run);
    return run;
  }

  return { answer, find, runs: () => [...runs.values()] };
}

const reset = ({ socket }: ServerResponse) => void socket?.resetAndDestroy();
