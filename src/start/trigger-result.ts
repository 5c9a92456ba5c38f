import type { Attribution } from '../run/attribution.ts';
import type { Fault } from '../run/fault.ts';
import type { ActiveRunWaitEnd, InDoubtReason, RunHandle, TriggerOutcome } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { IfActive } from '../run/trigger.ts';

/** What to start. */
export interface StartRequest {
  target: Target;
  /** The exact bytes. */
  body: string;
  /** Given by the user. */
  idempotencyKey: string | undefined;
  ifActive: IfActive | undefined;
}

/** How a trigger ended: does it have a run? */
export type TriggerResult =
  | RunOfTrigger
  | NoRunOfTrigger
  | { kind: 'in_doubt'; reason: InDoubtReason };

interface RunOfTrigger {
  kind: 'has_run';
  executionId: string;
  attribution: Attribution;
  /** Undefined if another process got it, so that only the journal has the run. */
  response?: { snapshot: RunSnapshot; retryAfterMs?: number };
}

interface NoRunOfTrigger {
  kind: 'no_run';
  /** Why the last attempt failed. */
  fault: Fault;
  /** The user left. */
  isInterrupted?: boolean;
  /** The API key was refused, and there is another one by now. */
  hasNewApiKey?: boolean;
  /** What ended the wait for another run. */
  waitEnd?: ActiveRunWaitEnd;
}

export type ResultWithoutRun = Exclude<TriggerResult, { kind: 'has_run' }>;

/** What became of a request to start a run. */
export interface StartResult {
  outcome: TriggerOutcome;
  /** The run, if it can be watched. */
  handle?: RunHandle;
}
