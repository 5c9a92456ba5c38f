import type { Invocation, Sink } from '../context.ts';
import { type HintContext, plainHintContext } from '../messages/hint-context.ts';
import { diagnosticOf } from '../messages/of-outcome.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { commandExitNameOf, factsOf } from '../run/exit-of.ts';
import { type Outcome, targetOf } from '../run/outcome.ts';
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

/** What a command returns. Each member says where it is printed, and with which flags. */
export interface Result {
  /**
   * What became of each argument. With every flag, they decide the exit code and which problems are
   * printed on stderr. With `--json` or `--field`, stdout has one document for each of them.
   */
  outcomes?: readonly Outcome[];
  /**
   * The outcomes whose problems are still to be printed. By default all, but `recover` prints each
   * of its own at once.
   */
  unreported?: readonly Outcome[];
  /**
   * What the hints of problems and documents need. By default, nothing is known of this machine.
   */
  hintContext?: HintContext;
  /**
   * May the command line be repeated without a second run? By default, if that is so for each
   * outcome.
   */
  isSafeToRepeat?: boolean;
  /** How the command ends if all its outcomes are well. By default `ok`. */
  exit?: ExitName;
  /**
   * On stdout with every flag: what a command prints that has no documents, such as a script.
   * Sanitized only on a terminal.
   */
  script?: string;
  /** Printed without `--json` and `--field` only. */
  forPeople?: ResultForPeople;
  /** Sentences on stderr with every flag, because neither documents nor text show what they say. */
  notices?: readonly string[];
}

/** What is printed in place of documents. */
interface ResultForPeople {
  /**
   * On stdout: a bare value that scripts may read, too, such as an id or a path. Sanitized only on
   * a terminal.
   */
  raw?: string;
  /**
   * On stdout: in the colors and the width of the terminal, and in CI without commands to the
   * runner.
   */
  text?(theme: Theme, lines: WrapOptions): string;
  /** On stderr: a sentence. */
  note?: string;
  /** On stderr: what to type next. */
  next?: string;
}

/**
 * Prints what a command returned: first what belongs on stdout, then the problems and sentences for
 * stderr.
 */
export function printResult(result: Result, output: OutputOptions, context: Invocation): void {
  const { outcomes = [], unreported = outcomes, script, notices = [] } = result;
  const forPeople = wantsData(output) ? {} : (result.forPeople ?? {});
  const { raw, note, next } = forPeople;
  if (wantsData(output)) printDocuments(documentsOf(result, context), output, context);
  if (script !== undefined) printLine(script, context);
  if (raw !== undefined) printLine(raw, context);
  const hasText = printText(forPeople, context);
  const hasProblems = printProblems(unreported, result.hintContext, context);
  // The text on stdout says how a run ended, so nothing else has to.
  if (!hasProblems && !hasText) printVerdict([...new Set(outcomes)], context);
  for (const sentence of notices) printSentence(sentence, context);
  if (note) printSentence(note, context);
  if (next) printNextStep(next, context);
}

/** Returns whether there was anything to print. */
function printText({ text }: ResultForPeople, context: Invocation): boolean {
  const { stdout } = context;
  const shown = text?.(themeOf(stdout, context), wrapOptionsOf(stdout)) ?? '';
  stdout.write(shown);
  return shown !== '';
}

/** Returns whether there was anything to print. */
function printProblems(
  outcomes: readonly Outcome[],
  hintContext: HintContext | undefined,
  context: Invocation,
): boolean {
  const problems = problemsOf(outcomes, hintContext, context);
  for (const { diagnostic, name } of problems.slice(0, maxProblems)) printDiagnostic(diagnostic, context, name);
  const more = problems.length - maxProblems;
  if (more > 0) printSentence(`runctl: and ${count(more, 'more problem')}; \`runctl list\` shows every run`, context);
  return problems.length > 0;
}

/** How many problems are printed. Further ones are only counted. */
const maxProblems = 9;

export const exitNamesOf = ({ outcomes = [], exit = 'ok' }: Result): ExitName[] => [
  ...outcomes.map(commandExitNameOf),
  exit,
];

function documentsOf({ outcomes = [], hintContext, isSafeToRepeat }: Result, context: Invocation): JsonObject[] {
  const isSafe = isSafeToRepeat ?? outcomes.every(({ triggerInfo }) => triggerInfo?.isSafeToRepeat ?? true);
  return outcomes.map((outcome) => documentOf(outcome, context, { hintContext, isSafeToRepeat: isSafe }));
}

/**
 * What went wrong, in the order of the arguments, and with the name of the automation if there are
 * several. A run that was named twice is reported once.
 */
function problemsOf(outcomes: readonly Outcome[], hintContext = plainHintContext, { stdout }: Invocation) {
  const distinct = [...new Set(outcomes)];
  return distinct.flatMap((outcome) => {
    // The signal came because the reader of stdout has left, and that message would only repeat it.
    const isUnread = outcome.kind === 'watch_ended' && outcome.end.kind === 'signal' && stdout.closed.aborted;
    const diagnostic = outcome.exitsZero || isUnread ? undefined : diagnosticOf(outcome, hintContext);
    if (!diagnostic) return [];
    const target = targetOf(outcome);
    return { diagnostic, name: target && distinct.length > 1 ? automationNameOf(target) : undefined };
  });
}

/** Prints one line for each document, so that a script reads one and several in the same way. */
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

/**
 * Whether a missing field may be a mistake in the path. It isn't one below `runctl`, which leaves
 * out fields on purpose, nor after a failure, when the service sent few fields.
 */
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

/**
 * Prints a line of data. The user asked for exactly this text, so commands for a CI runner in it
 * are not broken.
 */
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

/**
 * Says on stderr which runs didn't complete, because otherwise a failed exit code could also come
 * from Node or the shell. On a terminal nothing is printed, because the run itself is shown there.
 */
function printVerdict(outcomes: readonly Outcome[], { stderr, warnings }: Invocation): void {
  const isReported = stderr.isTTY || warnings.some((warning) => warning.name === 'replayed_failure');
  const notCompleted = outcomes.filter((outcome) => /^(run_|still_running)/.test(commandExitNameOf(outcome)));
  if (isReported || notCompleted.length === 0) return;
  const completed = outcomes.filter((outcome) => commandExitNameOf(outcome) === 'ok').length;
  if (outcomes.length > 1) stderr.write(`runctl: ${completed} of ${count(outcomes.length, 'run')} completed\n`);
  for (const outcome of notCompleted.slice(0, maxVerdicts)) stderr.write(`runctl: ${verdictOf(outcome)}\n`);
}

const maxVerdicts = 10;

/**
 * One line with the status, the first line of the error and the id. A mail from cron may be all
 * that is kept of a run.
 */
function verdictOf(outcome: Outcome): string {
  const { status, result } = factsOf(outcome);
  const [error] = errorTextOf(result).split('\n');
  const target = targetOf(outcome);
  const name = target ? automationNameOf(target) : 'the run';
  const reason = error ? `: ${error}` : '';
  return sanitizeLine(`${name} ${status?.status}${reason} (run ${outcome.run?.executionId})`);
}

/**
 * Prints a message and its hint on stderr. `name` is the automation's, and left out if the message
 * has it.
 */
export function printDiagnostic({ message, choices = [], hint }: Diagnostic, context: Invocation, name?: string): void {
  const { stderr } = context;
  const hasName = name === undefined || message.includes(name);
  const prefix = hasName ? 'runctl:' : `runctl: ${sanitizeLine(name)}:`;
  const theme = themeOf(stderr, context);
  const lines = { ...wrapOptionsOf(stderr), indent: 2, taken: prefix.length + 1 };
  stderr.write(`${theme.bad(prefix)} ${renderMarkup(message, theme, lines)}\n`);
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

/**
 * Lines are broken only for a terminal. In a log, a sentence stays on one line, so that it can be
 * searched.
 */
export const wrapOptionsOf = ({ isTTY, columns }: Sink): WrapOptions => (isTTY ? { columns: columns() } : {});

export const themeOf = ({ colors }: Sink, { unicode, withFlags }: Invocation): Theme =>
  createTheme({ colors, unicode, withFlags });
