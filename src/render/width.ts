import stringWidth from 'string-width';
import type { Theme } from './theme.ts';

/** The columns that a text takes on a terminal: an ideograph takes two, an accent none. */
export const widthOf = (text: string): number => (narrow.test(text) ? text.length : stringWidth(text));

// Of one column each: the symbols of a theme and the letters of western Europe. To measure any other, string-width
// compiles an expression of all emoji, which takes 100 ms of CPU.
const narrow = /^[ -~À-ſ·–…→●⚠✔✖]*$/;

export const padTo = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - widthOf(text)));

/** The text, cut with an ellipsis if it is wider than `columns`. It must not hold escape sequences. */
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

/** The same, cut in the middle: of `sync-customers-eu` and `sync-customers-us`, the ends tell which is which. */
export function shortenTo(text: string, columns: number, theme: Theme): string {
  if (widthOf(text) <= columns) return text;
  const { ellipsis } = theme.symbols;
  const room = columns - widthOf(ellipsis);
  if (room < 2) return cutTo(text, columns, theme);
  const characters = [...text];
  const half = (from: readonly string[], width: number) => {
    let taken = 0;
    while (taken < from.length && widthOf(from.slice(0, taken + 1).join('')) <= width) taken += 1;
    return from.slice(0, taken);
  };
  const start = half(characters, Math.ceil(room / 2));
  const end = half([...characters].reverse(), Math.floor(room / 2)).reverse();
  return `${start.join('')}${ellipsis}${end.join('')}`;
}
