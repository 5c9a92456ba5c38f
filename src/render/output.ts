import type { Context, Sink } from '../context.ts';
import { stringifyJson } from '../json-text.ts';
import type { Problem } from '../problems/problem.ts';
import type { JsonObject } from '../runs/json.ts';
import { fieldOf } from './field-paths.ts';
import { errorAnnotation, withoutCommandsInJson } from './github-actions.ts';
import { clean, cleanJson, cleanLine } from './sanitize.ts';
import { createTheme, renderMarkup, type Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

export interface OutputOptions {
  json?: boolean;
  field?: string[];
  events?: boolean;
  quiet?: boolean;
}

export const wantsData = ({ json, field, events }: OutputOptions) => Boolean(json || events || field?.length);

/** One document, or with `plural` an array (`--json`) or a line each (`--field`). */
export function printDocuments(
  documents: JsonObject[],
  options: OutputOptions & { plural?: boolean },
  context: Context,
): void {
  if (options.json) {
    printJson(options.plural ? documents : documents[0], context);
    return;
  }
  for (const document of documents) {
    const values = (options.field ?? []).map((path) => fieldOf(document, path, stringifyJson));
    const line = values.join('\t');
    printData(line, context);
  }
}

/** Made harmless on a terminal, elsewhere as it is: whoever shows it to a CI runner asked for that. */
export function printData(text: string, { stdout, runner }: Context): void {
  (runner?.data ?? stdout).write(`${stdout.isTTY ? clean(text) : text}\n`);
}

/** One JSON document on stdout, on one line where `indent` is 0. */
export function printJson(document: unknown, { stdout, runner }: Context, indent = stdout.isTTY ? 2 : 0): void {
  const json = stringifyJson(document, indent);
  const shown = stdout.isTTY ? cleanJson(json) : json;
  if (runner) runner.data.write(`${withoutCommandsInJson(shown)}\n`);
  else stdout.write(`${shown}\n`);
}

export function printProblem(problem: Problem, context: Context, about?: string): void {
  const { stderr } = context;
  const theme = themeOf(stderr, context);
  const { message, hint } = problem.facts;
  const isNamed = about === undefined || problem.message.includes(about);
  const who = isNamed ? 'runctl:' : `runctl: ${cleanLine(about)}:`;
  const lines = { ...wrapOptionsOf(stderr), indent: 2, taken: who.length + 1 };
  stderr.write(`${theme.bad(who)} ${renderMarkup(message, theme, lines)}\n`);
  if (hint) printNextStep(hint, context);
  context.runner?.commands?.write(errorAnnotation(about ?? 'runctl', hint ? `${message}\n${hint}` : message));
}

export function printNextStep(hint: string, context: Context): void {
  const { stderr } = context;
  const theme = themeOf(stderr, context);
  const text = renderMarkup(hint, theme, { ...wrapOptionsOf(stderr), indent: 4 });
  // A command that stands alone is there to be pasted.
  const shown = /^`[^`]+`$/.test(hint) ? text.replaceAll('`', '') : text;
  stderr.write(`  ${theme.symbols.arrow} ${shown}\n`);
}

export function printSentence(sentence: string, context: Context): void {
  const { stderr } = context;
  stderr.write(`${renderMarkup(sentence, themeOf(stderr, context), wrapOptionsOf(stderr))}\n`);
}

/** Lines are broken for people; in a log a sentence stays on one. */
export const wrapOptionsOf = ({ isTTY, columns }: Sink): WrapOptions => (isTTY ? { columns } : {});

export function themeOf({ colors }: Sink, { unicode, connectionFlags }: Context): Theme {
  return createTheme({ colors, unicode, connectionFlags });
}
