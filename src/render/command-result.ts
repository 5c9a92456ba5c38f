import type { Context } from '../context.ts';
import type { ExitName } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import type { JsonObject } from '../runs/json.ts';
import {
  type OutputOptions,
  printDocuments,
  printNextStep,
  printProblem,
  printSentence,
  themeOf,
  wantsData,
  wrapOptionsOf,
} from './output.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

/** What a command answers with, in the order in which it is printed. */
export interface CommandResult {
  /** How each part of the command ended: together they decide the exit code. */
  exitNames?: readonly ExitName[];
  documents?: JsonObject[];
  /** Several were asked for, or could have been: the documents are an array. */
  plural?: boolean;
  /** For people, on stdout. */
  text?(theme: Theme, lines: WrapOptions): string;
  /** On stderr, whatever is asked for; `about` names the one of several that failed. */
  problems?: readonly { problem: Problem; about?: string }[];
  /** For people, on stderr. */
  note?: string;
  next?: string;
}

/** Prints a result: data where data is asked for, else text. With `--events` its documents were printed as events. */
export function printResult(result: CommandResult, output: OutputOptions, context: Context): void {
  const { documents = [], plural, text, problems = [], note, next } = result;
  const { stdout } = context;
  const isForPeople = !wantsData(output);
  if (!isForPeople && !output.events) printDocuments(documents, { ...output, plural }, context);
  if (isForPeople && text) stdout.write(text(themeOf(stdout, context), wrapOptionsOf(stdout)));
  for (const { problem, about } of problems) printProblem(problem, context, about);
  if (isForPeople && note) printSentence(note, context);
  if (isForPeople && next) printNextStep(next, context);
}
