import { Command } from 'commander';
import { define } from '../cli/command.ts';
import { aboutRun, giveUpReadingAfter } from '../cli/options.ts';
import { flawOfRun, isFromJournal, parseRunArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import { findRun } from '../connection/find-run.ts';
import { argumentOf } from '../connection/followable.ts';
import { pollBeside, pollOnce, recordedErrorOf, resultOfFailure } from '../connection/poll-once.ts';
import type { JournalRun } from '../journal/journal.ts';
import { documentOf } from '../output/document.ts';
import { wantsData } from '../output/output.ts';
import { bareOutput, summary } from '../output/summary.ts';
import { exitNameOfRun } from '../run/exit-codes.ts';
import type { Execution, RunResult } from '../run/service.ts';
import { graverStatus } from '../run/statuses.ts';

const command = new Command('result')
  .description("print a run's output, step summary and error")
  .argument('[run]', aboutRun)
  .addOption(giveUpReadingAfter);

export const result = define(command, {
  flawOf: flawOfRun,
  whenExcess: '`--field <path>` prints one value',
  examples: [
    ['runctl result', 'the result of the last run'],
    ['runctl result nightly --field output > report.txt', 'prints the output, byte for byte'],
    ['runctl result --json', 'print everything that the service returned'],
  ],
  async run([runArgument = '@last'], options, context) {
    const named = parseRunArgument(runArgument);
    const connection = await connect(options, context, { needed: isFromJournal(named) });
    const known = await findRun(named, connection);
    const { run } = known;
    const polled = await pollOnce('result', known, options, connection);
    if (polled.kind === 'failed') return resultOfFailure(polled.problem, known, context);
    const found = polled.value;
    if (found.isFinal) connection.journal.recordStatus(connection.baseUrl, run, found, recordedErrorOf(found, context));
    const ended = exitNameOfRun(found);
    const argument = argumentOf(run, connection);
    const documents = [documentOf({ run, result: found, ended, exit: 'ok', argument }, context)];
    const unfinished = `the run hasn't finished; watch it with \`runctl watch ${argument}\``;
    // An empty field looks like an empty output.
    const isUnnoticed = !found.isFinal && options.field !== undefined && !options.quiet;
    if (wantsData(options)) return { documents, omission: isUnnoticed ? [unfinished] : undefined };
    if (options.quiet) return { text: (_, { columns }) => bareOutput(found, columns === undefined) };
    // Only the status has duration and credits; a summary without them is better than none.
    const recorded = connection.journal.find(run.executionId, connection);
    const execution = (await pollBeside('status', run, connection)) ?? (recorded && asRecorded(recorded, found));
    const status = found.isFinal && execution ? graverStatus(found.status, execution.status) : found.status;
    const shown = { run, execution: execution && { ...execution, status }, result: found };
    return {
      documents,
      text: (theme, lines) => summary(shown, theme, lines),
      note: found.isFinal ? undefined : unfinished,
    };
  },
});

/** What the journal knows besides the result. */
function asRecorded({ startedAt, completedAt, creditsCharged }: JournalRun, { status, isFinal }: RunResult): Execution {
  const times = { startedAt: startedAt ?? undefined, completedAt: completedAt ?? undefined };
  return { status, isFinal, ...times, creditsCharged: creditsCharged ?? undefined, document: {} };
}
