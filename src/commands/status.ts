import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { giveUpReadingAfter, runHelp } from '../cli/options.ts';
import { flawOfRun } from '../connection/arguments.ts';
import type { Connection } from '../connection/connection.ts';
import { type CommandResult, wantsData } from '../output/command-result.ts';
import { renderStatus } from '../output/fields.ts';
import { exitNameOfOutcome } from '../run/exit-of.ts';
import type { OutcomeOf, RunHandle } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import { fetchAndRecordStatus } from '../watch/fetch-run.ts';
import { readError } from '../watch/read-errors.ts';
import { findToRead, requestFailedOutcome } from './read-run.ts';

const command = new Command('status')
  .description("show a run's current status")
  .argument('[run]', runHelp)
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
    return reportStatus(handle, options, connection);
  },
});

/** Polls a run, and returns what to print of its status. */
async function reportStatus(
  handle: RunHandle,
  options: StatusOptions,
  connection: Connection,
): Promise<CommandResult> {
  const { context, hintContext } = connection;
  const { run } = handle;
  const answer = await fetchAndRecordStatus(handle, connection);
  if (answer.kind === 'fault') {
    const outcome = await requestFailedOutcome('status', handle, answer.fault, connection);
    return { outcomes: [outcome], hintContext };
  }
  const { value: snapshot } = answer;
  const outcome: OutcomeOf<'status'> = { kind: 'status', run, snapshot };
  const isForPeople = !wantsData(options) && !options.quiet;
  const hasFailed = snapshot.isFinal && exitNameOfOutcome(outcome) !== 'ok';
  const needsError = hasFailed && (isForPeople || !hasRecordedError(run, connection));
  // Only the result has the error. If the result can't be read, the status is shown without it.
  const result = needsError ? await readError(run, snapshot, connection) : undefined;
  if (options.quiet && !wantsData(options)) {
    return { exit: options.exitStatus ? exitNameOfOutcome(outcome) : 'ok' };
  }
  const usual = isForPeople && !snapshot.isFinal ? connection.usualDuration(run.target) : undefined;
  const facts = { run, snapshot, result, usual };
  return {
    outcomes: [options.exitStatus ? outcome : { ...outcome, isReportOnly: true as const }],
    hintContext,
    forPeople: {
      text: (theme, lines) => renderStatus(facts, context.clock.nowMs(), theme, lines),
      next: hasFailed ? `\`runctl result ${hintContext.argumentOf(run)}\`` : undefined,
    },
  };
}

const hasRecordedError = ({ executionId }: Run, { journal, baseUrl }: Connection) =>
  journal.find(executionId, { baseUrl })?.error !== undefined;
