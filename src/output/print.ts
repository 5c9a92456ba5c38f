import type { Invocation, Sink } from '../context.ts';
import { type HintContext, plainHintContext } from '../messages/hint-context.ts';
import { diagnosticOf } from '../messages/of-outcome.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { commandExitNameOf, factsOf } from '../run/exit-of.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import { count, quote } from '../run/quote.ts';
import { automationNameOf } from '../run/run.ts';
import { errorTextOf } from '../run/service.ts';
import { type JsonObject, stringifyJson } from '../system/json.ts';
import { sanitize, sanitizeJson, sanitizeLine, withoutCommandsInJson } from '../system/sanitize.ts';
import { documentOf } from './document.ts';
import { valueAt } from './field-paths.ts';
import { createTheme, renderMarkup, type Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

export interface OutputOptions {
  json?: boolean;
  /** Paths of `--field`. */
  field?: string[];
  quiet?: boolean;
}

export const wantsData = ({ json, field }: OutputOptions) => Boolean(json || field?.length);

/** What a command answers with, in the order in which it is printed. On stdout, the flags choose which of three it is. */
export interface Result {
  /** What became of each argument: documents, problems and the exit code are made of them. */
  outcomes?: readonly Outcome[];
  hintContext?: HintContext;
  /** May the command line be repeated without a second run? By default, if that is so for each outcome. */
  isSafeToRepeat?: boolean;
  /** For shells, such as a path or a script: printed as it is, and sanitized only on a terminal. Without outcomes, it is the data. */
  raw?: string;
  /** For people: in the colors and the width of the terminal, and in CI without commands to the runner. */
  text?(theme: Theme, lines: WrapOptions): string;
  /** The command has printed its problems itself. */
  isPrinted?: boolean;
  /** Sentences for people, on stderr. */
  note?: string;
  /** Sentences on stderr about what the data does not show, so with `--json`, too. */
  notice?: string | readonly string[];
  /** What to type next, on stderr. */
  next?: string;
  /** How the command ends if all its outcomes are well. */
  exit?: ExitName;
}

/** Prints documents if data was asked for, else text. */
export function printResult(result: Result, output: OutputOptions, context: Invocation): void {
  const { outcomes = [], raw, text, note, notice, next } = result;
  const { stdout } = context;
  const isForPeople = !wantsData(output);
  if (!isForPeople) printDocuments(documentsOf(result, context), output, context);
  if (raw !== undefined && (isForPeople || outcomes.length === 0)) printLine(raw, context);
  const shown = isForPeople ? (text?.(themeOf(stdout, context), wrapOptionsOf(stdout)) ?? '') : '';
  stdout.write(shown);
  const problems = result.isPrinted ? [] : problemsOf(result, context);
  for (const { diagnostic, about } of problems.slice(0, mostProblems)) printDiagnostic(diagnostic, context, about);
  const more = problems.length - mostProblems;
  if (more > 0) printSentence(`runctl: and ${count(more, 'more problem')}; \`runctl list\` shows every run`, context);
  // The text on stdout says how a run ended, so nothing else has to.
  if (problems.length === 0 && shown === '') printVerdict([...new Set(outcomes)], context);
  for (const sentence of [notice ?? []].flat()) printSentence(sentence, context);
  if (isForPeople && note) printSentence(note, context);
  if (isForPeople && next) printNextStep(next, context);
}

/** The others are counted. */
const mostProblems = 9;

export const exitNamesOf = ({ outcomes = [], exit = 'ok' }: Result): ExitName[] => [
  ...outcomes.map(commandExitNameOf),
  exit,
];

function documentsOf({ outcomes = [], hintContext, isSafeToRepeat }: Result, context: Invocation): JsonObject[] {
  const isSafe = isSafeToRepeat ?? outcomes.every(({ triggerInfo }) => triggerInfo?.isRepeatable ?? true);
  return outcomes.map((outcome) => documentOf(outcome, context, { hintContext, isSafeToRepeat: isSafe }));
}

/** What went wrong, in the order of the arguments. A run that was named twice is reported once. */
function problemsOf({ outcomes = [], hintContext = plainHintContext }: Result, { stdout }: Invocation) {
  const distinct = [...new Set(outcomes)];
  return distinct.flatMap((outcome) => {
    // If the reader has left, nobody would read that message.
    const isUnread = outcome.kind === 'watch_ended' && outcome.end.kind === 'signal' && stdout.closed.aborted;
    const diagnostic = outcome.exitsZero || isUnread ? undefined : diagnosticOf(outcome, hintContext);
    if (!diagnostic) return [];
    const { target } = outcome;
    return { diagnostic, about: target && distinct.length > 1 ? automationNameOf(target) : undefined };
  });
}

/** One line for each document, so that a reader takes one and twenty in the same way. */
function printDocuments(documents: readonly JsonObject[], { json, field = [] }: OutputOptions, context: Invocation) {
  const missing = new Set<string>();
  for (const document of documents) {
    if (json) {
      printJson(document, context);
      continue;
    }
    printLine(field.map((path) => textAt(document, path)).join('\t'), context);
    for (const path of field) if (isUnexpectedlyMissing(document, path)) missing.add(path);
  }
  for (const path of missing) printSentence(`runctl: the document has no ${quote(path)}`, context);
}

/** Is a path perhaps a mistake? What runctl itself leaves out is known, and a failure has few fields of the service. */
function isUnexpectedlyMissing(document: JsonObject, path: string): boolean {
  if (valueAt(document, path) !== undefined) return false;
  const [name = ''] = path.split('.');
  const isFailure = valueAt(document, 'runctl.problem') !== undefined;
  return name !== 'runctl' && !(isFailure && document[name] === undefined);
}

/** The raw value at a path, as text. Null is empty, and so is a value that is missing. */
function textAt(document: JsonObject, path: string): string {
  const value = valueAt(document, path);
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** Prints a line of data. The user asked for exactly this text, so a CI runner may see commands in it. */
function printLine(text: string, { stdout, rawStdout = stdout }: Invocation): void {
  rawStdout.write(`${stdout.isTTY ? sanitize(text) : text}\n`);
}

/** Prints one JSON document on stdout, on one line where that is no terminal. */
function printJson(document: unknown, { stdout, rawStdout }: Invocation): void {
  const json = stringifyJson(document, stdout.isTTY ? 2 : 0);
  const shown = stdout.isTTY ? sanitizeJson(json) : json;
  if (rawStdout) rawStdout.write(`${withoutCommandsInJson(shown)}\n`);
  else stdout.write(`${shown}\n`);
}

/** A code without a line on stderr would come from Node or the shell. On a terminal, the run itself is shown. */
function printVerdict(outcomes: readonly Outcome[], { stderr, warnings }: Invocation): void {
  const isSaid = stderr.isTTY || warnings.some((warning) => warning.name === 'replayed_failure');
  const open = outcomes.filter((outcome) => /^(run_|still_running)/.test(commandExitNameOf(outcome)));
  if (isSaid || open.length === 0) return;
  const done = outcomes.filter((outcome) => commandExitNameOf(outcome) === 'ok').length;
  if (outcomes.length > 1) stderr.write(`runctl: ${done} of ${count(outcomes.length, 'run')} completed\n`);
  for (const outcome of open.slice(0, mostVerdicts)) stderr.write(`runctl: ${verdictOf(outcome)}\n`);
}

const mostVerdicts = 10;

/** What a mail from cron must have, as it may be all that is kept: the status, the first line of the error, and the id. */
function verdictOf(outcome: Outcome): string {
  const { status, result } = factsOf(outcome);
  const [error] = errorTextOf(result).split('\n');
  const name = outcome.target ? automationNameOf(outcome.target) : 'the run';
  const what = `${name} ${status?.status}${error ? `: ${error}` : ''}`;
  return sanitizeLine(`${what} (run ${outcome.run?.executionId})`);
}

export function printDiagnostic(
  { message, choices = [], hint }: Diagnostic,
  context: Invocation,
  about?: string,
): void {
  const { stderr } = context;
  const isNamed = about === undefined || message.includes(about);
  const who = isNamed ? 'runctl:' : `runctl: ${sanitizeLine(about)}:`;
  const theme = themeOf(stderr, context);
  const lines = { ...wrapOptionsOf(stderr), indent: 2, taken: who.length + 1 };
  stderr.write(`${theme.bad(who)} ${renderMarkup(message, theme, lines)}\n`);
  for (const choice of choices) stderr.write(`    ${sanitizeLine(choice)}\n`);
  if (hint) printNextStep(hint, context);
}

export function printNextStep(hint: string, context: Invocation): void {
  const { stderr } = context;
  const theme = themeOf(stderr, context);
  const lines = hint.split('\n').map((line) => renderMarkup(line, theme, { ...wrapOptionsOf(stderr), indent: 4 }));
  stderr.write(`  ${theme.symbols.arrow} ${lines.join('\n    ')}\n`);
}

export function printSentence(sentence: string, context: Invocation): void {
  const { stderr } = context;
  stderr.write(`${renderMarkup(sentence, themeOf(stderr, context), wrapOptionsOf(stderr))}\n`);
}

/** Lines are broken for a terminal; in a log, a sentence stays on one line. */
export const wrapOptionsOf = ({ isTTY, columns }: Sink): WrapOptions => (isTTY ? { columns: columns() } : {});

export const themeOf = ({ colors }: Sink, { unicode, withFlags }: Invocation): Theme =>
  createTheme({ colors, unicode, withFlags });
