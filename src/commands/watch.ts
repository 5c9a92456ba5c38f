import { followAll } from '../actions/follow-all.ts';
import { planOf } from '../actions/plan.ts';
import { argument, defineCommand, flag } from '../cli/define-command.ts';
import { followOptions } from '../cli/options.ts';
import { flawOfRun, isFromJournal, parseRunArgument, type RunArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { findRun } from '../connection/find-run.ts';
import { followableOf } from '../connection/followable.ts';
import { refreshRuns } from '../connection/poll-once.ts';
import type { Followable } from '../watching/watch-run.ts';

const options = {
  all: { ...flag('--all', 'every unfinished run of the journal'), refuses: ['runs'] },
  ...followOptions,
};

export const watch = defineCommand({
  name: 'watch',
  about: 'follow runs until they finish and print summaries',
  arguments: {
    runs: { ...argument('[run...]', 'as for `runctl status`'), flawOf: flawOfRun },
  },
  options,
  examples: [
    ['runctl watch', 'the last run'],
    ['runctl watch nightly weekly', 'the last runs of two automations'],
    ['runctl watch --all', 'every unfinished run'],
    ['runctl watch --timeout 10m --quiet', 'print only errors; exit with 124 after ten minutes'],
    ['runctl watch --on-final \'notify-send runctl "$RUNCTL_STATUS"\'', 'run a command when the run has finished'],
  ],
  async run({ runs: runArguments }, options, context) {
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
