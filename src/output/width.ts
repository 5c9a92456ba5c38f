import stringWidth from 'string-width';
import type { Theme } from './theme.ts';

/** The columns that a text takes on a terminal: an ideograph takes two, an accent none. */
export const widthOf = (text: string): number =>
  narrow.test(text) ? text.length : stringWidth(text);

// Of one column each: the symbols of a theme and the letters of western Europe. To measure any
// other, string-width compiles an expression of all emoji, which takes 100 ms of CPU.
const narrow = /^[ -~À-ſ·–…→●⚠✔✖]*$/;

/** The text with blanks at its end, so that it takes this number of columns or more. */
export const padTo = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));

/**
 * The text, cut with an ellipsis if it is wider than `columns`. It must not hold escape sequences.
 */
export function cutTo(text: string, columns: number, { symbols }: Theme): string {
  if (widthOf(text) <= columns) return text;
  if (widthOf(symbols.ellipsis) > columns) return '';
  let shown = '';
  for (const character of text) {
    if (widthOf(shown + character + symbols.ellipsis) > columns) break;
    shown += character;
  }
  return shown + symbols.ellipsis;
}
