import type { Connection } from '../connection/connection.ts';
import { followableOf } from '../connection/followable.ts';
import { type PolledOnce, pollRun } from '../connection/poll-once.ts';
import { isUnfinished } from '../journal/fold.ts';
import { isOpen } from '../journal/journal.ts';
import type { Run, Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { Followable } from '../watching/watch-run.ts';
import type { Plan } from './plan.ts';

type ActiveRun = Followable & { polled?: PolledOnce<Execution> };

/** The active run. Polled only if it will be followed, because the refusal says that it is running. */
export async function activeRun(run: Run, plan: Plan, connection: Connection): Promise<ActiveRun> {
  if (plan.watch) return pollRun(run, plan.pollGiveUpAfterMs, connection);
  return followableOf(run, connection.journal.find(run.executionId, connection), connection.context.clock);
}

/** When the active run began, if the journal knows it. */
export const startOfActive = (run: Run, { journal, baseUrl }: Connection) =>
  journal.find(run.executionId, { baseUrl })?.startedAt ?? undefined;

/** Can the run be attached to? If only the journal says that it is the active one, it must be unfinished. */
export function mayBeActive({ polled }: ActiveRun, { isNamed }: { isNamed: boolean }): boolean {
  if (polled?.kind === 'failed') return polled.problem.facts.name !== 'not_found';
  return isNamed || polled?.value.isFinal !== true;
}

/** A target's last run, if it was unfinished when last polled. */
export function lastUnfinished(target: Target, { journal, baseUrl, context }: Connection): string | undefined {
  for (const run of journal.runs({ baseUrl, target })) {
    if (run.executionId === null) continue;
    return isUnfinished(run) && isOpen(run, context.clock.nowMs()) ? run.executionId : undefined;
  }
  return undefined;
}
