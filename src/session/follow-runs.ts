import { endedBy } from '../context.ts';
import type { CommandResult } from '../render/command-result.ts';
import type { FollowedArgument } from './argument-result.ts';
import { type FollowFlags, followRun, reportManyRuns } from './follow-run.ts';
import { failFastReason } from './followed.ts';
import type { KnownRun } from './known-run.ts';
import { createDoneReport, isOk, reportResults } from './report.ts';
import { type Session, sessionEndedBy, withReporter } from './session.ts';

export interface FollowAllFlags extends FollowFlags {
  /** Several runs were named, or could have been: the data is an array. */
  plural: boolean;
  failFast?: boolean;
}

/** Follows runs side by side, each once, then reports how each ended, in the order given. */
export async function followAll(runs: KnownRun[], flags: FollowAllFlags, base: Session): Promise<CommandResult> {
  const keyOf = ({ run }: KnownRun) => JSON.stringify(run);
  const distinct = new Map(runs.map((known) => [keyOf(known), known]));
  const session = await withReporter(base, flags, distinct.size);
  const { context, reporter } = session;
  try {
    reportManyRuns(distinct.size, flags, session);
    const enough = new AbortController();
    const watching = sessionEndedBy(session, context.stdout.closed);
    const { signal: leave } = endedBy(watching.context, enough.signal);
    const reportDone = createDoneReport(session, distinct.size);
    const followOne = async (known: KnownRun): Promise<FollowedArgument> => {
      const result = { kind: 'followed', ...(await followRun(known, flags, watching, { leave })) } as const;
      if (flags.failFast && !isOk(result)) enough.abort(failFastReason);
      reportDone(result);
      return result;
    };
    const follows = new Map([...distinct].map(([key, known]) => [key, followOne(known)]));
    const results = await Promise.all(runs.map((known) => follows.get(keyOf(known)) as Promise<FollowedArgument>));
    return await reportResults(results, flags, session);
  } finally {
    reporter.stop();
  }
}
