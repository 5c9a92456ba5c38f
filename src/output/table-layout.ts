import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';

export interface Column<Row> {
  heading: string;
  cell(row: Row, theme: Theme): Cell;
}

/** A text without escape sequences. On a terminal it has a symbol before it, and a style. */
export interface Cell {
  text: string;
  symbol?: string;
  style?(text: string): string;
}

/** Aligned columns, for a terminal of this width. Without a width, for a pipe. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  theme: Theme,
  width: number | undefined,
): string {
  const filled = columns.map(({ heading, cell }) => ({
    heading,
    cells: rows.map((row) => cell(row, theme)),
  }));
  const laidOut = width === undefined ? forPipe(filled) : forTerminal(filled, theme, width);
  const lines = ['the headings', ...rows].map((_, index) => {
    const texts = laidOut.map((column) => column[index]);
    return texts.join(gap).trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
}

const gap = '  ';

const widestOf = (texts: readonly string[]) =>
  texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);

interface FilledColumn {
  heading: string;
  cells: readonly Cell[];
}

/**
 * For `awk`: every column, and each cell a word, or `-` for none. Only the last column has blanks.
 */
function forPipe(columns: readonly FilledColumn[]): string[][] {
  return columns.map(({ heading, cells }, at) => {
    const isLast = at === columns.length - 1;
    const texts = [heading, ...cells.map(({ text }) => (isLast ? text : asOneWord(text)) || '-')];
    const width = widestOf(texts);
    return texts.map((text) => padTo(text, width));
  });
}

/** `1m 12s` becomes `1m12s`, and `5m ago` becomes `5m`. Most cells are a word already. */
const asOneWord = (text: string) => (/\s/.test(text) ? joinWords(text) : text);

const joinWords = (text: string) =>
  text
    .replace(/^just now$/, '0s')
    .replace(/ ago$/, '')
    .replace(/ (?=\d+[a-z]$)/, '')
    .replaceAll(/\s+/g, '_');

/** If fewer columns are left for the last cell, it is left out, because it would say nothing. */
const minOfLast = 12;

/**
 * Lays out a table for a terminal. Columns that are empty or don't fit are left out. The last
 * column is cut to the width that is left, and others to a third of the terminal.
 */
function forTerminal(columns: readonly FilledColumn[], theme: Theme, width: number): string[][] {
  let columnsLeft = width;
  return columns.flatMap(({ heading, cells }, at) => {
    if (cells.every(({ text }) => text === '')) return [];
    const isLast = at === columns.length - 1;
    const shown = [
      { text: heading, style: theme.dim },
      ...cells.map(({ text, symbol, style = String }) => ({
        text: symbol ? `${symbol} ${text}` : text,
        style,
      })),
    ];
    const taken = Math.min(
      widestOf(shown.map(({ text }) => text)),
      isLast ? columnsLeft : Math.floor(width / 3),
    );
    if (taken > columnsLeft || (isLast && columnsLeft < minOfLast)) return [];
    columnsLeft -= taken + gap.length;
    return [shown.map(({ text, style }) => style(padTo(cutTo(text, taken, theme), taken)))];
  });
}
