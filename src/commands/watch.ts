import { Command } from 'commander';
import { define } from '../cli/command.ts';
import { runHelp, withWatchFlags } from '../cli/options.ts';
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
import type { CommandContext } from '../context.ts';
import { runHandleOf } from '../journal/run-handle.ts';
import type { CommandResult } from '../output/command-result.ts';
import { isUnfinished, runOf } from '../run/entry.ts';
import { defaults } from '../run/limits.ts';
import type { RunHandle, TargetOutcome } from '../run/outcome.ts';
import { usageProblem } from '../run/problem.ts';
import { namedRuns, printLastRun } from './named-runs.ts';
import { connectToWatch, type WatchFlags, watchAndReport } from './watch-and-report.ts';

const command = withWatchFlags(
  new Command('watch')
    .description('follow runs until they finish and print summaries')
    .argument('[run...]', runHelp)
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
    if (options.all) {
      if (runArguments.length === 0) return watchUnfinished(options, context);
      throw usageProblem('--all takes no run arguments', 'leave out one of the two');
    }
    const { texts, isDefault } = namedRuns(runArguments, options, context);
    const named = texts.map(parseRunArgument);
    const needed = named.some(isFromJournal);
    const connection = await connectToWatch(options, context, { needed });
    const handles = await findRuns(named, connection);
    if (isDefault) for (const { run } of handles) printLastRun(run, context);
    return watchAll(handles, options, connection);
  },
});

async function watchUnfinished(flags: WatchFlags, context: CommandContext): Promise<CommandResult> {
  const connection = await connectToWatch(flags, context, { needed: true });
  const handles = await unfinishedRuns(connection);
  if (handles.length > 0) return watchAll(handles, flags, connection);
  const isSilent = flags.quiet || isJournalIncomplete(context);
  return { forPeople: { note: isSilent ? undefined : 'No unfinished runs.' } };
}

async function findRuns(named: RunArgument[], connection: Connection): Promise<RunHandle[]> {
  const handles: RunHandle[] = [];
  for (const argument of named) handles.push(await findRun(argument, connection));
  return handles;
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
 * Watches each run once, even if it was named twice, and reports them in the order of the
 * arguments.
 */
function watchAll(
  handles: readonly RunHandle[],
  flags: WatchFlags,
  connection: Connection,
): Promise<CommandResult> {
  const distinct = new Map(handles.map((handle) => [keyOf(handle), handle]));
  return watchAndReport(distinct.size, flags, connection, async (watcher) => {
    const watchOne = async (handle: RunHandle): Promise<TargetOutcome> => {
      const outcome = await watcher.watch(handle);
      watcher.done(outcome);
      return outcome;
    };
    const watches = new Map([...distinct].map(([key, handle]) => [key, watchOne(handle)]));
    return Promise.all(handles.flatMap((handle) => watches.get(keyOf(handle)) ?? []));
  });
}

const keyOf = ({ run }: RunHandle) => JSON.stringify(run);
