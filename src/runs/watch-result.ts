import type { LastConfirmed } from './events.ts';
import type { Fault } from './fault.ts';
import type { Run } from './run.ts';
import type { Execution, RunResult } from './service.ts';

/** How watching a run came out. */
export type WatchResult = FinishedWatch | UnfinishedWatch;

export interface FinishedWatch {
  kind: 'finished';
  run: Run;
  execution: Execution;
  /** Absent for Agents, which have none, and where `resultFault` says why it could not be read. */
  result?: RunResult;
  resultFault?: Fault;
}

/** The run was left alone; its last confirmed status is given where there is one. */
export type UnfinishedWatch = LastConfirmed &
  (
    | {
        kind: 'timed_out';
        timeoutMs: number;
        /** Asked for a wait that ends after the timeout. */
        fault?: Fault;
      }
    /** No valid answer for `giveUpAfterMs`, or the service asks for a wait that is longer. */
    | { kind: 'gave_up'; giveUpAfterMs: number; fault: Fault }
    /** The service said no: a definite answer. */
    | { kind: 'refused'; fault: Fault }
    /** `reason` is that of the signal. */
    | { kind: 'interrupted'; reason: unknown }
  );
