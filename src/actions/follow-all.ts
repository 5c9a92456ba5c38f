import { alsoEndedBy, type Connection } from '../connection/connection.ts';
import type { RunToPoll } from '../connection/run-to-poll.ts';
import type { CommandResult } from '../render/output.ts';
import type { Run } from '../runs/run.ts';
import type { ActionFlags } from './action-flags.ts';
import { followRun, reportManyRuns } from './follow-run.ts';
import { createFollowing, type Following, withBoard } from './following.ts';
import { type ArgumentResult, type Followed, resultOfFollow } from './outcome.ts';
import { createDoneReport, reportResults } from './report-results.ts';

/** Follows each run once, and reports in the order given. */
export async function followAll(runs: RunToPoll[], flags: ActionFlags, connection: Connection): Promise<CommandResult> {
  const keyOf = ({ run }: RunToPoll) => JSON.stringify(run);
  const count = new Set(runs.map(keyOf)).size;
  const following = createFollowing(await withBoard(connection, flags, count), flags, count);
  const { context } = following;
  try {
    const watching = alsoEndedBy(following, context.stdout.closed);
    const reportDone = createDoneReport(following, count);
    const followOne = async (runToPoll: RunToPoll): Promise<ArgumentResult> => {
      const followed = await followRun(runToPoll, flags, watching);
      const isForgotten = flags.all && isClosed(runToPoll.run, followed, following);
      const result = resultOfFollow({ ...followed, isForgotten }, following);
      reportDone(result);
      return result;
    };
    const follows = new Map<string, Promise<ArgumentResult>>();
    const follow = (runToPoll: RunToPoll): Promise<ArgumentResult> => {
      const key = keyOf(runToPoll);
      const started = follows.get(key) ?? followOne(runToPoll);
      follows.set(key, started);
      return started;
    };
    reportManyRuns(count, flags, following);
    const results = await Promise.all(runs.map(follow));
    await following.hooks.waitForAll();
    return await reportResults(results, flags, following);
  } finally {
    context.reporter.stop();
  }
}

/** Does the journal no longer count the run as unfinished, because the service doesn't know it? */
function isClosed({ executionId }: Run, { problem }: Followed, { journal, baseUrl }: Following): boolean {
  return problem?.facts.name === 'not_found' && journal.find(executionId, { baseUrl, fresh: true })?.status === null;
}
