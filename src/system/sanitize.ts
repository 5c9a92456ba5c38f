import { stripVTControlCharacters } from 'node:util';
import { escapeUnit } from './json.ts';

// Control characters, and invisible ones that reorder or hide text ("Trojan Source", tag
// characters). Joiners and variation selectors stay, as Persian and emoji need them.
const unsafe = () =>
  /(?![\t\n\u200C]|\u200D|[\uFE0E\uFE0F])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu;

// A command string (ECMA-48 §5.6) such as a window title, with its content; Node strips only the
// frame of some.
const commandString = () =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  /(?:\u001B[P\]X^_]|[\u0090\u0098\u009D-\u009F])\P{Cc}*(?:\u0007|\u001B\\|\u009C)/gu;

// Most text is plain, so it is tested first. The expressions for all other text take 1 ms to
// compile.
const isPlain = (text: string) => /^[\t\n -~]*$/.test(text);

/**
 * Text from the service, made harmless for a terminal: no escape sequences, no control characters
 * but tab and newline.
 */
export function sanitize(text: string): string {
  if (isPlain(text)) return text;
  return stripVTControlCharacters(text.replace(commandString(), ''))
    .replace(/\r\n?/g, '\n')
    .replace(unsafe(), '');
}

/** The sanitized text on one line. */
export function sanitizeLine(text: string): string {
  return sanitize(text).replace(/\s+/g, ' ').trim();
}

/**
 * JSON made harmless for a terminal: what `sanitize` would remove is escaped, so that the document
 * stays the same.
 */
export function sanitizeJson(json: string): string {
  return isPlain(json)
    ? json
    : json.replace(unsafe(), (character) => character.split('').map(escapeUnit).join(''));
}

/**
 * Breaks what the runner of GitHub Actions takes as a command: `::` and a name, and `##[`
 * (actions/runner, ActionCommand.cs).
 */
export function withoutCommands(text: string): string {
  return text.replace(/:(?=:[a-z])/gi, ': ').replaceAll('##[', '## [');
}

/**
 * The same JSON document without `##[` in its text. Its line begins with a bracket, so never with
 * `::`.
 */
export const withoutCommandsInJson = (json: string): string => json.replaceAll('##[', '#\\u0023[');
