import { stripVTControlCharacters } from 'node:util';

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

const widthOfWord = (word: string) => stripVTControlCharacters(word).length;

export const widestWord = (words: readonly string[]): number => Math.max(0, ...words.map(widthOfWord));

/** Breaks words into lines. Ideographs count as one column, not two: the terminal then breaks a line itself. */
export function wrap(words: readonly string[], { columns, indent = 0, taken = indent }: WrapOptions): string {
  let text = '';
  let column = taken;
  for (const word of words) {
    const width = widthOfWord(word);
    const isFirst = text === '';
    const breaks = !isFirst && columns !== undefined && column + 1 + width > columns;
    if (!isFirst) text += breaks ? `\n${' '.repeat(indent)}` : ' ';
    text += word;
    column = (breaks ? indent : column + (isFirst ? 0 : 1)) + width;
  }
  return text;
}
