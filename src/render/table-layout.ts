import { unknown } from './status-text.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, shortenTo, widthOf } from './width.ts';
import { wrap } from './wrap.ts';

export interface Column<Row> {
  heading: string;
  cell(row: Row, theme: Theme): Cell;
  /** The width to which the column may be cut; undefined if it must not be cut. */
  least?: number;
  /** Where to cut: a name says as much at its end as at its beginning. A sentence goes on in the next line. */
  cut?: 'middle' | 'end' | 'wrap';
  /** If cutting is not enough, the columns with the lowest number are left out first. */
  spare?: number;
  isNumber?: boolean;
}

/** The text of a cell has no escape sequences; `style` adds them. */
type Cell = string | StyledText;
type StyledText = readonly [text: string, style: (text: string) => string];

const gap = 2;

/** Aligned columns within `width`. Of the columns that may be cut, the first is cut last. Without a width, for a pipe. */
export function table<Row>(
  definitions: readonly Column<Row>[],
  rows: readonly Row[],
  theme: Theme,
  width: number | undefined,
): string {
  return width === undefined ? bareTable(definitions, rows, theme) : layOut(definitions, rows, theme, width);
}

/** For `awk`: no symbols, no column left out and no blank in a cell, except in the last column. */
function bareTable<Row>(definitions: readonly Column<Row>[], rows: readonly Row[], theme: Theme): string {
  const bare = { ...theme, symbols: { ...theme.symbols, ok: '', bad: '', warn: '', running: '' } };
  const columns = definitions.map(({ heading, cell, isNumber }, at) => ({
    heading: heading.replaceAll(' ', '_'),
    isNumber,
    cell(row: Row): Cell {
      const [text, style] = [cell(row, bare)].flat() as [string, StyledText[1]?];
      const word = text.trim().replace(unknown, '-') || '-';
      return [at === definitions.length - 1 ? word : wordOf(word), style ?? String];
    },
  }));
  return layOut(columns, rows, theme, Infinity, { keepsAll: true });
}

/** `1m 12s ago` becomes `1m12s`, and `18 (90%)` `18(90%)`. */
const wordOf = (text: string) =>
  text
    .replace(/^just now$/, '0s')
    .replace(/ ago$/, '')
    .replace(/ (?=\(|\d+[a-z]+$)/g, '')
    .replaceAll(/\s+/g, '_');

function layOut<Row>(
  definitions: readonly Column<Row>[],
  rows: readonly Row[],
  theme: Theme,
  width: number,
  { keepsAll = false } = {},
): string {
  const columns = definitions.flatMap((column) => measure(column, rows, theme, keepsAll) ?? []);
  const shown = withoutSpares(columns, width);
  let left = width - leastOf(shown);
  const cells = shown.map((column, at) => {
    const columnWidth = column.mayBeCut ? Math.max(0, Math.min(column.full, column.least + left)) : column.full;
    left -= columnWidth - column.least;
    const lines = texts(column, columnWidth, { isLast: at === shown.length - 1, theme });
    return { lines, blank: ' '.repeat(columnWidth) };
  });
  const lineOf = (row: number, at: number) => cells.map(({ lines, blank }) => lines[row]?.[at] ?? blank);
  return ['', ...rows]
    .flatMap((_, row) => {
      const height = Math.max(...cells.map(({ lines }) => lines[row]?.length ?? 0));
      return Array.from({ length: height }, (_, at) => `${lineOf(row, at).join(' '.repeat(gap)).trimEnd()}\n`);
    })
    .join('');
}

/** A column with its cells and widths; undefined if no cell says anything. */
function measure<Row>({ cell, least, ...column }: Column<Row>, rows: readonly Row[], theme: Theme, keepsAll: boolean) {
  const cells = rows
    .map((row) => cell(row, theme))
    .map((each): StyledText => (typeof each === 'string' ? [each, String] : each));
  if (!keepsAll && !cells.some(([text]) => text !== '' && text !== unknown)) return undefined;
  const full = Math.max(...[column.heading, ...cells.map(([text]) => text)].map(widthOf));
  return { ...column, cells, full, least: Math.min(full, least ?? full), mayBeCut: least !== undefined };
}

type Measured = NonNullable<ReturnType<typeof measure>>;

const leastOf = (columns: readonly Measured[]) =>
  columns.reduce((sum, { least }) => sum + least, Math.max(0, columns.length - 1) * gap);

function withoutSpares(columns: readonly Measured[], width: number): readonly Measured[] {
  const [first] = columns.filter(({ spare }) => spare).sort((one, other) => (one.spare ?? 0) - (other.spare ?? 0));
  if (leastOf(columns) <= width || !first) return columns;
  return withoutSpares(
    columns.filter((column) => column !== first),
    width,
  );
}

/** The heading and the cells of a column, each as lines that are as wide as the column. */
function texts(
  { heading, cells, cut, isNumber }: Measured,
  width: number,
  { isLast, theme }: { isLast: boolean; theme: Theme },
): string[][] {
  return [[heading, theme.dim] as const, ...cells].map(([text, style]) => {
    const lines = cut === 'wrap' ? wrap(text.split(' '), { columns: width }).split('\n') : [text];
    return lines.map((line) => {
      const fitting = (cut === 'middle' ? shortenTo : cutTo)(line, width, theme);
      if (isNumber) return style(fitting.padStart(width));
      return style(isLast ? fitting : padTo(fitting, width));
    });
  });
}
