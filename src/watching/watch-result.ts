import type { LastConfirmed } from '../runs/events.ts';
import type { Fault } from '../runs/fault.ts';
import type { Run } from '../runs/run.ts';
import type { Execution, RunResult } from '../runs/service.ts';

export type WatchResult = FinishedWatch | UnfinishedWatch;

export interface FinishedWatch {
  kind: 'finished';
  run: Run;
  execution: Execution;
  /** Agents have none; `resultFault` says why another is missing. */
  result?: RunResult;
  resultFault?: Fault;
  /** Where they differ, `execution` and `result` have the graver one. */
  disagreement?: { status: string; result: string };
}

/** The run was left alone. */
export type UnfinishedWatch = LastConfirmed & WatchEnd;

export type WatchEnd =
  | {
      kind: 'timed_out';
      timeoutMs: number;
      /** Asked for a wait that ends after the timeout. */
      fault?: Fault;
    }
  /** No valid answer for `giveUpAfterMs`, or the service asked twice for a wait that ends after the timeout. */
  | { kind: 'gave_up'; giveUpAfterMs: number; fault: Fault }
  | { kind: 'refused'; fault: Fault }
  | { kind: 'interrupted'; reason: unknown };
