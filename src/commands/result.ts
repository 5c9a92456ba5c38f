import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { aboutRun, giveUpReadingAfter } from '../cli/options.ts';
import { flawOfRun } from '../connection/arguments.ts';
import type { Connection } from '../connection/connection.ts';
import { snapshotIn } from '../journal/run-handle.ts';
import { type Result, wantsData } from '../output/result.ts';
import { bareOutput, summary } from '../output/summary.ts';
import type { OutcomeOf, RunHandle } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { RunResult, RunSnapshot } from '../run/service.ts';
import { graverStatus } from '../run/statuses.ts';
import { fetchOptional, fetchRun, recordedErrorOf } from '../watch/fetch-run.ts';
import { findToRead, unreadOutcome } from './read-run.ts';

const command = new Command('result')
  .description("print a run's output, step summary and error")
  .argument('[run]', aboutRun)
  .addOption(giveUpReadingAfter);

type ResultOptions = OptionsOf<typeof command>;

export const result = define(command, {
  flawOf: flawOfRun,
  whenExcess: '`--field <path>` prints one value',
  examples: [
    ['runctl result @last', 'print the result of the last run'],
    ['runctl result nightly --field output > report.txt', 'print the output, byte for byte'],
    ['runctl result @last --json', 'print everything that the service returned'],
  ],
  async run([run], options, context) {
    const { handle, connection } = await findToRead(run, options, context);
    return showResult(handle, options, connection);
  },
});

/** Reads the result of a run and prints it. */
async function showResult(
  handle: RunHandle,
  options: ResultOptions,
  connection: Connection,
): Promise<Result> {
  const { journal, baseUrl, hintContext } = connection;
  const { run } = handle;
  const answer = await fetchRun('result', handle, connection);
  if (answer.kind === 'fault')
    return {
      outcomes: [await unreadOutcome('result', handle, answer.fault, connection)],
      hintContext,
    };
  const { value: result } = answer;
  const { status, isFinal, completedAt } = result;
  if (isFinal) journal.recordStatus(baseUrl, run, result, recordedErrorOf(result));
  const asResult = { executionId: run.executionId, status, isFinal, completedAt, document: {} };
  const outcome: OutcomeOf<'status'> = {
    kind: 'status',
    run,
    snapshot: asResult,
    result,
    exitsZero: true,
  };
  const outcomes = [outcome];
  const unfinished = `the run hasn't finished yet. To watch it: \`runctl watch ${hintContext.argumentOf(run)}\``;
  // With `--field`, the output of an unfinished run would look like an empty one, so a sentence
  // says that it hasn't finished.
  const isUnnoticed = !isFinal && options.field !== undefined && !options.quiet;
  if (wantsData(options))
    return { outcomes, hintContext, notices: isUnnoticed ? [unfinished] : [] };
  if (options.quiet)
    return { forPeople: { text: (_, { columns }) => bareOutput(result, columns === undefined) } };
  const full = await fullSnapshotOf(run, result, connection);
  const shown = {
    run,
    result,
    snapshot: full ?? asResult,
    isResultOnly: full === undefined,
  };
  return {
    outcomes,
    hintContext,
    forPeople: {
      text: (theme, lines) => summary(shown, theme, lines),
      note: isFinal ? undefined : unfinished,
    },
  };
}

/**
 * Reads the status, because only that has the duration and the credits. Returns undefined if it
 * can't be read, because the summary is useful without them.
 */
async function fullSnapshotOf(
  run: Run,
  result: RunResult,
  connection: Connection,
): Promise<RunSnapshot | undefined> {
  const recorded = connection.journal.find(run.executionId, connection);
  const last = recorded?.kind === 'run' ? snapshotIn(recorded) : undefined;
  const now = (await fetchOptional('status', run, connection)) ?? last;
  if (!now) return undefined;
  const { status, isFinal } = result;
  return {
    ...now,
    isFinal,
    status: isFinal && now.isFinal ? graverStatus(status, now.status) : status,
  };
}
