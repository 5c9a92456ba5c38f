import { isPlainName } from './automation-name.ts';
import { fullNameOf, type Run, type Target } from './run.ts';

export { quote } from './run.ts';

/** A run as an argument that works without the journal, quoted for a shell. */
export const fullArgumentOf = ({ target, executionId }: Run): string =>
  shellWord(`${fullNameOf(target)}/${executionId}`);

/** An automation as an argument, by its name alone if it can be. */
export const automationArgumentOf = (target: Target): string =>
  shellWord(isPlainName(target.automationName) ? target.automationName : fullNameOf(target));

/** The text, quoted so that a POSIX shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Matches a text that is to be typed. In the source of a sentence it stands between backquotes, and
 * it is printed between single quotes or alone on its line. A quoted argument in it may have
 * backquotes of its own.
 */
const typedSource = /`((?:\\.|'[^']*'|[^`'\\])+)`/.source;

/** Finds each text that is to be typed. */
export const typedIn = (sentence: string): string[] =>
  [...sentence.matchAll(new RegExp(typedSource, 'g'))].map(([, typed = '']) => typed);

/** The sentence with each text that is to be typed replaced by what `shown` makes of it. */
export const withTyped = (sentence: string, shown: (typed: string) => string): string =>
  sentence.replace(new RegExp(typedSource, 'g'), (_, typed) => shown(typed));

/**
 * Splits a sentence into words for wrapping. A text that is to be typed is one word, together with
 * the punctuation around it.
 */
export const wordsIn = (sentence: string): string[] =>
  sentence.match(new RegExp(`[^\\s\`]*${typedSource}[^\\s\`]*|\\S+`, 'g')) ?? [];

/**
 * A sentence on one line, for JSON. Commands stand in single quotes, unless the sentence is only a
 * command.
 */
export function plainSentence(sentence: string): string {
  const [typed = ''] = typedIn(sentence);
  return sentence === `\`${typed}\`` ? typed : withTyped(sentence, (typed) => `'${typed}'`);
}

/** `1 run`, `2 runs`. */
export const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;
