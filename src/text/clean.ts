import { stripVTControlCharacters } from 'node:util';

/**
 * Control characters, and invisible ones that reorder or hide text (Unicode TR 36, "Trojan
 * Source"). Tab, line feed, joiners and variation selectors stay: Persian and emoji need them.
 */
const unsafe =
  /(?![\t\n\u200C]|\u200D|[\uFE0E\uFE0F])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu;

/** Foreign text, made harmless for a terminal: no escape sequences, control or invisible characters. */
export const clean = (text: string): string =>
  stripVTControlCharacters(text).replace(/\r\n?/g, '\n').replace(unsafe, '');

/** The cleaned text on one line. */
export const cleanLine = (text: string): string => clean(text).replace(/\s+/g, ' ').trim();

/** The same JSON document, harmless for a terminal: what `clean` removes is escaped. */
export const cleanJson = (json: string): string =>
  json.replace(unsafe, (character) => character.split('').map(escapeUnit).join(''));

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Text that a CI runner doesn't take for a command: `::name`, `##[name]` (GitHub Actions,
 * ActionCommand.cs), `##vso[name]` and `##teamcity[name]` are broken up.
 */
export const withoutRunnerCommands = (text: string): string =>
  text.replace(/:(?=:[a-z])/gi, ': ').replace(/##(?=\w*\[)/g, '## ');
