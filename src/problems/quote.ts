import { fullNameOf, type Run } from '../runs/run.ts';

/** A run as an argument that works without the journal, quoted for a shell. */
export const fullArgumentOf = ({ target, executionId }: Run): string =>
  shellWord(target.family === 'agent' ? executionId : `${fullNameOf(target)}/${executionId}`);

/** The text, quoted so that a POSIX shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

export const quote = (text: string): string => JSON.stringify(text);

/** `1 run`, `2 runs`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
