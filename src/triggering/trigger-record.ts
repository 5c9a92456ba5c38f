import type { Fault } from '../run/fault.ts';
import type { Evidence, StartedRun } from './start-evidence.ts';

/** What must be recorded, and when: a crash between two calls leaves what `recover` needs. */
export interface TriggerRecord<R extends StartedRun = StartedRun> {
  sending(): void; // called before the first byte is sent; on disk when it returns
  /** The trigger was sent, and its outcome is unknown. `isLast`: this process will not send it again. */
  inDoubt(fault: Fault, attempt: { isLast: boolean }): void;
  started(run: R, evidence: Evidence): void;
  refused(fault: Fault): void; // none of this command's attempts started a run
  readKey(): RecordedKey | undefined;
}

/** The journal's record of an idempotency key, which another process may have sent, too. */
export type RecordedKey = { state: 'accepted'; executionId: string } | { state: 'open'; ageMs: number };
