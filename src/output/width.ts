import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** The columns that a text takes on a terminal. Colors take none, ideographs two. */
export const widthOf = (text: string): number =>
  /^[ -~]*$/.test(text) ? text.length : stringWidth(text);

/** The text with blanks behind it, so that it takes this many columns. */
export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));

export const padStart = (text: string, columns: number): string =>
  ' '.repeat(Math.max(0, columns - widthOf(text))) + text;

/** The text broken between words, for a terminal: each line but the first is indented. */
export const wrap = (text: string, columns: number, indent: number): string =>
  wrapAnsi(text, Math.max(columns - indent, 1)).replaceAll('\n', `\n${' '.repeat(indent)}`);

/** The text, cut with an ellipsis if it takes more columns. Its colors are kept. */
export function cut(text: string, columns: number, ellipsis: string): string {
  if (widthOf(text) <= columns) return text;
  let left = columns - ellipsis.length;
  if (left < 0) return ellipsis.slice(0, columns);
  let isCut = false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a color begins with Escape
  return text.replace(/\u001B\[[\d;]*m|./gsu, (token) => {
    if (token.length > 2 && token.startsWith('\u001B')) return token;
    if (isCut) return '';
    left -= widthOf(token);
    isCut = left < 0;
    return isCut ? ellipsis : token;
  });
}
