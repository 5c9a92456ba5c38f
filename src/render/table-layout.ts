import { unknown } from './status.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, shortenTo, widthOf } from './width.ts';

export interface Column<Row> {
  heading: string;
  cell(row: Row, theme: Theme): Cell;
  /** The width to which the column may be cut; undefined if it must not be cut. */
  least?: number;
  /** Where to cut: a name says as much at its end as at its beginning. */
  cut?: 'middle' | 'end';
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
    return texts(column, columnWidth, { isLast: at === shown.length - 1, theme });
  });
  return ['', ...rows]
    .map(
      (_, at) =>
        `${cells
          .map((lines) => lines[at])
          .join(' '.repeat(gap))
          .trimEnd()}\n`,
    )
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

/** The heading and the cells of a column, each as wide as the column. */
function texts(
  { heading, cells, cut, isNumber }: Measured,
  width: number,
  { isLast, theme }: { isLast: boolean; theme: Theme },
): string[] {
  return [[heading, theme.dim] as const, ...cells].map(([text, style]) => {
    const fitting = (cut === 'middle' ? shortenTo : cutTo)(text, width, theme);
    if (isNumber) return style(fitting.padStart(width));
    return style(isLast ? fitting : padTo(fitting, width));
  });
}
