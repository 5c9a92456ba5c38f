import { defineCommand, type OptionValues } from '../cli/define-command.ts';
import { exitStatus, giveUpOptions, outputOptions, runArgument, runOptions, settingOptions } from '../cli/options.ts';
import type { Context } from '../context.ts';
import { exitCodeOf } from '../problems/exit-codes.ts';
import { documentOf } from '../render/document.ts';
import { linesOf, printDocuments, themeOf, wantsData } from '../render/output.ts';
import { statusBlock } from '../render/status-block.ts';
import { endingOf, isFinal, type Run } from '../runs/run.ts';
import { parseRunArgument } from '../session/arguments.ts';
import { type Connection, connect } from '../session/connect.ts';
import { findRun, type KnownRun } from '../session/find-run.ts';
import { lookAt } from '../session/poll-once.ts';

const options = { exitStatus, ...runOptions, ...giveUpOptions, ...outputOptions, ...settingOptions };

export type StatusOptions = OptionValues<typeof options>;

export const status = defineCommand({
  name: 'status',
  about: 'look at a run once',
  arguments: { run: runArgument },
  options,
  examples: [
    ['runctl status', 'of the last run'],
    ['runctl status nightly@last --field status', 'the bare state, for a script'],
    ['runctl status --exit-status', 'ends with the code of the run, 124 while it is going'],
  ],
  async run({ run = '@last' }, options, context) {
    const named = parseRunArgument(run);
    const connection = await connect(options, context, { needed: named.kind === 'last' });
    const known = findRun(named, options, connection);
    return showStatus(known, options, connection, context);
  },
});

export async function showStatus(
  known: KnownRun,
  options: StatusOptions,
  connection: Connection,
  context: Context,
): Promise<number> {
  const execution = await lookAt('status', known, options, connection, context);
  connection.journal.recordStatus(connection.baseUrl, known.run, execution);
  if (wantsData(options)) printDocuments([documentOf({ ...known, execution })], options, context);
  else if (!options.quiet || (options.exitStatus && exitStatusOf(known.run, execution.status) !== 0)) {
    const theme = await themeOf(context.stdout, context);
    context.stdout.write(statusBlock(known.run, execution, context.clock.nowMs(), theme, linesOf(context.stdout)));
  }
  return options.exitStatus ? exitStatusOf(known.run, execution.status) : 0;
}

/** `--exit-status`: the run's own code, and 124 for a run still going. */
export function exitStatusOf({ target }: Run, state: string): number {
  return exitCodeOf(isFinal(target, state) ? endingOf(state) : 'watch_timeout');
}
