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

/** Aligned columns within `width`. Of the columns that may be cut, the first is cut last. */
export function table<Row>(definitions: readonly Column<Row>[], rows: readonly Row[], theme: Theme, width = Infinity) {
  const columns = definitions.flatMap((column) => measure(column, rows, theme) ?? []);
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
function measure<Row>({ cell, least, ...column }: Column<Row>, rows: readonly Row[], theme: Theme) {
  const cells = rows
    .map((row) => cell(row, theme))
    .map((each): StyledText => (typeof each === 'string' ? [each, String] : each));
  if (!cells.some(([text]) => text !== '' && text !== unknown)) return undefined;
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
