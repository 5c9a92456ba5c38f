import type { RunPlan } from '../../src/emulator/run.ts';
import type { Endpoint } from '../../src/run/service.ts';
import { parseDuration } from '../../src/system/time-text.ts';

/** What a test wants of the service, beyond what the scenarios of `runctl emulator` show. Everything is optional. */
export interface Scenario {
  /** What the runs of each automation do, by name; `*` means all other names, which get a 404 without it. */
  automations?: Record<string, Plan>;
  /** The first one that matches a request is applied to it. */
  faults?: readonly Fault[];
  /** What is checked first for a trigger: the idempotency key (the default), or whether a run is active. */
  order?: 'keyFirst' | 'activeFirst';
  idempotencyKeys?: 'honored' | 'ignored';
  /** Repeating a refused trigger with the same key returns the same refusal. */
  replayErrors?: boolean;
  /** A 422 `runAlreadyActive` names the active run. */
  namesActiveRun?: boolean;
  /** The credit balance; at 0, a trigger gets a 402. */
  credits?: number;
  /** API keys that are accepted beside the emulator's own. */
  apiKeys?: readonly string[];
}

export interface Plan extends Omit<RunPlan, 'durationMs' | 'finalStatus'> {
  duration?: string;
  /** A list: the first run gets the first one, the second run the second, and later runs the last. */
  finalStatus?: string | readonly string[];
  /** For so long after the trigger, the run can't be found. */
  statusLate?: string;
  /** For so long after the run has finished, its result still says RUNNING. */
  resultLate?: string;
  /** Fields to add to the responses, or to replace in them; one that is undefined is left out. */
  extra?: Record<string, unknown>;
}

/** Which requests a fault strikes. */
export interface Condition {
  on?: Endpoint | 'any';
  automation?: string;
  /** Only while the run has a certain age. */
  during?: { after?: string; for?: string };
  /** This and the next two count the requests that meet the conditions above, from 1. */
  nth?: number;
  from?: number;
  to?: number;
  /** From 0 to 1. */
  chance?: number;
}

/** `acts`: the service acts on the request all the same. */
export type Fault = Condition &
  (
    | { do: 'status'; status: number; body?: object; headers?: Record<string, string>; acts?: boolean }
    | { do: 'html'; status?: number; acts?: boolean }
    | { do: 'reset' | 'close' | 'hang'; acts?: boolean }
    | { do: 'loseAnswer' | 'hangBody' | 'truncate' | 'wrongJson' | 'revokeKey' }
    | { do: 'delay'; delay: string }
  );

/** The service starts the run, and its response never comes: of each trigger, or of those that the condition names. */
export const loseResponse = (which: Omit<Condition, 'on'> = {}): Fault => ({
  on: 'trigger',
  do: 'loseAnswer',
  ...which,
});

/** Throws for what is no duration, which would else be none. */
export function toMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new Error(`${text} is no duration`);
  return ms;
}
