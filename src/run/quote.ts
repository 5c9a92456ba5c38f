import { isPlainName } from './automation-name.ts';
import { fullNameOf, type Run, type Target } from './run.ts';

/**
 * The name as a message has it: quoted unless it is one plain word, so that it doesn't run into the
 * sentence.
 */
export const quotedName = ({ automationName }: { automationName: string }): string =>
  /^[\p{L}\p{N}_][\p{L}\p{N}._-]*$/u.test(automationName) ? automationName : quote(automationName);

/** Names of automations in a message: `a, "b c"`. */
export const quotedNames = (names: readonly string[]): string =>
  names.map((automationName) => quotedName({ automationName })).join(', ');

/**
 * The text between double quotes, as JSON. Its backquotes are escaped: in a sentence they mark what
 * is to be typed.
 */
export const quote = (text: string): string => JSON.stringify(text).replaceAll('`', '\\u0060');

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
 * Matches a text to type, such as a command. In a sentence of the source it is in backquotes. It is
 * printed in single quotes, or on a line of its own. A quoted argument in it may have backquotes.
 */
const typedSource = /`((?:\\.|'[^']*'|[^`'\\])+)`/.source;

/** Finds each text to type in a sentence. */
export const typedIn = (sentence: string): string[] =>
  [...sentence.matchAll(new RegExp(typedSource, 'g'))].map(([, typed = '']) => typed);

/** The sentence, in which `shown` replaces each text to type. */
export const withTyped = (sentence: string, shown: (typed: string) => string): string =>
  sentence.replace(new RegExp(typedSource, 'g'), (_, typed) => shown(typed));

/**
 * Splits a sentence into words for wrapping. A text to type is one word, together with the
 * punctuation around it.
 */
export const wordsIn = (sentence: string): string[] =>
  sentence.match(new RegExp(`[^\\s\`]*${typedSource}[^\\s\`]*|\\S+`, 'g')) ?? [];

/**
 * A sentence on one line, for JSON. Commands are in single quotes, unless the sentence is only a
 * command.
 */
export function plainSentence(sentence: string): string {
  const [typed = ''] = typedIn(sentence);
  return sentence === `\`${typed}\`` ? typed : withTyped(sentence, (typed) => `'${typed}'`);
}

/** `1 run`, `2 runs`. */
export const pluralize = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;
