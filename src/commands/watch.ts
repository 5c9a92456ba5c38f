import { Command } from 'commander';
import { followAll } from '../actions/follow-all.ts';
import { planOf } from '../actions/plan.ts';
import { define } from '../cli/command.ts';
import { giveUpAfter, interval, onFinal, rate, timeout } from '../cli/options.ts';
import { flawOfRun, isFromJournal, parseRunArgument, type RunArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { findRun } from '../connection/find-run.ts';
import { followableOf } from '../connection/followable.ts';
import { refreshRuns } from '../connection/poll-once.ts';
import { usageProblem } from '../run/problem.ts';
import type { Followable } from '../watching/watch-run.ts';

const command = new Command('watch')
  .description('follow runs until they finish and print summaries')
  .argument('[run...]', 'as for `runctl status`')
  .option('--all', 'every unfinished run of the journal')
  .optionsGroup('Following:')
  .addOption(timeout)
  .addOption(giveUpAfter)
  .addOption(interval)
  .addOption(rate)
  .addOption(onFinal);

export const watch = define(command, {
  flawOf: flawOfRun,
  examples: [
    ['runctl watch', 'the last run'],
    ['runctl watch nightly weekly', 'the last runs of two automations'],
    ['runctl watch --all', 'every unfinished run'],
    ['runctl watch --timeout 10m --quiet', 'print only errors; exit with 124 after ten minutes'],
    ['runctl watch --on-final \'notify-send runctl "$RUNCTL_STATUS"\'', 'run a command when the run has finished'],
  ],
  async run([runArguments], options, context) {
    if (options.all && runArguments.length > 0)
      throw usageProblem('--all takes no run arguments', 'leave out one of the two');
    const texts = runArguments.length > 0 ? runArguments : ['@last'];
    const named = texts.map(parseRunArgument);
    const needed = options.all || named.some(isFromJournal);
    const connection = await connect(options, context, { needed });
    const runs = options.all ? await unfinishedRuns(connection) : await findRuns(named, connection);
    if (runs.length === 0) {
      return { note: options.quiet ? undefined : 'No unfinished runs.' };
    }
    return followAll(runs, planOf(options), connection);
  },
});

async function findRuns(named: RunArgument[], connection: Connection): Promise<Followable[]> {
  const runs: Followable[] = [];
  for (const argument of named) runs.push(await findRun(argument, connection));
  return runs;
}

/** Oldest first, and those that the service knows again. */
async function unfinishedRuns(connection: Connection): Promise<Followable[]> {
  const { journal, baseUrl, context } = connection;
  const unfinished = journal.unfinishedRuns({ baseUrl });
  const forgotten = journal.forgottenRuns({ baseUrl });
  const { current } = await refreshRuns(forgotten, connection);
  const runs = [...unfinished, ...forgotten.filter(({ executionId }) => current.has(executionId))].reverse();
  return runs.map((recorded) => {
    const { target, executionId } = recorded;
    return followableOf({ target, executionId }, recorded, context.clock);
  });
}
