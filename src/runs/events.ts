import type { Fault } from './fault.ts';
import type { Run } from './run.ts';
import type { Execution } from './service.ts';

/** The last confirmed status of a run, and its age; both undefined before the first valid answer. */
export interface LastConfirmed {
  run: Run;
  execution?: Execution;
  /** Milliseconds since it was confirmed. */
  ageMs?: number;
}

/** What happens while runs are triggered and watched. The terminal, the log and `--events` show these alone. */
export type RunEvent = {
  /** The run is not one of those asked for: it only has to finish before ours can start (`--if-active wait`). */
  isOther?: true;
} & (
  | { event: 'triggered'; run: Run; execution?: Execution; replayed: boolean }
  | { event: 'status'; run: Run; execution: Execution; changed: boolean }
  | ({
      event: 'poll_failed';
      fault: Fault;
      /** In a row. */
      failures: number;
      /** Time without a valid answer. */
      silentMs: number;
      retryInMs: number;
    } & LastConfirmed)
  /** The first valid answer after failed polls. */
  | { event: 'service_back'; run: Run; afterMs: number }
  | ({ event: 'waiting'; nextPollMs: number } & LastConfirmed)
  | { event: 'final'; run: Run; execution: Execution }
);
