import type { LastConfirmed } from '../runs/events.ts';
import type { Fault } from '../runs/fault.ts';
import type { Run } from '../runs/run.ts';
import type { Execution, RunResult } from '../runs/service.ts';

/** How watching a run came out. */
export type WatchResult = FinishedWatch | UnfinishedWatch;

export interface FinishedWatch {
  kind: 'finished';
  run: Run;
  execution: Execution;
  /** Absent for Agents, which have none, and where `resultFault` says why it could not be read. */
  result?: RunResult;
  resultFault?: Fault;
  /** The final statuses of status and result, where they differ: `execution` and `result` have the graver. */
  disagreement?: { status: string; result: string };
}

/** The run was left alone; its last confirmed status is given where there is one. */
export type UnfinishedWatch = LastConfirmed & WatchEnd;

/** Why polling ended before there was an answer. */
export type WatchEnd =
  | {
      kind: 'timed_out';
      timeoutMs: number;
      /** Asked for a wait that ends after the timeout. */
      fault?: Fault;
    }
  /** No valid answer for `giveUpAfterMs`, or the service asked twice for a wait that ends after the timeout. */
  | { kind: 'gave_up'; giveUpAfterMs: number; fault: Fault }
  /** The service said no, and kept saying so. */
  | { kind: 'refused'; fault: Fault }
  /** `reason` is that of the signal. */
  | { kind: 'interrupted'; reason: unknown };
