import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { aboutRun, giveUpReadingAfter } from '../cli/options.ts';
import { flawOfRun, isFromJournal, parseRunArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { findRun } from '../connection/find-run.ts';
import { argumentOf } from '../connection/followable.ts';
import { pollBeside, pollOnce, recordedErrorOf, resultOfFailure } from '../connection/poll-once.ts';
import { documentOf } from '../output/document.ts';
import { statusFields } from '../output/fields.ts';
import { type CommandResult, wantsData } from '../output/output.ts';
import { exitNameOfRun } from '../run/exit-codes.ts';
import type { Followable } from '../watching/watch-run.ts';

const command = new Command('status')
  .description("show a run's current status")
  .argument('[run]', aboutRun)
  .option('--exit-status', "exit with the run's exit code, or 16 if it hasn't finished")
  .addOption(giveUpReadingAfter);

type StatusOptions = OptionsOf<typeof command>;

export const status = define(command, {
  flawOf: flawOfRun,
  whenExcess: '`--field <path>` prints one value; `runctl list` shows several runs',
  examples: [
    ['runctl status', 'the status of the last run'],
    ['runctl status nightly --field status', 'prints the bare status, for a script'],
    ['runctl status --exit-status', "exit with the run's code, or with 16 if it hasn't finished"],
  ],
  async run([run = '@last'], options, context) {
    const named = parseRunArgument(run);
    const connection = await connect(options, context, { needed: isFromJournal(named) });
    return showStatus(await findRun(named, connection), options, connection);
  },
});

/** Polls a run and prints its status. */
async function showStatus(
  followable: Followable,
  options: StatusOptions,
  connection: Connection,
): Promise<CommandResult> {
  const { context, journal, baseUrl } = connection;
  const polled = await pollOnce('status', followable, options, connection);
  if (polled.kind === 'failed') return resultOfFailure(polled.problem, followable, context);
  const execution = polled.value;
  journal.recordStatus(baseUrl, followable.run, execution);
  const ended = exitNameOfRun(execution);
  const exit = options.exitStatus ? ended : 'ok';
  const argument = argumentOf(followable.run, connection);
  const { run } = followable;
  const isShown = !wantsData(options);
  if (isShown && options.quiet) return { exitNames: [exit] };
  const isFailed = execution.isFinal && ended !== 'ok';
  // Only the result has the error; a status without it is better than none.
  const result = isFailed && isShown ? await pollBeside('result', run, connection) : undefined;
  if (result?.error) journal.recordStatus(baseUrl, run, execution, recordedErrorOf(result, context));
  const isUnfinished = !execution.isFinal;
  const usual = isUnfinished && isShown ? connection.usualDuration(run.target) : undefined;
  return {
    exitNames: [exit],
    documents: [documentOf({ run, execution, ended, exit, argument }, context)],
    text: (theme, lines) =>
      isShown ? statusFields({ run, execution, result, usual }, context.clock.nowMs(), theme, lines) : '',
    next: isFailed && isShown ? `\`runctl result ${argument}\`` : undefined,
  };
}
