import type { Context } from '../context.ts';
import { exitCodeOf } from '../problems/exit-codes.ts';
import { nextStepOf } from '../problems/next-step.ts';
import { isGithubActions, withoutCommands } from '../render/github-actions.ts';
import {
  linesOf,
  type OutputOptions,
  printDocuments,
  printNextStep,
  printProblem,
  printSentence,
  themeOf,
  wantsData,
} from '../render/output.ts';
import { summary } from '../render/summary.ts';
import { nameOf } from '../runs/run.ts';
import {
  type ArgumentResult,
  documentOfResult,
  exitNameOfResult,
  finishedWatchOf,
  isInterruptedWatch,
  isLonelyProblem,
  problemOf,
  targetOf,
} from './argument-result.ts';
import { isLeft } from './follow-run.ts';
import type { Session } from './session.ts';

const againWithAll = 'again with `runctl watch --all`';

export interface ReportOptions extends OutputOptions {
  /** Were several arguments given, or could there have been? */
  plural: boolean;
}

/** Reports at once what went wrong with one of several, since the others may take hours; hints are left for the end. */
export function createEarlyReport({ reporter }: Session, runs: number): (result: ArgumentResult) => void {
  let unfinished = runs;
  return (result) => {
    unfinished -= 1;
    const problem = problemOf(result);
    if (problem && isLonelyProblem(problem) && unfinished > 0) reporter.say(`${aboutOf(result)}: ${problem.message}`);
  };
}

/**
 * The end of a command: data where data is asked for, else a summary of each run on stdout; problems on stderr.
 * Returns the exit code: of the first argument that did not go well.
 */
export async function reportResults(
  results: ArgumentResult[],
  options: ReportOptions,
  session: Session,
): Promise<number> {
  const { context, reporter } = session;
  // A run that was named twice has a document in both places, and is reported once.
  const distinct = [...new Set(results)];
  if (!context.signal.aborted) reporter.over?.();
  reporter.stop();
  const documents = results.map(documentOfResult);
  const [document = {}] = documents;
  const isProblem = results.some((result) => problemOf(result) !== undefined);
  if (options.events) reporter.last?.(options.plural ? documents : document, isProblem);
  else if (wantsData(options)) printDocuments(documents, options, context);
  else printSummaries(distinct, options, context);
  printProblems(distinct, options, context);
  if (!wantsData(options)) printWhatIsNext(distinct, options, session);
  if (isGithubActions(context)) {
    const { reportToGithub } = await import('./report-to-github.ts');
    await reportToGithub(distinct, context);
  }
  return results.map(exitCodeOfResult).find((code) => code !== 0) ?? 0;
}

function printProblems(results: ArgumentResult[], { plural }: ReportOptions, context: Context): void {
  const interrupted = results.filter(isInterruptedWatch);
  // One press of Ctrl-C is reported once; not at all where nobody reads any more, as whoever closed stdout knows it.
  const [first] = interrupted;
  const isUnread = context.stdout.closed.aborted;
  const isMass = interrupted.length > 1;
  const problem = first && problemOf(first);
  if (problem && isMass && !isUnread) {
    const hint = `follow them ${againWithAll}`;
    printProblem(problem.with({ message: `interrupted: ${interrupted.length} runs go on`, hint }), context);
  }
  for (const result of results) {
    const own = problemOf(result);
    const isReported = isInterruptedWatch(result) && (isMass || isUnread);
    if (own && !isReported) printProblem(own, context, plural ? aboutOf(result) : undefined);
  }
}

function printSummaries(results: ArgumentResult[], { quiet }: ReportOptions, context: Context): void {
  const { stdout, stderr } = context;
  const theme = themeOf(stdout, context);
  // On a terminal the progress of many runs stands before and after them.
  const apart = results.length > 1 && !quiet && stdout.isTTY && stderr.isTTY ? '\n' : '';
  const summaries = results.flatMap((result) => {
    const watched = finishedWatchOf(result);
    if (!watched || (quiet && exitCodeOfResult(result) === 0)) return [];
    return [summary(watched, theme, linesOf(stdout))];
  });
  if (summaries.length === 0) return;
  const text = `${apart}${summaries.join('\n')}${apart}`;
  stdout.write(isGithubActions(context) ? withoutCommands(text) : text);
}

function verdictOf(results: ArgumentResult[]): string {
  const completed = results.filter((result) => finishedWatchOf(result) && exitCodeOfResult(result) === 0).length;
  const skipped = results.filter(({ kind }) => kind === 'skipped').length;
  const verdict = `${completed} of ${results.length - skipped} runs completed`;
  return skipped > 0 ? `${verdict}, ${skipped} skipped` : verdict;
}

/** For one run, what to do about how it ended; for many, how many completed. */
function printWhatIsNext(results: ArgumentResult[], { quiet }: ReportOptions, { context, hintProject }: Session): void {
  const [first] = results;
  if (results.length > 1) {
    if (!quiet && results.some(finishedWatchOf)) printSentence(verdictOf(results), context);
    const left = results.filter((result) => result.kind === 'followed' && isLeft(result.watched)).length;
    if (left > 0) {
      const go = left === 1 ? '1 run goes on: follow it' : `${left} runs go on: follow them`;
      printNextStep(`${go} ${againWithAll}`, context);
    }
    return;
  }
  const watched = first && finishedWatchOf(first);
  if (!watched || problemOf(first)) return;
  const next = nextStepOf(watched.run, watched.execution.status, watched.result?.error?.type, hintProject);
  if (next) printNextStep(next, context);
}

const aboutOf = (result: ArgumentResult): string => nameOf(targetOf(result));

export const exitCodeOfResult = (result: ArgumentResult): number => exitCodeOf(exitNameOfResult(result));
