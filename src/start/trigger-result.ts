import type { Attribution } from '../run/attribution.ts';
import type { Fault } from '../run/fault.ts';
import type { InDoubtReason } from '../run/in-doubt.ts';
import type { ActiveRunWaitEnd, RunHandle, TriggerOutcome } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { IfActive } from '../run/trigger.ts';

/** What the user asks for: which run to start, and how. */
export interface StartRequest {
  target: Target;
  /** The body of the request. */
  body: string;
  /** Given by the user. */
  idempotencyKey: string | undefined;
  ifActive: IfActive | undefined;
}

/**
 * What sending a trigger has shown: whether it has a run. A `TriggerOutcome` of the same kind is
 * what the user is told of it.
 */
export type TriggerResult =
  | RunOfTrigger
  | NoRunOfTrigger
  | { kind: 'in_doubt'; reason: InDoubtReason };

export interface RunOfTrigger {
  kind: 'has_run';
  executionId: string;
  attribution: Attribution;
  /** Undefined if another process got the run, so that only the journal has it. */
  response?: { snapshot: RunSnapshot; retryAfterMs?: number };
}

export interface NoRunOfTrigger {
  kind: 'no_run';
  /** Why the last attempt failed. */
  fault: Fault;
  /** A signal ended the command. */
  isInterrupted?: boolean;
  /** The API key was refused, and there is another one by now. */
  hasNewApiKey?: boolean;
  /** What ended the wait for the active run. */
  waitEnd?: ActiveRunWaitEnd;
}

/** How a request to start a run ended. */
export interface StartResult {
  outcome: TriggerOutcome;
  /** The run, if it can be watched. */
  handle?: RunHandle;
}
