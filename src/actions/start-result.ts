import type { Problem } from '../problems/problem.ts';
import type { Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { KnownRun } from '../session/known-run.ts';
import type { PolledOnce } from '../session/poll-once.ts';
import type { StartedTrigger } from '../triggering/trigger.ts';
import type { StartedExecution } from '../triggering/trigger-record.ts';

export type FoundRun = KnownRun & { polled?: PolledOnce<Execution> };

export type StartResult = {
  idempotencyKey?: string;
} & (
  | ({ kind: 'started' } & Pick<StartedTrigger, 'started' | 'isByTime'> & {
        /** `recovered`: by an earlier attempt, whose answer was lost. */
        how: 'started' | 'recovered';
        execution: StartedExecution;
      } & KnownRun)
  /** A run that was there before: its idempotency key had been used, or it is the active one. */
  | ({ kind: 'replayed' | 'attached' } & FoundRun)
  | { kind: 'skipped'; target: Target; activeId?: string }
  /** There is no run of ours, or nobody knows. */
  | { kind: 'failed'; target: Target; problem: Problem }
);
