import { alsoEndedBy, type Connection } from '../connection/connection.ts';
import type { CommandResult } from '../output/output.ts';
import type { Followable } from '../watching/watch-run.ts';
import { type FollowedRun, followRun } from './follow-run.ts';
import { startFollowing } from './following.ts';
import type { Plan } from './plan.ts';
import { createDoneReport, reportResults } from './report-results.ts';

/** Follows each run once, and reports in the order given. */
export async function followAll(runs: Followable[], plan: Plan, connection: Connection): Promise<CommandResult> {
  const keyOf = ({ run }: Followable) => JSON.stringify(run);
  const count = new Set(runs.map(keyOf)).size;
  const following = await startFollowing(connection, plan, count);
  const { context } = following;
  try {
    const watching = alsoEndedBy(following, context.stdout.closed);
    const reportDone = createDoneReport(following, count);
    const followOne = async (followable: Followable): Promise<FollowedRun> => {
      const followed = await followRun(followable, plan, watching);
      reportDone(followed);
      return followed;
    };
    const follows = new Map<string, Promise<FollowedRun>>();
    const follow = (followable: Followable): Promise<FollowedRun> => {
      const key = keyOf(followable);
      const started = follows.get(key) ?? followOne(followable);
      follows.set(key, started);
      return started;
    };
    const outcomes = await Promise.all(runs.map(follow));
    await following.hooks.waitForAll();
    return await reportResults(outcomes, plan, following);
  } finally {
    context.reporter.stop();
  }
}
