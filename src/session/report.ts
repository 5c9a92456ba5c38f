import type { Context } from '../context.ts';
import { exitCodeOf, isInterruption } from '../problems/exit-codes.ts';
import { nextStepOf } from '../problems/next-step.ts';
import type { Problem } from '../problems/problem.ts';
import { leavesRun } from '../problems/watch-problems.ts';
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
import type { Reporter } from '../render/reporter.ts';
import { summary } from '../render/summary.ts';
import type { Ending } from '../runs/follow.ts';
import type { JsonObject } from '../runs/json.ts';
import { endingOf, isFinal } from '../runs/run.ts';

const againWithAll = 'again with `runctl watch --all`';

/** What came of one argument of a command that starts or follows runs. */
export interface Outcome {
  /** What the argument was, in words. */
  about: string;
  document: JsonObject;
  /** How following it ended, where it was followed. */
  ending?: Ending;
  problem?: Problem;
  /** `--fail-fast` left it while it went on. */
  left?: boolean;
}

export interface TellOptions extends OutputOptions {
  /** Were several arguments given, or could there have been? */
  plural: boolean;
  /** The project that a bare automation name means. */
  project?: string;
}

/** What went wrong with one of several, at once: the others may go on for hours. What to do about it is told at the end. */
export function createEarlyWord({ say }: Pick<Reporter, 'say'>, runs: number): (outcome: Outcome) => void {
  let going = runs;
  return ({ about, problem }) => {
    going -= 1;
    // An interruption and the limit of time end all of them together.
    const isLonely = problem && !isInterruption(problem.facts.name) && problem.facts.name !== 'watch_timeout';
    if (isLonely && going > 0) say(`${about}: ${problem.message}`);
  };
}

/**
 * The last words of a command: data where data is asked for, else a summary of each run on stdout; problems on stderr.
 * Returns the exit code: of the first argument that did not go well.
 */
export async function tellOutcomes(
  outcomes: Outcome[],
  options: TellOptions,
  reporter: Reporter,
  context: Context,
): Promise<number> {
  // A run that was named twice has a document in both places, and is told once.
  const told = [...new Set(outcomes)];
  if (!context.signal.aborted) reporter.over?.();
  reporter.stop();
  const documents = outcomes.map(({ document }) => document);
  const [document = {}] = documents;
  const isProblem = outcomes.some(({ problem }) => problem !== undefined);
  if (options.events) reporter.last?.(options.plural ? documents : document, isProblem);
  else if (wantsData(options)) printDocuments(documents, options, context);
  else await printSummaries(told, options, context);
  await printProblems(told, options, context);
  if (!wantsData(options)) await tellWhatIsNext(told, options, context);
  if (isGithubActions(context)) {
    const { tellGithubActions } = await import('./report-to-github.ts');
    await tellGithubActions(told, context);
  }
  return outcomes.map(exitCodeOfOutcome).find((code) => code !== 0) ?? 0;
}

async function printProblems(outcomes: Outcome[], { plural }: TellOptions, context: Context): Promise<void> {
  // Nobody reads any more: whoever closed stdout knows that, and has what they wanted.
  const isUnread = (problem: Problem) => context.stdout.closed.aborted && leavesRun(problem);
  const problems = outcomes.flatMap(({ problem, about }) =>
    problem && !isUnread(problem) ? [{ problem, about }] : [],
  );
  const left = problems.filter(({ problem }) => leavesRun(problem));
  // One press of Ctrl-C is one thing to tell.
  const [first] = left;
  const isMass = left.length > 1;
  if (first && isMass) {
    const hint = `follow them ${againWithAll}`;
    await printProblem(first.problem.with({ message: `interrupted: ${left.length} runs go on`, hint }), context);
  }
  for (const { problem, about } of problems) {
    if (!(isMass && leavesRun(problem))) await printProblem(problem, context, plural ? about : undefined);
  }
}

async function printSummaries(outcomes: Outcome[], { quiet }: TellOptions, context: Context): Promise<void> {
  const { stdout, stderr } = context;
  const theme = await themeOf(stdout, context);
  // On a terminal the talk of many runs stands before and after them.
  const apart = outcomes.length > 1 && !quiet && stdout.isTTY && stderr.isTTY ? '\n' : '';
  const told = outcomes.flatMap(({ ending }) => {
    if (!ending?.execution || !isFinal(ending.run.target, ending.execution.status)) return [];
    return quiet && exitCodeOfEnding(ending) === 0 ? [] : [summary(ending, theme, linesOf(stdout))];
  });
  if (told.length === 0) return;
  const text = `${apart}${told.join('\n')}${apart}`;
  stdout.write(isGithubActions(context) ? withoutCommands(text) : text);
}

function verdictOf(outcomes: Outcome[]): string {
  const completed = outcomes.filter(({ ending }) => ending && exitCodeOfEnding(ending) === 0).length;
  const skipped = outcomes.filter(({ document }) => document.skipped).length;
  const verdict = `${completed} of ${outcomes.length - skipped} runs completed`;
  return skipped > 0 ? `${verdict}, ${skipped} skipped` : verdict;
}

/** Of one run, what to do about its end; of many, how many went well. */
async function tellWhatIsNext(outcomes: Outcome[], { quiet, project }: TellOptions, context: Context): Promise<void> {
  const [first] = outcomes;
  if (outcomes.length > 1) {
    if (!quiet && outcomes.some(({ ending }) => ending)) await printSentence(verdictOf(outcomes), context);
    const left = outcomes.filter((outcome) => outcome.left).length;
    if (left > 0) {
      const go = left === 1 ? '1 run goes on: follow it' : `${left} runs go on: follow them`;
      await printNextStep(`${go} ${againWithAll}`, context);
    }
  } else if (first?.ending?.execution && !first.problem) {
    const { run, execution, result } = first.ending;
    const next = nextStepOf(run, execution.status, result?.error?.type, project);
    if (next) await printNextStep(next, context);
  }
}

function exitCodeOfOutcome({ problem, ending }: Outcome): number {
  if (problem) return problem.exitCode;
  return ending ? exitCodeOfEnding(ending) : exitCodeOf('ok');
}

export function exitCodeOfEnding({ problem, execution }: Ending): number {
  return problem ? problem.exitCode : exitCodeOf(endingOf(execution?.status ?? ''));
}
