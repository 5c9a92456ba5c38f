import type { Fault } from '../runs/fault.ts';
import type { Execution } from '../runs/service.ts';

/** What must be recorded, and when: a crash between two calls leaves what `recover` needs. */
export interface TriggerRecord {
  sending(): void; // called before the first byte is sent; on disk when it returns
  inDoubt(fault: Fault, attempt: AttemptInDoubt): void; // the trigger was sent, and its outcome is unknown
  started(execution: StartedExecution, evidence?: StartEvidence): void;
  /** None of our attempts started a run. False if that couldn't be written. */
  refused(fault: Fault): boolean;
  isOfAnother(executionId: string): boolean; // did another trigger of this machine start the run, according to the journal?
  readKey(): RecordedKey | undefined;
  /** May an attempt in doubt be sent again? Not if the service was seen to ignore idempotency keys. */
  isRepeatable(): boolean;
}

interface AttemptInDoubt {
  sentAtMs?: number; // of the last attempt in doubt, by the wall clock
  isLast: boolean; // this process will not send the trigger again
}

/** The journal's record of an idempotency key, which another process may have sent, too. */
export type RecordedKey =
  | { state: 'accepted'; executionId: string; isByTime?: true }
  | { state: 'open'; ageMs: number };

/** What a response shows the service to do with an idempotency key that it has seen before. */
export type KeyTreatment = 'honored' | 'ignored';

export interface StartEvidence {
  isByTime?: true; // only the run's start time shows that this trigger started it
  isKeyHonored?: boolean; // the response showed that the service honors idempotency keys
}

export type StartedExecution = Execution & { executionId: string };
