import type { EmulatedService, Now } from './emulated-service.ts';
import { errorReply, htmlReply, jsonReply, type Reply } from './reply.ts';
import { type Route, routeOf, type ServiceRequest } from './request.ts';
import { type InjectedFault, type Scenario, toMs } from './scenario.ts';

export interface EmulatedResponse {
  reply?: Reply; // undefined if no byte of an answer is sent
  wire: 'whole' | 'reset' | 'close' | 'hang' | 'hangBody' | 'truncate' | 'drip';
  delayMs?: number; // milliseconds of real time before the first byte
  gapMs?: number; // milliseconds of real time between two bytes of a drip
  fault?: InjectedFault['do'];
}

/** Decides, as data, what the server does with each request. */
export function createFaultInjector(
  service: EmulatedService,
  { faults = [], errorShape = 'flat' }: Scenario,
  random: () => number,
): (request: ServiceRequest, now: Now) => EmulatedResponse {
  const select = createFaultSelector(faults, random);

  function inject(fault: InjectedFault, request: ServiceRequest, now: Now): Partial<EmulatedResponse> {
    const answer = () => service.answer(request, now);
    if ('acts' in fault && fault.acts) answer();
    switch (fault.do) {
      case 'status': {
        const reply = plannedReply(fault);
        service.rememberError(request, reply);
        return { reply };
      }
      case 'html':
        return { reply: htmlReply(fault.status ?? 200, 'This page is not the service') };
      case 'reset':
      case 'close':
      case 'hang':
        return { wire: fault.do };
      case 'loseAnswer':
        answer();
        return { wire: 'reset' };
      case 'wrongJson':
        return { reply: jsonReply(answer().status, { ok: true }) };
      case 'hangBody':
      case 'truncate':
        return { reply: answer(), wire: fault.do };
      case 'drip':
        return { reply: answer(), wire: 'drip', gapMs: toMs(fault.gap ?? '100ms') };
      case 'delay':
        return { reply: answer(), delayMs: toMs(fault.delay) };
      case 'revokeKey':
        service.revoke(request.headers['x-api-key']);
        return { reply: answer() };
    }
  }

  function plannedReply({ status, body, headers = {} }: Extract<InjectedFault, { do: 'status' }>): Reply {
    const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const message = `The scenario plans ${status} here`;
    const reply =
      body === undefined
        ? errorReply(errorShape, { status, code: 'plannedFault', message })
        : typeof body === 'string'
          ? { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
          : jsonReply(status, body);
    return { ...reply, headers: { ...reply.headers, ...lowerCase } };
  }

  return (request, now) => {
    const route = routeOf(request);
    const fault = route.kind === 'none' ? undefined : select(circumstancesOf(route, service, now));
    const response = fault ? inject(fault, request, now) : { reply: service.answer(request, now) };
    return { wire: 'whole', fault: fault?.do, ...response };
  };
}

interface Circumstances {
  kind: 'trigger' | 'status' | 'result';
  automationName?: string;
  ageMs?: number; // by the emulator's clock; undefined for a trigger and an unknown run
}

function circumstancesOf(route: Exclude<Route, { kind: 'none' }>, service: EmulatedService, now: Now): Circumstances {
  const { kind, target } = route;
  const run = kind === 'trigger' ? undefined : service.find(route.executionId);
  return { kind, automationName: target.automationName, ageMs: run && now.emulatedMs - run.startedAtMs };
}

/** Selects the first fault whose conditions are met. Each fault counts its requests, also those that another gets. */
export function createFaultSelector(faults: readonly InjectedFault[], random: () => number) {
  const counted = faults.map((fault) => ({ fault, count: 0 }));
  return (request: Circumstances): InjectedFault | undefined => {
    const concerned = counted.filter(({ fault }) => concerns(fault, request));
    for (const entry of concerned) entry.count += 1;
    return concerned.find(({ fault, count }) => isDue(fault, count) && random() < (fault.chance ?? 1))?.fault;
  };
}

function concerns({ on = 'any', automation, during }: InjectedFault, request: Circumstances): boolean {
  const { kind, automationName, ageMs } = request;
  if (on !== 'any' && on !== kind) return false;
  if (automation !== undefined && automation !== automationName) return false;
  if (!during) return true;
  const fromMs = toMs(during.after ?? '0s');
  const untilMs = during.for === undefined ? Number.POSITIVE_INFINITY : fromMs + toMs(during.for);
  return ageMs !== undefined && ageMs >= fromMs && ageMs < untilMs;
}

function isDue({ nth = 0, from = 1, to = Number.POSITIVE_INFINITY, every = 1 }: InjectedFault, count: number): boolean {
  return (nth === 0 || count === nth) && count >= from && count <= to && count % every === 0;
}
