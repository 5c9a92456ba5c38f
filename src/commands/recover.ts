import { Command } from 'commander';
import { recoverTriggers } from '../actions/recover-triggers.ts';
import { type RecoveryReport, reportOfRecovery } from '../actions/recovery-report.ts';
import { define, type OptionsOf } from '../cli/command.ts';
import { aboutSelection, asTyped, giveUpAfter } from '../cli/options.ts';
import { flawOfAutomation, parseAutomationNames } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { isJournalIncomplete, journalPlace } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { isAmong } from '../journal/run-filter.ts';
import { type Document, documentOf } from '../output/document.ts';
import { printProblem, printSentence, wantsData } from '../output/output.ts';
import { type ExitName, isInterruptName } from '../run/exit-codes.ts';
import { defaults } from '../run/limits.ts';
import type { Problem } from '../run/problem.ts';
import type { Target } from '../run/run.ts';
import { valueIfGiven } from '../settings/table.ts';

const command = new Command('recover')
  .description('resolve triggers whose response was lost: find the run, or start it if the request never arrived')
  .argument('[automation...]', aboutSelection)
  .option('--dry-run', 'list unresolved triggers without sending anything')
  .option(
    '--resend',
    `resend triggers even if that could start a second run, or if they are older than ${asTyped(defaults.recoverMaxAgeMs)}`,
  )
  .addOption(giveUpAfter);

type RecoverOptions = OptionsOf<typeof command>;

export const recover = define(command, {
  starts: true,
  flawOf: flawOfAutomation,
  examples: [
    ['runctl recover --dry-run', 'list unresolved triggers and which of them would be sent'],
    ['runctl recover', 'resolve them'],
    ['runctl recover nightly', 'resolve the triggers of one automation'],
  ],
  /** Reports each trigger as soon as it is resolved. Exits with 0 if nothing is left unresolved. */
  async run([automations], options, context) {
    const connection = await connect(options, context, { needed: true });
    const named = parseAutomationNames(automations, valueIfGiven(connection.settings.project));
    const isSelected = (target: Target) => isAmong(named, target);
    const problems: Problem[] = [];
    const documents: Document[] = [];
    for await (const recovery of recoverTriggers(options, connection, isSelected)) {
      const report = reportOfRecovery(recovery, options, connection);
      const { problem, outcome, sentence } = report;
      const { target } = recovery.trigger;
      // That a trigger is superseded is said this once, and somebody has to look for its run.
      const isSuperseded = recovery.kind === 'superseded' && !options.dryRun;
      if (isSuperseded)
        context.reporter.observe({ event: 'warning', name: 'superseded_trigger', message: sentence, target });
      else print(report, options, context);
      documents.push(documentOf(outcome, context));
      if (problem) problems.push(problem);
    }
    const isIncomplete = isJournalIncomplete(context);
    const isNothing = documents.length === 0 && !options.quiet && !isIncomplete;
    return {
      documents,
      omission: isNothing ? nothingFor(automations, connection) : undefined,
      // What isn't in the journal can't be recovered.
      exitNames: [exitNameOfRecovery(problems, options), isIncomplete ? 'output_error' : 'ok'],
    };
  },
});

function exitNameOfRecovery(problems: Problem[], { dryRun }: RecoverOptions): ExitName {
  const interruption = problems.find(({ facts }) => isInterruptName(facts.name));
  if (interruption) return interruption.facts.name;
  return problems.length > 0 && !dryRun ? 'outcome_unknown' : 'ok';
}

function nothingFor(names: readonly string[], { baseUrl, context }: Connection): string {
  const whose = names.length > 0 ? ` of ${names.join(', ')}` : '';
  return `Nothing to recover: no unresolved triggers${whose} ${journalPlace(baseUrl, context)}.`;
}

function print(report: RecoveryReport, options: RecoverOptions, context: Invocation): void {
  const { sentence, run, problem } = report;
  if (problem) printProblem(problem.with({ message: sentence }), context);
  if (problem || wantsData(options)) return;
  if (run && !options.quiet) context.stdout.write(`${run.executionId}\n`);
  if (options.dryRun || !options.quiet) printSentence(sentence, context);
}
