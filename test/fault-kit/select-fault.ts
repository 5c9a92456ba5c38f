import type { Endpoint } from '../../src/run/service.ts';
import { type Fault, toMs } from './scenario.ts';

export interface Circumstances {
  kind: Endpoint;
  automationName: string;
  /** By the emulator's clock; undefined for a trigger and an unknown run. */
  ageMs?: number;
}

/** Selects the first fault whose conditions are met. Each fault counts its requests, also those that another gets. */
export function createFaultSelector(faults: readonly Fault[], random: () => number) {
  const counted = faults.map((fault) => ({ fault, count: 0 }));
  return (request: Circumstances): Fault | undefined => {
    const concerned = counted.filter(({ fault }) => concerns(fault, request));
    for (const entry of concerned) entry.count += 1;
    return concerned.find(({ fault, count }) => isDue(fault, count) && random() < (fault.chance ?? 1))?.fault;
  };
}

function concerns({ on = 'any', automation, during }: Fault, { kind, automationName, ageMs }: Circumstances): boolean {
  if (on !== 'any' && on !== kind) return false;
  if (automation !== undefined && automation !== automationName) return false;
  if (!during) return true;
  const fromMs = toMs(during.after ?? '0s');
  const untilMs = during.for === undefined ? Number.POSITIVE_INFINITY : fromMs + toMs(during.for);
  return ageMs !== undefined && ageMs >= fromMs && ageMs < untilMs;
}

function isDue({ nth, from = 1, to = Number.POSITIVE_INFINITY }: Fault, count: number): boolean {
  return (nth === undefined || count === nth) && count >= from && count <= to;
}
