import { toMs } from './emulated-run.ts';
import type { Fault } from './scenario.ts';

/** What a fault's conditions look at. */
export interface Circumstances {
  kind: 'trigger' | 'status' | 'result';
  automationName?: string;
  /** The run in question, by the emulator's clock; undefined for a trigger and for an unknown run. */
  ageMs?: number;
}

/**
 * Decides which fault strikes a request: the first whose conditions are all met.
 * Every fault counts its own requests, also those that another one struck.
 */
export function createFaultPlan(faults: readonly Fault[], random: () => number) {
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

function isDue({ nth = 0, from = 1, to = Number.POSITIVE_INFINITY, every = 1 }: Fault, count: number): boolean {
  return (nth === 0 || count === nth) && count >= from && count <= to && count % every === 0;
}
