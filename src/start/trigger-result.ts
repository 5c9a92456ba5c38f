import type { Attribution } from '../run/attribution.ts';
import type { Fault } from '../run/fault.ts';
import type { ActiveRunWaitEnd, InDoubtReason, RunHandle, TriggerOutcome } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import type { RunStatus } from '../run/service.ts';
import type { IfActive } from '../run/trigger.ts';

/** What to start. */
export interface StartRequest {
  target: Target;
  body: string; // the exact bytes
  idempotencyKey: string | undefined; // given by the user
  ifActive: IfActive | undefined;
}

/** How a trigger ended: does it have a run? */
export type TriggerResult = RunOfTrigger | NoRunOfTrigger | { kind: 'in_doubt'; reason: InDoubtReason };

interface RunOfTrigger {
  kind: 'has_run';
  executionId: string;
  attribution: Attribution;
  /** Undefined if another process got it, so that only the journal has the run. */
  response?: { status: RunStatus; retryAfterMs?: number };
}

interface NoRunOfTrigger {
  kind: 'no_run';
  fault: Fault; // why the last attempt failed
  isInterrupted?: boolean; // the user left
  hasNewApiKey?: boolean; // the API key was refused, and there is another one by now
  waitEnd?: ActiveRunWaitEnd; // what ended the wait for another run
}

export type ResultWithoutRun = Exclude<TriggerResult, { kind: 'has_run' }>;

/** What became of a request to start a run. */
export interface StartResult {
  outcome: TriggerOutcome;
  handle?: RunHandle; // the run to follow
}
