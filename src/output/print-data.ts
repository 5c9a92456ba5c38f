import type { CommandContext } from '../context.ts';
import { quote } from '../run/quote.ts';
import { type JsonObject, stringifyJson } from '../system/json.ts';
import { sanitize, sanitizeJson, withoutCommandsInJson } from '../system/sanitize.ts';
import type { CommandResult, OutputOptions } from './command-result.ts';
import { documentOf } from './document.ts';
import { valueAt } from './field-paths.ts';
import { printSentence } from './print-message.ts';

/**
 * Prints one line for each document, so that a script reads one and several in the same way: JSON,
 * or the values of `--field`, separated by tabs.
 */
export function printDocuments(
  result: CommandResult,
  { json, field: paths = [] }: OutputOptions,
  context: CommandContext,
): void {
  const documents = documentsOf(result, context);
  if (json) {
    for (const document of documents) printJson(document, context);
    return;
  }
  for (const document of documents) {
    printLine(paths.map((path) => textAt(document, path)).join('\t'), context);
  }
  const missing = documents.flatMap((document) =>
    paths.filter((path) => isUnexpectedlyMissing(document, path)),
  );
  for (const path of new Set(missing)) {
    printSentence(`runctl: the document has no ${quote(path)}`, context);
  }
}

function documentsOf(result: CommandResult, context: CommandContext): JsonObject[] {
  const { outcomes = [], hintContext } = result;
  const isEachSafeToRepeat = outcomes.every(
    ({ triggerInfo }) => triggerInfo?.isSafeToRepeat ?? true,
  );
  const { isSafeToRepeat = isEachSafeToRepeat } = result;
  return outcomes.map((outcome) => documentOf(outcome, context, { hintContext, isSafeToRepeat }));
}

/**
 * Whether a missing field may be a mistake in the path. It isn't one below `runctl`, which leaves
 * out fields on purpose, nor after a failure, when the service sent few fields.
 */
function isUnexpectedlyMissing(document: JsonObject, path: string): boolean {
  if (valueAt(document, path) !== undefined) return false;
  const [name = ''] = path.split('.');
  if (name === 'runctl') return false;
  const isFailure = valueAt(document, 'runctl.problem') !== undefined;
  return !isFailure || document[name] !== undefined;
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
export function printLine(text: string, { stdout, rawStdout = stdout }: CommandContext): void {
  rawStdout.write(`${stdout.isTTY ? sanitize(text) : text}\n`);
}

/** Prints one JSON document on stdout: indented on a terminal, and on one line elsewhere. */
function printJson(document: JsonObject, { stdout, rawStdout }: CommandContext): void {
  const json = stringifyJson(document, stdout.isTTY ? 2 : 0);
  const shown = stdout.isTTY ? sanitizeJson(json) : json;
  if (rawStdout) rawStdout.write(`${withoutCommandsInJson(shown)}\n`);
  else stdout.write(`${shown}\n`);
}
