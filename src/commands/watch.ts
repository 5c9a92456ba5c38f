import { Command } from 'commander';
import { define } from '../cli/command.ts';
import { aboutRun, following } from '../cli/options.ts';
import {
  flawOfRun,
  isFromJournal,
  parseRunArgument,
  type RunArgument,
} from '../connection/arguments.ts';
import type { Connection } from '../connection/connection.ts';
import { findRun } from '../connection/find-run.ts';
import { isJournalIncomplete } from '../connection/open-journal.ts';
import { refreshRuns } from '../connection/refresh.ts';
import { runHandleOf } from '../journal/run-handle.ts';
import type { Result } from '../output/result.ts';
import { isUnfinished, runOf } from '../run/entry.ts';
import { defaults } from '../run/limits.ts';
import type { RunHandle, TargetOutcome } from '../run/outcome.ts';
import { usageProblem } from '../run/problem.ts';
import { connectToFollow, type FollowFlags, followAndReport } from './follow.ts';
import { namedRuns, sayLastRun } from './named-runs.ts';

const command = following(
  new Command('watch')
    .description('follow runs until they finish and print summaries')
    .argument('[run...]', aboutRun)
    .option('--all', 'every unfinished run of the journal'),
);

export const watch = define(command, {
  flawOf: flawOfRun,
  examples: [
    ['runctl watch @last', 'follow the last run'],
    ['runctl watch nightly weekly', 'follow the last runs of two automations'],
    ['runctl watch --all', 'follow every unfinished run'],
    [
      'runctl watch @last --timeout 10m --quiet',
      'print only errors, and exit with 124 after ten minutes',
    ],
    [
      'runctl watch @last --on-final \'notify-send runctl "$RUNCTL_STATUS"\'',
      'run a command when the run has finished',
    ],
  ],
  async run([runArguments], options, context) {
    if (options.all && runArguments.length > 0)
      throw usageProblem('--all takes no run arguments', 'leave out one of the two');
    const { texts, isDefault } = options.all ? noRuns : namedRuns(runArguments, options, context);
    const named = texts.map(parseRunArgument);
    const needed = options.all || named.some(isFromJournal);
    const connection = await connectToFollow(options, context, { needed });
    const runs = options.all ? await unfinishedRuns(connection) : await findRuns(named, connection);
    if (isDefault) for (const { run } of runs) sayLastRun(run, context);
    if (runs.length === 0) {
      const isSilent = options.quiet || isJournalIncomplete(context);
      return { forPeople: { note: isSilent ? undefined : 'No unfinished runs.' } };
    }
    return followAll(runs, options, connection);
  },
});

const noRuns = { texts: [], isDefault: false };

async function findRuns(named: RunArgument[], connection: Connection): Promise<RunHandle[]> {
  const runs: RunHandle[] = [];
  for (const argument of named) runs.push(await findRun(argument, connection));
  return runs;
}

/**
 * The unfinished runs, oldest first. Runs that the service didn't know are included if it knows
 * them again.
 */
async function unfinishedRuns(connection: Connection): Promise<RunHandle[]> {
  const { journal, baseUrl, clock } = connection;
  const open = journal.pollable({ baseUrl });
  const unfinished = open.filter(isUnfinished);
  const notFound = open.filter(({ kind }) => kind === 'not_found');
  const { current } = await refreshRuns(notFound, defaults.listGiveUpAtTerminalMs, connection);
  const again = notFound.filter(({ executionId }) => current.has(executionId));
  return [...unfinished, ...again]
    .reverse()
    .map((entry) => runHandleOf(runOf(entry), entry, clock));
}

/**
 * Follows each run once, even if it was named twice, and reports them in the order of the
 * arguments.
 */
function followAll(
  runs: readonly RunHandle[],
  flags: FollowFlags,
  connection: Connection,
): Promise<Result> {
  const distinct = new Map(runs.map((handle) => [keyOf(handle), handle]));
  return followAndReport(distinct.size, flags, connection, async ({ follow, done }) => {
    const followOne = async (handle: RunHandle): Promise<TargetOutcome> => {
      const outcome = await follow(handle);
      done(outcome);
      return outcome;
    };
    const follows = new Map([...distinct].map(([key, handle]) => [key, followOne(handle)]));
    return Promise.all(runs.flatMap((handle) => follows.get(keyOf(handle)) ?? []));
  });
}

const keyOf = ({ run }: RunHandle) => JSON.stringify(run);
