import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { giveUpReadingAfter, runHelp } from '../cli/options.ts';
import { flawOfRun } from '../connection/arguments.ts';
import type { Connection } from '../connection/connection.ts';
import { snapshotIn } from '../journal/run-handle.ts';
import { type CommandResult, wantsData } from '../output/command-result.ts';
import { bareOutput, renderSummary } from '../output/summary.ts';
import type { OutcomeOf, RunHandle } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { RunResult, RunSnapshot } from '../run/service.ts';
import { graverStatus } from '../run/statuses.ts';
import { fetchOptional, fetchResource } from '../watch/fetch-run.ts';
import { recordedErrorOf } from '../watch/read-errors.ts';
import { findToRead, requestFailedOutcome } from './read-run.ts';

const command = new Command('result')
  .description("print a run's output, step summary and error")
  .argument('[run]', runHelp)
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
    return reportResult(handle, options, connection);
  },
});

/** Reads the result of a run, and returns what to print of it. */
async function reportResult(
  handle: RunHandle,
  options: ResultOptions,
  connection: Connection,
): Promise<CommandResult> {
  const { journal, baseUrl, hintContext } = connection;
  const { run } = handle;
  const answer = await fetchResource('result', handle, connection);
  if (answer.kind === 'fault') {
    const outcome = await requestFailedOutcome('result', handle, answer.fault, connection);
    return { outcomes: [outcome], hintContext };
  }
  const { value: result } = answer;
  const { isFinal } = result;
  if (isFinal) journal.recordStatus(baseUrl, run, result, recordedErrorOf(result));
  const snapshot = snapshotFrom(result, run);
  const outcome: OutcomeOf<'status'> = {
    kind: 'status',
    run,
    snapshot,
    result,
    isReportOnly: true,
  };
  const unfinished = `the run hasn't finished yet. To watch it: \`runctl watch ${hintContext.argumentOf(run)}\``;
  if (wantsData(options)) {
    // With `--field`, the output of an unfinished run would look like an empty one, so a sentence
    // says that it hasn't finished.
    const needsNotice = !isFinal && options.field !== undefined && !options.quiet;
    return { outcomes: [outcome], hintContext, notices: needsNotice ? [unfinished] : [] };
  }
  if (options.quiet) {
    return {
      forPeople: { text: (_, { columns }) => bareOutput(result, { isRaw: columns === undefined }) },
    };
  }
  const full = await fullSnapshotOf(run, result, connection);
  const isResultOnly = full === undefined;
  const facts = { run, result, snapshot: full ?? snapshot, isResultOnly };
  return {
    outcomes: [outcome],
    hintContext,
    forPeople: {
      text: (theme, lines) => renderSummary(facts, theme, lines),
      note: isFinal ? undefined : unfinished,
    },
  };
}

/** The status that a result has. It adds no fields to the document, because the result has them. */
function snapshotFrom(
  { status, isFinal, completedAt }: RunResult,
  { executionId }: Run,
): RunSnapshot {
  return { executionId, status, isFinal, completedAt, document: {} };
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
  if (!isFinal || !now.isFinal) return { ...now, isFinal, status };
  return { ...now, status: graverStatus(status, now.status) };
}
