import { isPlainName } from './automation-name.ts';
import { fullNameOf, type Run, type Target } from './run.ts';

/** A run as an argument that works without the journal, quoted for a shell. */
export const fullArgumentOf = ({ target, executionId }: Run): string =>
  shellWord(`${fullNameOf(target)}/${executionId}`);

/** An automation as an argument, by its name alone if it can be. */
export const automationArgumentOf = (target: Target): string =>
  shellWord(isPlainName(target.automationName) ? target.automationName : fullNameOf(target));

/** The text, quoted so that a POSIX shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

export const quote = (text: string): string => JSON.stringify(text);

/** `1 run`, `2 runs`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
