import type { CommandContext } from '../context.ts';
import { type HintContext, plainHintContext } from '../messages/hint-context.ts';
import { diagnosticOf } from '../messages/outcome-diagnostics.ts';
import { commandExitNameOf, factsOf } from '../run/exit-of.ts';
import { type Outcome, targetOf } from '../run/outcome.ts';
import { pluralize, quotedName } from '../run/quote.ts';
import { errorTextOf } from '../run/service.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import {
  type CommandResult,
  type OutputOptions,
  type ResultForPeople,
  wantsData,
} from './command-result.ts';
import { printDocuments, printLine } from './print-data.ts';
import { printDiagnostic, printNextStep, printSentence } from './print-message.ts';
import { themeOf } from './theme.ts';
import { wrapOptionsOf } from './wrap.ts';

/**
 * Prints what a command returned: first what belongs on stdout, then the problems and sentences for
 * stderr.
 */
export function printResult(
  result: CommandResult,
  output: OutputOptions,
  context: CommandContext,
): void {
  const { outcomes = [], unreported = outcomes, script, notices = [] } = result;
  if (wantsData(output)) printDocuments(result, output, context);
  if (script !== undefined) printLine(script, context);
  const { raw, text, note, next } = forPeopleIn(result, output);
  if (raw !== undefined) printLine(raw, context);
  const hasText = printText(text, context);
  const hasProblems = printProblems(unreported, result.hintContext, context);
  // The text on stdout says how a run ended, so nothing else has to.
  if (!hasProblems && !hasText) printFailedRuns([...new Set(outcomes)], context);
  for (const sentence of notices) printSentence(sentence, context);
  if (note) printSentence(note, context);
  if (next) printNextStep(next, context);
}

function forPeopleIn({ forPeople = {} }: CommandResult, output: OutputOptions): ResultForPeople {
  return wantsData(output) ? {} : forPeople;
}

/** Returns whether there was anything to print. */
function printText(text: ResultForPeople['text'], context: CommandContext): boolean {
  const { stdout } = context;
  const shown = text?.(themeOf(stdout, context), wrapOptionsOf(stdout)) ?? '';
  stdout.write(shown);
  return shown !== '';
}

/** How many problems are printed. Further ones are only counted. */
const maxProblems = 9;

/** Returns whether there was anything to print. */
function printProblems(
  outcomes: readonly Outcome[],
  hintContext: HintContext | undefined,
  context: CommandContext,
): boolean {
  const problems = problemsOf(outcomes, hintContext, context);
  for (const { diagnostic, name } of problems.slice(0, maxProblems)) {
    printDiagnostic(diagnostic, context, name);
  }
  const more = problems.length - maxProblems;
  if (more > 0) {
    const counted = pluralize(more, 'more problem');
    printSentence(`runctl: and ${counted}; \`runctl list\` shows every run`, context);
  }
  return problems.length > 0;
}

/**
 * What went wrong, in the order of the arguments, and with the name of the automation if there are
 * several. A run that was named twice is reported once.
 */
function problemsOf(
  outcomes: readonly Outcome[],
  hintContext = plainHintContext,
  { stdout }: CommandContext,
) {
  const distinct = [...new Set(outcomes)];
  return distinct.flatMap((outcome) => {
    if (outcome.isReportOnly) return [];
    // The signal came because the reader of stdout has left, and the message would only repeat it.
    const isStopped = outcome.kind === 'watch_ended' && outcome.end.kind === 'interrupted';
    if (isStopped && stdout.closed.aborted) return [];
    const diagnostic = diagnosticOf(outcome, hintContext);
    if (!diagnostic) return [];
    const target = targetOf(outcome);
    const name = target && distinct.length > 1 ? quotedName(target) : undefined;
    return { diagnostic, name };
  });
}

/** How many failed runs are named. */
const maxFailedRuns = 10;

/**
 * Says on stderr which runs didn't complete, because otherwise a failed exit code could also come
 * from Node or the shell. On a terminal nothing is printed, because the run itself is shown there.
 */
function printFailedRuns(outcomes: readonly Outcome[], { stderr, warnings }: CommandContext): void {
  if (stderr.isTTY) return;
  // The warning about an earlier run that failed says so already.
  const reported = warnings.filter(({ name }) => name === 'replayed_failure');
  const isReported = ({ run }: Outcome) =>
    reported.some((warning) => warning.run?.executionId === run?.executionId);
  const exitNames = outcomes.map(commandExitNameOf);
  const failed = outcomes.filter(
    (outcome, index) =>
      /^(run_|still_running)/.test(exitNames[index] ?? '') && !isReported(outcome),
  );
  if (failed.length === 0) return;
  if (outcomes.length > 1) {
    const completed = exitNames.filter((name) => name === 'ok').length;
    stderr.write(`runctl: ${completed} of ${pluralize(outcomes.length, 'run')} completed\n`);
  }
  for (const outcome of failed.slice(0, maxFailedRuns)) {
    stderr.write(`runctl: ${failedRunLine(outcome)}\n`);
  }
}

/**
 * One line with the status, the first line of the error and the id. A mail from cron may be all
 * that is kept of a run.
 */
function failedRunLine(outcome: Outcome): string {
  const { snapshot, result } = factsOf(outcome);
  const [error] = errorTextOf(result).split('\n');
  const target = targetOf(outcome);
  const name = target ? quotedName(target) : 'the run';
  const reason = error ? `: ${error}` : '';
  return sanitizeLine(`${name} ${snapshot?.status}${reason} (run ${outcome.run?.executionId})`);
}
