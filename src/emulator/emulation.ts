import { toMs } from './emulated-run.ts';
import { type Circumstances, createFaultPlan } from './faults.ts';
import { errorReply, htmlReply, jsonReply, type Reply } from './reply.ts';
import type { ServiceRequest } from './request.ts';
import { type Route, routeOf } from './route.ts';
import type { Fault, Scenario } from './scenario.ts';
import type { EmulatedService } from './service.ts';

/** A reply and what becomes of it on the wire. */
export interface Delivery {
  /** Undefined where no byte of an answer is sent. */
  reply?: Reply;
  wire: 'whole' | 'reset' | 'close' | 'hang' | 'hangBody' | 'truncate' | 'drip';
  /** Real time before the first byte. */
  delayMs: number;
  /** Real time between two bytes of a drip. */
  gapMs: number;
  /** The fault that struck. */
  fault?: Fault['do'];
}

/** The service behind the weather of its scenario: what the server does with each request, as data. */
export function createEmulation(
  service: EmulatedService,
  { faults = [], errorShape = 'flat' }: Scenario,
  { emulatedMs, random }: { emulatedMs(): number; random(): number },
): (request: ServiceRequest) => Delivery {
  const strike = createFaultPlan(faults, random);

  function circumstancesOf(route: Route): Circumstances {
    const run = route.kind === 'trigger' ? undefined : service.find(route.executionId);
    return {
      kind: route.kind,
      automationName: route.target.family === 'automation' ? route.target.automationName : undefined,
      ageMs: run && emulatedMs() - run.startedAtMs,
    };
  }

  function struck(request: ServiceRequest, fault: Fault): Partial<Delivery> {
    if ('acts' in fault && fault.acts) service.answer(request);
    switch (fault.do) {
      case 'status': {
        const reply = cannedReply(fault);
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
        service.answer(request);
        return { wire: 'reset' };
      case 'wrongJson':
        return { reply: jsonReply(service.answer(request).status, { ok: true }) };
      case 'hangBody':
      case 'truncate':
        return { reply: service.answer(request), wire: fault.do };
      case 'drip':
        return { reply: service.answer(request), wire: 'drip', gapMs: toMs(fault.gap ?? '100ms') };
      case 'delay':
        return { reply: service.answer(request), delayMs: toMs(fault.delay) };
      case 'revokeKey':
        service.revoke(request.headers['x-api-key']);
        return { reply: service.answer(request) };
    }
  }

  function cannedReply({ status, body, headers = {} }: Extract<Fault, { do: 'status' }>): Reply {
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

  return (request) => {
    const route = routeOf(request.method, request.url);
    const fault = route.kind === 'astray' ? undefined : strike(circumstancesOf(route));
    const given = fault ? struck(request, fault) : { reply: service.answer(request) };
    return { wire: 'whole', delayMs: 0, gapMs: 0, fault: fault?.do, ...given };
  };
}
