import type { Fault } from '../runs/fault.ts';
import type { Execution } from '../runs/service.ts';

/** What must be on record, and when. The journal writes it; a crash between two calls leaves what `recover` needs. */
export interface TriggerRecord {
  /** Called before the first byte is sent; on disk when it returns. */
  sending(): void;
  /** An attempt was sent whose outcome is unknown: the trigger stays unresolved. */
  inDoubt(fault: Fault, attempt: AttemptInDoubt): void;
  started(execution: StartedExecution): void;
  /** No attempt of ours can have started a run. False when that could not be written. */
  refused(fault: Fault): boolean;
  /** Is another trigger of this machine known to have started this run? */
  isOfAnother(executionId: string): boolean;
  /** What is on record of the idempotency key by now: another process may have sent the same one. */
  readKey(): RecordedKey | undefined;
}

interface AttemptInDoubt {
  /** When the last such attempt was sent, by the wall clock, in milliseconds; undefined where none was. */
  sentAtMs?: number;
  /** This process will not send the trigger again. */
  isLast: boolean;
}

/** An idempotency key on record, of whichever process: it has started this run, or nobody knows yet. */
export type RecordedKey = { state: 'accepted'; executionId: string } | { state: 'open'; ageMs: number };

export type StartedExecution = Execution & { executionId: string };
