import { htmlReply, jsonReply, type Refusal, type Reply, refusalReply, refusals } from '../../src/emulator/reply.ts';
import { type Route, routeOf, type ServiceRequest } from '../../src/emulator/request.ts';
import { emulatedCreditsOf, hasEnded, resultAt } from '../../src/emulator/run.ts';
import { type AutomationPlan, createService, type EmulatedResponse, type Now } from '../../src/emulator/service.ts';
import { fullNameOf, type Target } from '../../src/run/run.ts';
import { type Fault, type Plan, type Scenario, toMs } from './scenario.ts';
import { createFaultSelector } from './select-fault.ts';
import { close, delay, hang, hangBody, reset, truncate } from './wires.ts';

const agentsDiscontinued = { status: 410, code: 'agentsDiscontinued', message: 'Agents are discontinued' };
/** If the service is never asked. */
const nothing: Reply = { status: 0, headers: {}, body: '' };

/** The emulator's service in every variant that is sensible, with every fault on the way to it. */
export function createFaultyService(scenario: Scenario, apiKey: string, random: () => number = Math.random) {
  const { automations = { '*': {} }, faults = [], apiKeys = [], credits } = scenario;
  const service = createService(plansOf(scenario), [apiKey, ...apiKeys]);
  const select = createFaultSelector(faults, random);
  const revoked = new Set<string | undefined>();
  const first = new Map<string, Reply>(); // what a trigger with an idempotency key was answered first

  const planOf = (name: string): Plan | undefined => automations[Object.hasOwn(automations, name) ? name : '*'];

  const runsOf = (target: Target) => service.runs().filter((run) => fullNameOf(run.target) === fullNameOf(target));

  function activeRun(target: Target, { emulatedMs }: Now) {
    const last = runsOf(target).at(-1);
    return last && !hasEnded(last, emulatedMs) ? last : undefined;
  }

  /** The answer as it leaves the service. */
  function answer(request: ServiceRequest, now: Now): Reply {
    const route = routeOf(request);
    const known = scenario.replayErrors && first.get(scopeOf(request));
    const isHidden = scenario.order === 'activeFirst' && route.kind === 'trigger' && activeRun(route.target, now);
    if (known && known.status >= 400 && !isHidden) return known;
    const reply = replyTo(request, route, now);
    if (route.kind === 'trigger') remember(request, reply);
    return reply;
  }

  function replyTo(request: ServiceRequest, route: Route, now: Now): Reply {
    const before = service.runs().length;
    const refusal = refusalOf(request, route, now);
    const reply = refusal ? refusalReply(refusal) : (lateResult(route, now) ?? service.answer(request, now));
    if (route.kind === 'none') return reply;
    const plan = planOf(route.target.automationName);
    const started = service.runs()[before];
    if (started && Array.isArray(plan?.finalStatus)) {
      const finalStatus = plan.finalStatus[Math.min(runsOf(started.target).length, plan.finalStatus.length) - 1];
      started.plan = { ...started.plan, finalStatus };
    }
    const executionId = activeIdFor(reply, route.target, now);
    if (executionId) return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), executionId }) };
    if (reply.status >= 400) return reply;
    return plan?.extra ? jsonReply(reply.status, { ...JSON.parse(reply.body), ...plan.extra }) : reply;
  }

  /** Why the service refuses, beside the reasons that the emulator has. */
  function refusalOf(request: ServiceRequest, route: Route, now: Now): Refusal | undefined {
    if (revoked.has(request.headers['x-api-key'])) return refusals.wrongKey;
    if (route.kind === 'none') return /^\/v0\/agent\/.*\/trigger$/.test(request.url) ? agentsDiscontinued : undefined;
    if (route.kind !== 'trigger') {
      const run = service.runs().find(({ executionId }) => executionId === route.executionId);
      const lateMs = toMs(planOf(route.target.automationName)?.statusLate ?? '0s');
      return run && now.emulatedMs < run.startedAtMs + lateMs ? refusals.notFound : undefined;
    }
    const key = request.headers['idempotency-key'];
    const isRepeated = key && runsOf(route.target).some(({ idempotencyKey }) => idempotencyKey === key);
    const isStart = !isRepeated && !activeRun(route.target, now);
    return isStart && balance(now) <= 0 ? refusals.noCredits : undefined;
  }

  function lateResult(route: Route, { emulatedMs }: Now): Reply | undefined {
    if (route.kind !== 'result') return undefined;
    const run = service.runs().find(({ executionId }) => executionId === route.executionId);
    const lateMs = toMs(planOf(route.target.automationName)?.resultLate ?? '0s');
    const isLate = run && hasEnded(run, emulatedMs) && !hasEnded(run, emulatedMs - lateMs);
    return isLate ? jsonReply(200, resultAt(run, run.startedAtMs - 1)) : undefined;
  }

  function balance({ emulatedMs }: Now): number {
    const finished = service.runs().filter((run) => hasEnded(run, emulatedMs));
    return finished.reduce((left, run) => left - emulatedCreditsOf(run), credits ?? Number.POSITIVE_INFINITY);
  }

  function activeIdFor({ body }: Reply, target: Target, now: Now): string | undefined {
    const isNamed = scenario.namesActiveRun && JSON.parse(body).code === refusals.alreadyActive.code;
    return isNamed ? activeRun(target, now)?.executionId : undefined;
  }

  function remember(request: ServiceRequest, reply: Reply): void {
    const scope = scopeOf(request);
    if (scope && !first.has(scope)) first.set(scope, reply);
  }

  function respond(request: ServiceRequest, now: Now): EmulatedResponse {
    const route = routeOf(request);
    const fault = route.kind === 'none' ? undefined : select(circumstancesOf(route, now));
    return fault ? { failure: fault.do, ...inject(fault, request, now) } : { reply: answer(request, now) };
  }

  function circumstancesOf(route: Exclude<Route, { kind: 'none' }>, { emulatedMs }: Now) {
    const id = route.kind === 'trigger' ? undefined : route.executionId;
    const run = service.runs().find(({ executionId }) => executionId === id);
    const { kind, target } = route;
    return { kind, automationName: target.automationName, ageMs: run && emulatedMs - run.startedAtMs };
  }

  function inject(fault: Fault, request: ServiceRequest, now: Now): EmulatedResponse {
    const answered = () => answer(request, now);
    if ('acts' in fault && fault.acts) answered();
    switch (fault.do) {
      case 'status': {
        const reply = plannedReply(fault);
        remember(request, reply);
        return { reply };
      }
      case 'html':
        return { reply: htmlReply(fault.status ?? 200, 'This page is not the service') };
      case 'reset':
        return { reply: nothing, send: reset };
      case 'close':
        return { reply: nothing, send: close };
      case 'hang':
        return { reply: nothing, send: hang };
      case 'loseAnswer':
        return { reply: answered(), send: reset };
      case 'wrongJson':
        return { reply: jsonReply(answered().status, { ok: true }) };
      case 'hangBody':
        return { reply: answered(), send: hangBody };
      case 'truncate':
        return { reply: answered(), send: truncate };
      case 'delay':
        return { reply: answered(), send: delay(toMs(fault.delay)) };
      case 'revokeKey':
        revoked.add(request.headers['x-api-key']);
        return { reply: answered() };
    }
  }

  function plannedReply({ status, body, headers }: Extract<Fault, { do: 'status' }>): Reply {
    const planned = { code: 'plannedFault', message: `The scenario plans ${status} here` };
    return jsonReply(status, body ?? planned, headers);
  }

  return { respond, answer, runs: service.runs };
}

/** What the emulator can do by itself. */
function plansOf({ automations = { '*': {} }, idempotencyKeys, order }: Scenario): Record<string, AutomationPlan> {
  const common = { ignoresKeys: idempotencyKeys === 'ignored', checksActiveFirst: order === 'activeFirst' };
  const planOf = ({ duration, finalStatus, ...plan }: Plan): AutomationPlan => ({
    ...plan,
    ...common,
    durationMs: duration === undefined ? undefined : toMs(duration),
    finalStatus: [finalStatus].flat()[0],
  });
  return Object.fromEntries(Object.entries(automations).map(([name, plan]) => [name, planOf(plan)]));
}

/** Identifies an idempotency key within its API key; empty for a request without one. */
function scopeOf({ headers, url }: ServiceRequest): string {
  const key = headers['idempotency-key'];
  return key ? JSON.stringify([headers['x-api-key'], url, key]) : '';
}
