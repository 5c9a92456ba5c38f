import { randomUUID } from 'node:crypto';
import type { Target } from '../runs/run.ts';
import { createAnsweredKeys } from './answered-keys.ts';
import {
  creditsCharged,
  type EmulatedRun,
  executionAt,
  isVisible,
  resultAt,
  startRun,
  stateAt,
  toMs,
} from './emulated-run.ts';
import { createRateLimit } from './rate-limit.ts';
import { errorReply, jsonReply, type Refusal, type Reply, refusals } from './reply.ts';
import { readTriggerBody, type ServiceRequest } from './request.ts';
import { type Route, routeOf } from './route.ts';
import type { AgentPlan, AutomationPlan, Scenario } from './scenario.ts';

export interface ServiceOptions {
  scenario: Scenario;
  apiKey: string;
  /** Real time: rate limits and `Retry-After` are of the caller's world. */
  nowMs(): number;
  /** The emulator's time, by which runs go. */
  emulatedMs(): number;
}

/** The service of docs/service.md as a state machine: a request in, a reply out. Only requests and time change it. */
export interface EmulatedService {
  answer(request: ServiceRequest): Reply;
  /** Refuses this API key from now on. */
  revoke(apiKey: string | undefined): void;
  /** Where the scenario replays errors: a trigger was answered with this one, and will be again. */
  rememberError(request: ServiceRequest, reply: Reply): void;
  find(executionId: string): EmulatedRun | undefined;
  /** Every run, oldest first. */
  runs(): EmulatedRun[];
}

/** Builds the service that a scenario describes. */
export function createEmulatedService(options: ServiceOptions): EmulatedService {
  const { scenario, nowMs, emulatedMs } = options;
  const { automations = { '*': {} }, rateLimit, errorShape = 'flat' } = scenario;
  const runLimitMs = toMs(scenario.runLimit ?? '3h');
  const apiKeys = new Set([options.apiKey, ...(scenario.apiKeys ?? [])]);
  const waitMs = rateLimit ? createRateLimit(rateLimit.requests, toMs(rateLimit.window)) : () => 0;
  const answered = createAnsweredKeys();
  const runs = new Map<string, EmulatedRun>();
  const latestOf = new Map<string, EmulatedRun>();

  const refuse = (refusal: Refusal) => errorReply(errorShape, refusal);

  function answer(request: ServiceRequest): Reply {
    const apiKey = request.headers['x-api-key'];
    if (!apiKey) return refuse(refusals.missingKey);
    if (!apiKeys.has(apiKey)) return refuse(refusals.wrongKey);
    const route = routeOf(request.method, request.url);
    if (route.kind === 'astray') return refuse({ ...route, headers: route.allow ? { allow: route.allow } : undefined });
    if (route.kind === 'trigger' || rateLimit?.on === 'any') {
      const refusedForMs = waitMs(nowMs());
      if (refusedForMs > 0) return refuse({ ...refusals.rateLimited, headers: retryAfter(refusedForMs) });
    }
    return route.kind === 'trigger' ? trigger(request, route.target) : lookUp(route);
  }

  function lookUp({ kind, target, executionId }: Exclude<Route, { kind: 'trigger' }>): Reply {
    const run = runs.get(executionId);
    const now = emulatedMs();
    if (!run || keyOf(run.target) !== keyOf(target) || !isVisible(run, now)) return refuse(refusals.notFound);
    return jsonReply(200, kind === 'status' ? executionAt(run, now) : resultAt(run, now));
  }

  function trigger(request: ServiceRequest, target: Target): Reply {
    const isAgent = target.family === 'agent';
    if (isAgent && scenario.agents !== 'accept') return refuse(refusals.agentsDiscontinued);
    const plan = isAgent ? (scenario.agentRun ?? {}) : planOf(target.automationName);
    if (!plan) return refuse(refusals.unknownAutomation);
    const body = readTriggerBody(target.family, request.headers['content-type'], request.body);
    if (body.kind === 'refused') return refuse(body.refusal);

    const checks = scenario.order === 'activeFirst' ? [conflict, replay] : [replay, conflict];
    for (const check of [...checks, emptyBalance]) {
      const reply = check(request, target);
      if (!reply) continue;
      rememberError(request, reply);
      return reply;
    }
    const { title = null, message = null } = isAgent ? (body.document as { title?: string; message?: string }) : {};
    const reply = start({ target, idempotencyKey: request.headers['idempotency-key'], title, message }, plan);
    answered.store(request, reply);
    return reply;
  }

  const planOf = (name: string): AutomationPlan | undefined =>
    automations[Object.hasOwn(automations, name) ? name : '*'];

  function replay(request: ServiceRequest): Reply | undefined {
    const earlier = answered.recall(request);
    return earlier && ('reply' in earlier ? earlier.reply : refuse(earlier.refusal));
  }

  function conflict(_: ServiceRequest, target: Target): Reply | undefined {
    const latest = latestOf.get(keyOf(target));
    if (target.family === 'agent' || !latest || stateAt(latest, emulatedMs()) !== 'RUNNING') return undefined;
    return refuse({ ...refusals.alreadyActive, ...(scenario.namesActiveRun && { executionId: latest.executionId }) });
  }

  function emptyBalance(): Reply | undefined {
    if (scenario.credits === undefined) return undefined;
    const ended = [...runs.values()].filter(({ endsAtMs }) => endsAtMs <= emulatedMs());
    const balance = ended.reduce((left, run) => left - creditsCharged(run), scenario.credits);
    return balance > 0 ? undefined : refuse(refusals.noCredits);
  }

  function start(
    asked: Pick<EmulatedRun, 'target' | 'idempotencyKey' | 'title' | 'message'>,
    plan: AutomationPlan | AgentPlan,
  ): Reply {
    const index = (latestOf.get(keyOf(asked.target))?.index ?? -1) + 1;
    const executionId = randomUUID();
    const run = startRun({ ...asked, executionId, index }, plan, { nowMs: emulatedMs(), runLimitMs });
    runs.set(executionId, run);
    latestOf.set(keyOf(asked.target), run);
    // A 201 always shows RUNNING, however short the run is.
    return jsonReply(201, executionAt(run, run.startedAtMs - 1));
  }

  function retryAfter(ms: number): Record<string, string> {
    const form = rateLimit?.retryAfter ?? 'seconds';
    if (form === 'none') return {};
    if (form === 'seconds') return { 'retry-after': String(Math.ceil(ms / 1000)) };
    return { 'retry-after': new Date(Math.ceil((nowMs() + ms) / 1000) * 1000).toUTCString() };
  }

  function rememberError(request: ServiceRequest, reply: Reply): void {
    if (scenario.replayErrors) answered.store(request, reply);
  }

  return {
    answer,
    revoke: (apiKey) => void apiKeys.delete(apiKey ?? ''),
    rememberError,
    find: (executionId) => runs.get(executionId),
    runs: () => [...runs.values()],
  };
}

/** Two targets are the same exactly if their keys are. */
const keyOf = (target: Target) =>
  JSON.stringify(target.family === 'agent' ? [target.agentId] : [target.projectId, target.automationName]);
