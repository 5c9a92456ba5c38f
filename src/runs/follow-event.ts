import type { Problem } from '../problems/problem.ts';
import type { Run } from './run.ts';
import type { Execution, Fault } from './service.ts';

export interface LastKnown {
  run: Run;
  /** The last confirmed state and how long ago it was confirmed; undefined before the first good answer. */
  status?: string;
  ageMs?: number;
}

/** What happens while runs are triggered and followed. Renderers and `--events` live on these alone. */
export type FollowEvent = {
  /** The run is not one of those asked for: it only has to end before ours can start (`--if-active wait`). */
  isOther?: true;
} & (
  | { event: 'triggered'; run: Run; execution?: Execution; replayed: boolean }
  | { event: 'status'; run: Run; execution: Execution; changed: boolean }
  | ({
      event: 'poll_failed';
      fault: Fault;
      /** In a row. */
      failures: number;
      quietMs: number;
      retryInMs: number;
    } & LastKnown)
  | { event: 'recovered'; run: Run; afterMs: number }
  | ({ event: 'waiting'; nextLookMs: number } & LastKnown)
  | { event: 'final'; run: Run; execution: Execution }
  | { event: 'problem'; run: Run; problem: Problem }
);
