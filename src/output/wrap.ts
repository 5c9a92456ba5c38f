import { stripVTControlCharacters } from 'node:util';
import type { Sink } from '../context.ts';

/** A page of help is no wider than this, in a pipe and on the widest terminal. */
export const widestPage = 100;

export interface WrapOptions {
  /** The width of the terminal; without it, lines are not broken. */
  columns?: number;
  /** The number of blanks before each line after the first. */
  indent?: number;
  /** The columns that are taken on the first line already; by default `indent`. */
  taken?: number;
}

/**
 * How lines are broken for this stream. In a log, a sentence stays on one line, so that it can be
 * searched, and only a terminal has `columns`.
 */
export const wrapOptionsOf = ({ isTTY, columns }: Sink): WrapOptions =>
  isTTY ? { columns: columns() } : {};

const widthOfWord = (word: string) => stripVTControlCharacters(word).length;

/** The columns of the widest word. */
export const widestWord = (words: readonly string[]): number =>
  Math.max(0, ...words.map(widthOfWord));

/**
 * Breaks words into lines. Ideographs count as one column, not two: the terminal then breaks a line
 * itself.
 */
export function wrap(
  words: readonly string[],
  { columns, indent = 0, taken = indent }: WrapOptions,
): string {
  const [first = '', ...others] = words;
  let text = first;
  let column = taken + widthOfWord(first);
  for (const word of others) {
    const breaks = columns !== undefined && column + 1 + widthOfWord(word) > columns;
    text += breaks ? `\n${' '.repeat(indent)}` : ' ';
    column = breaks ? indent : column + 1;
    text += word;
    column += widthOfWord(word);
  }
  return text;
}
