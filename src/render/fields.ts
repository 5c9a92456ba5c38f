import type { Theme } from './theme.ts';
import { type Lines, widestWord, wrap } from './wrap.ts';

export type Row = readonly [label: string, value: string | undefined];

/**
 * Labelled lines in two columns; rows without a value are left out, and `indent` stands before each. A value wider than
 * its column goes on beneath itself, or beneath its label where not even its words fit. Ends with a newline unless it
 * is empty.
 */
export function block(rows: readonly Row[], theme: Theme, { columns, indent = 0 }: Lines = {}): string {
  const shown = rows.flatMap(([label, value]) => (value ? [[label, value.split(' ')] as const] : []));
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  const margin = ' '.repeat(indent);
  const beside = indent + width + 2;
  return shown
    .map(([label, words]) => {
      const fits = columns === undefined || beside + widestWord(words) <= columns;
      if (fits) return `${margin}${theme.dim(label.padEnd(width))}  ${wrap(words, { columns, indent: beside })}\n`;
      return `${margin}${theme.dim(label)}\n${margin}  ${wrap(words, { columns, indent: indent + 2 })}\n`;
    })
    .join('');
}
