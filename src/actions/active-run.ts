import type { Connection } from '../connection/connection.ts';
import { isUnfinished } from '../journal/fold.ts';
import { isOpen } from '../journal/journal.ts';
import type { Run, Target } from '../run/run.ts';

/** When the active run began, if the journal knows it. */
export const startOfActive = (run: Run, { journal, baseUrl }: Connection) =>
  journal.find(run.executionId, { baseUrl })?.startedAt ?? undefined;

/** A target's last run, if it was unfinished when last polled. */
export function lastUnfinished(target: Target, { journal, baseUrl, context }: Connection): string | undefined {
  for (const run of journal.runs({ baseUrl, target })) {
    if (run.executionId === null) continue;
    return isUnfinished(run) && isOpen(run, context.clock.nowMs()) ? run.executionId : undefined;
  }
  return undefined;
}
