import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { aboutRun, giveUpReadingAfter } from '../cli/options.ts';
import { flawOfRun } from '../connection/arguments.ts';
import type { Connection } from '../connection/connection.ts';
import { statusFields } from '../output/fields.ts';
import { type Result, wantsData } from '../output/result.ts';
import { outcomeNameOf } from '../run/exit-of.ts';
import type { OutcomeOf, RunHandle } from '../run/outcome.ts';
import { fetchStatus, readError } from '../watch/fetch-run.ts';
import { findToRead, unreadOutcome } from './read-run.ts';

const command = new Command('status')
  .description("show a run's current status")
  .argument('[run]', aboutRun)
  .option('--exit-status', "exit with the run's exit code, or 16 if it hasn't finished")
  .addOption(giveUpReadingAfter);

type StatusOptions = OptionsOf<typeof command>;

export const status = define(command, {
  flawOf: flawOfRun,
  whenExcess: 'use `--field <path>` to print one value, or `runctl list` to see several runs',
  examples: [
    ['runctl status @last', 'show the status of the last run'],
    ['runctl status nightly --field status', 'print the bare status, for a script'],
    [
      'runctl status nightly --exit-status',
      "exit with the run's code, or with 16 if it hasn't finished",
    ],
  ],
  async run([run], options, context) {
    const { handle, connection } = await findToRead(run, options, context);
    return showStatus(handle, options, connection);
  },
});

/** Polls a run and prints its status. */
async function showStatus(
  handle: RunHandle,
  options: StatusOptions,
  connection: Connection,
): Promise<Result> {
  const { context, journal, baseUrl, hintContext } = connection;
  const { run } = handle;
  const answer = await fetchStatus(handle, connection);
  if (answer.kind === 'fault')
    return {
      outcomes: [await unreadOutcome('status', handle, answer.fault, connection)],
      hintContext,
    };
  const { value: snapshot } = answer;
  const outcome: OutcomeOf<'status'> = { kind: 'status', run, snapshot };
  const outcomes = [options.exitStatus ? outcome : { ...outcome, exitsZero: true as const }];
  const isText = !wantsData(options);
  const isFailed = snapshot.isFinal && outcomeNameOf(outcome) !== 'ok';
  // Only the result has the error. If the result can't be read, the status is shown without it.
  const isUnread = () => journal.find(run.executionId, { baseUrl })?.error === undefined;
  const isShown = isText && !options.quiet;
  const result =
    isFailed && (isShown || isUnread()) ? await readError(run, snapshot, connection) : undefined;
  if (isText && !isShown) return { exit: options.exitStatus ? outcomeNameOf(outcome) : 'ok' };
  const usual = !snapshot.isFinal && isShown ? connection.usualDuration(run.target) : undefined;
  return {
    outcomes,
    hintContext,
    forPeople: {
      text: (theme, lines) =>
        statusFields({ run, snapshot, result, usual }, context.clock.nowMs(), theme, lines),
      next: isFailed ? `\`runctl result ${hintContext.argumentOf(run)}\`` : undefined,
    },
  };
}
