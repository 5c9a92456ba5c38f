import type { Context } from '../context.ts';
import { type OutputOptions, printDocuments, printProblem, themeOf, wantsData } from '../render/output.ts';
import type { Reporter } from '../render/reporter.ts';
import { summary } from '../render/summary.ts';
import { exitCodeOf } from '../runs/exit-codes.ts';
import type { Ending } from '../runs/follow.ts';
import type { JsonObject } from '../runs/json.ts';
import type { Problem } from '../runs/problem.ts';
import { endingOf, isFinal } from '../runs/run.ts';

/** What came of one argument of a command that starts or follows runs. */
export interface Outcome {
  /** What the argument was, in words. */
  about: string;
  document: JsonObject;
  /** How following it ended, where it was followed. */
  ending?: Ending;
  problem?: Problem;
}

/**
 * The last words of a command: data where data is asked for, else a summary of each run on stdout; problems on stderr.
 * Returns the exit code: of the first argument that did not go well.
 */
export async function tellOutcomes(
  outcomes: Outcome[],
  options: OutputOptions & { plural: boolean },
  reporter: Reporter,
  context: Context,
): Promise<number> {
  reporter.stop();
  const documents = outcomes.map(({ document }) => document);
  if (options.events) reporter.last?.(options.plural ? documents : documents[0]);
  else if (wantsData(options)) printDocuments(documents, options, context);
  else await printSummaries(outcomes, options, context);
  for (const { problem, about } of outcomes) {
    if (problem) await printProblem(problem, context, options.plural ? about : undefined);
  }
  return outcomes.map(exitCodeOfOutcome).find((code) => code !== 0) ?? 0;
}

async function printSummaries(outcomes: Outcome[], { quiet }: OutputOptions, context: Context): Promise<void> {
  const { stdout } = context;
  const theme = await themeOf(stdout, context);
  const told = outcomes.flatMap(({ ending }) => {
    if (!ending?.execution || !isFinal(ending.run.target, ending.execution.status)) return [];
    return quiet && exitCodeOfEnding(ending) === 0 ? [] : [summary(ending, theme, !stdout.isTTY)];
  });
  if (told.length > 0) stdout.write(told.join('\n'));
}

function exitCodeOfOutcome({ problem, ending }: Outcome): number {
  if (problem) return problem.exitCode;
  return ending ? exitCodeOfEnding(ending) : exitCodeOf('ok');
}

export function exitCodeOfEnding({ problem, execution }: Ending): number {
  return problem ? problem.exitCode : exitCodeOf(endingOf(execution?.status ?? ''));
}
