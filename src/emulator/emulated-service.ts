import { createHash, randomUUID } from 'node:crypto';
import { fullNameOf, type Target } from '../runs/run.ts';
import {
  createEmulatedRun,
  creditsCharged,
  type EmulatedRun,
  executionAt,
  isVisible,
  resultAt,
  statusAt,
} from './emulated-run.ts';
import { type EmulatedRefusal, errorReply, jsonReply, plannedRefusal, type Reply, refusals } from './reply.ts';
import { flawOfBody, type Route, routeOf, type ServiceRequest } from './request.ts';
import { type AutomationPlan, type Scenario, toMs } from './scenario.ts';

/** The two clocks, in milliseconds since 1970. */
export interface Now {
  realMs: number; // rate limits and `Retry-After` follow it
  emulatedMs: number; // runs follow it
}

export type EmulatedService = ReturnType<typeof createEmulatedService>;

/** The service of docs/service.md as a state machine: only requests and time change it. */
export function createEmulatedService(scenario: Scenario, apiKey: string) {
  const { automations = { '*': {} }, rateLimit, errorShape = 'flat', idempotencyKeys = 'honored' } = scenario;
  const runLimitMs = toMs(scenario.runLimit ?? '3h');
  const apiKeys = new Set([apiKey, ...(scenario.apiKeys ?? [])]);
  const waitMs = rateLimit ? createRateLimit(rateLimit.requests, toMs(rateLimit.window)) : () => 0;
  const answered = new Map<string, { digest: string; reply: Reply }>(); // by API key and idempotency key
  const runs = new Map<string, EmulatedRun>();
  const latestOf = new Map<string, EmulatedRun>();
  let latestRun: EmulatedRun | undefined;

  const refusalReplies = new Map(Object.entries(scenario.refusals ?? {}));
  const refuse = (refusal: EmulatedRefusal): Reply => {
    const { status, body } = refusalReplies.get(refusal.code) ?? {};
    return status === undefined ? errorReply(errorShape, refusal) : plannedRefusal(status, body, refusal);
  };

  function answer(request: ServiceRequest, now: Now): Reply {
    const givenKey = request.headers['x-api-key'];
    if (!givenKey) return refuse(refusals.missingKey);
    if (!apiKeys.has(givenKey)) return refuse(refusals.wrongKey);
    const route = routeOf(request);
    if (route.kind === 'none') return refuse(route.refusal);
    if (route.kind === 'trigger' || rateLimit?.on === 'any') {
      const refusedForMs = waitMs(now.realMs);
      if (refusedForMs > 0) return refuse({ ...refusals.rateLimited, headers: retryAfter(refusedForMs, now) });
    }
    return route.kind === 'trigger' ? trigger(request, route.target, now) : poll(route, now);
  }

  function poll({ kind, target, executionId }: Extract<Route, { executionId: string }>, { emulatedMs }: Now): Reply {
    const run = runs.get(executionId);
    if (!run || fullNameOf(run.target) !== fullNameOf(target) || !isVisible(run, emulatedMs))
      return refuse(refusals.notFound);
    return jsonReply(200, kind === 'status' ? executionAt(run, emulatedMs) : resultAt(run, emulatedMs));
  }

  function trigger(request: ServiceRequest, target: Target, { realMs, emulatedMs }: Now): Reply {
    const plan = planOf(target.automationName);
    if (!plan) return refuse(refusals.unknownAutomation);
    const refusal = flawOfBody(request);
    if (refusal) return refuse(refusal);

    const isActiveFirst = scenario.order === 'activeFirst';
    const conflicting = conflict(target, emulatedMs);
    const earlier = (isActiveFirst && conflicting) || replay(request) || conflicting || emptyBalance(emulatedMs);
    if (earlier) {
      rememberError(request, earlier);
      return earlier;
    }
    const idempotencyKey = request.headers['idempotency-key'];
    const index = (latestOf.get(fullNameOf(target))?.index ?? -1) + 1;
    const begins = { shownAtMs: realMs, startedAtMs: emulatedMs };
    const start = { target, executionId: randomUUID(), index, idempotencyKey, ...begins };
    const run = createEmulatedRun(start, plan, runLimitMs);
    runs.set(run.executionId, run);
    latestOf.set(fullNameOf(target), run);
    latestRun = run;
    // A 201 always shows RUNNING, however short the run is.
    const reply = jsonReply(201, executionAt(run, emulatedMs - 1));
    remember(request, reply);
    return reply;
  }

  const planOf = (name: string): AutomationPlan | undefined =>
    automations[Object.hasOwn(automations, name) ? name : '*'];

  function replay(request: ServiceRequest): Reply | undefined {
    if (idempotencyKeys === 'ignored') return undefined;
    const earlier = answered.get(scopeOf(request));
    return earlier?.digest === digestOf(request) ? earlier.reply : earlier && refuse(refusals.keyReused);
  }

  /** Remembers the answer to an idempotency key. The first stays: a conflict with its own run does not replace it. */
  function remember(request: ServiceRequest, reply: Reply): void {
    const scope = scopeOf(request);
    if (scope && !answered.has(scope)) answered.set(scope, { digest: digestOf(request), reply });
  }

  /** If the scenario replays errors, a trigger that is sent again gets this answer. */
  function rememberError(request: ServiceRequest, reply: Reply): void {
    if (scenario.replayErrors) remember(request, reply);
  }

  function conflict(target: Target, emulatedMs: number): Reply | undefined {
    const latest = latestOf.get(fullNameOf(target));
    if (!latest || statusAt(latest, emulatedMs) !== 'RUNNING') return undefined;
    return refuse({ ...refusals.alreadyActive, ...(scenario.namesActiveRun && { executionId: latest.executionId }) });
  }

  function emptyBalance(emulatedMs: number): Reply | undefined {
    if (scenario.credits === undefined) return undefined;
    const finished = [...runs.values()].filter(({ endsAtMs }) => endsAtMs <= emulatedMs);
    const balance = finished.reduce((left, run) => left - creditsCharged(run), scenario.credits);
    return balance > 0 ? undefined : refuse(refusals.noCredits);
  }

  function retryAfter(ms: number, { realMs }: Now): Record<string, string> {
    const form = rateLimit?.retryAfter ?? 'seconds';
    if (form === 'none') return {};
    if (form === 'seconds') return { 'retry-after': String(Math.ceil(ms / 1000)) };
    return { 'retry-after': new Date(Math.ceil((realMs + ms) / 1000) * 1000).toUTCString() };
  }

  return {
    answer,
    revoke: (apiKey: string | undefined) => void apiKeys.delete(apiKey ?? ''),
    rememberError,
    find: (executionId: string) => runs.get(executionId),
    /** The run that was started last. */
    latestRun: () => latestRun,
    /** All runs, oldest first. */
    runs: () => [...runs.values()],
  };
}

/** At most `requests` in any window; returns 0, or the ms until the next one is admitted. */
function createRateLimit(requests: number, windowMs: number): (nowMs: number) => number {
  let admittedMs: number[] = [];
  return (nowMs) => {
    admittedMs = admittedMs.filter((atMs) => atMs > nowMs - windowMs);
    const [oldestMs] = admittedMs;
    if (oldestMs !== undefined && admittedMs.length >= requests) return oldestMs + windowMs - nowMs;
    admittedMs.push(nowMs);
    return 0;
  };
}

/** Identifies an idempotency key within its API key. Empty for a request without one. */
function scopeOf({ headers }: ServiceRequest): string {
  const key = headers['idempotency-key'];
  return key ? JSON.stringify([headers['x-api-key'], key]) : '';
}

const digestOf = ({ url, body }: ServiceRequest) =>
  createHash('sha256')
    .update(JSON.stringify([url, body]))
    .digest('hex');
