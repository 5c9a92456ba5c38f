import type { LastConfirmed } from '../run/events.ts';
import type { Fault } from '../run/fault.ts';
import type { Run } from '../run/run.ts';
import type { Execution, RunResult } from '../run/service.ts';

export type WatchResult = FinishedWatch | UnfinishedWatch;

export interface FinishedWatch {
  kind: 'finished';
  run: Run;
  execution: Execution;
  result?: RunResult; // if there is none, `resultFault` says why
  resultFault?: Fault;
  /** The two statuses that the service reported, if they differ. `execution` and `result` have the more serious one. */
  disagreement?: { status: string; result: string };
}

export type UnfinishedWatch = LastConfirmed & WatchEnd;

export type WatchEnd =
  | {
      kind: 'timed_out';
      timeoutMs: number;
      fault?: Fault; // the last failure, if `Retry-After` asked for a wait beyond the timeout
    }
  | { kind: 'gave_up'; giveUpAfterMs: number; fault: Fault }
  | { kind: 'refused'; fault: Fault } // the service refused the polls for long enough, or at once
  /** `askedUntilMs`: it was waiting until then, by the wall clock, because the service asked for that. */
  | { kind: 'interrupted'; reason: unknown; askedUntilMs?: number };
