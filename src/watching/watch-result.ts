import type { LastConfirmed } from '../runs/events.ts';
import type { Fault } from '../runs/fault.ts';
import type { Run } from '../runs/run.ts';
import type { Execution, RunResult } from '../runs/service.ts';

export type WatchResult = FinishedWatch | UnfinishedWatch;

export interface FinishedWatch {
  kind: 'finished';
  run: Run;
  execution: Execution;
  result?: RunResult; // Agents have none; `resultFault` says why another is missing
  resultFault?: Fault;
  /** Where they differ, `execution` and `result` have the graver one. */
  disagreement?: { status: string; result: string };
}

export type UnfinishedWatch = LastConfirmed & WatchEnd;

export type WatchEnd =
  | {
      kind: 'timed_out';
      timeoutMs: number;
      fault?: Fault; // asked for a wait that ends after the timeout
    }
  /** No valid answer for `giveUpAfterMs`, or the service asked twice for a wait that ends after the timeout. */
  | { kind: 'gave_up'; giveUpAfterMs: number; fault: Fault }
  | { kind: 'refused'; fault: Fault } // the service said no, and kept saying so
  | { kind: 'interrupted'; reason: unknown };
