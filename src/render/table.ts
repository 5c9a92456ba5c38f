import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';

export interface Column<Row> {
  heading: string;
  cell(row: Row, theme: Theme): Cell;
  /** The width to which the column may be cut; undefined if it must not be cut. */
  least?: number;
  /** If cutting is not enough, the columns with the lowest number are left out first. */
  spare?: number;
  /** If there is no room, this column gets a line of its own, and the headings are left out. */
  mayStandBelow?: boolean;
  isNumber?: boolean;
}

/** The text of a cell has no escape sequences; `style` adds them. */
type Cell = string | readonly [text: string, style: (text: string) => string];

const partsOf = (cell: Cell = '') => (typeof cell === 'string' ? ([cell, String] as const) : cell);
const gap = '  ';

/** Aligned columns, within `width` if it is given. Of the columns that may be cut, the first is cut last. */
export function table<Row>(
  columns: readonly Column<Row>[],
  all: readonly Row[],
  theme: Theme,
  width = Infinity,
): string {
  const head = columns.map(({ heading }) => heading);
  const rows = all.map((row) => columns.map(({ cell }) => cell(row, theme)));
  const measured = columns.map(({ least, ...column }, index) => {
    const full = Math.max(...[head, ...rows].map((cells) => widthOf(partsOf(cells[index])[0])));
    return { ...column, index, full, least: Math.min(full, least ?? full), mayBeCut: least !== undefined };
  });
  let shown = measured;
  const room = () => width - shown.reduce((sum, { least }) => sum + least, (shown.length - 1) * gap.length);
  const below = room() < 0 ? measured.filter(({ mayStandBelow }) => mayStandBelow) : [];
  shown = shown.filter((column) => !below.includes(column));
  const spares = measured.filter(({ spare }) => spare).sort((one, other) => (one.spare ?? 0) - (other.spare ?? 0));
  for (const spare of spares) if (room() < 0) shown = shown.filter((column) => column !== spare);
  let left = room();
  const widths = shown.map(({ full, least, mayBeCut }) => {
    const given = mayBeCut ? Math.max(0, Math.min(full, least + left)) : full;
    left -= given - least;
    return given;
  });
  const lineOf = (cells: readonly Cell[]) => {
    const texts = shown.map(({ index, isNumber }, at) => {
      const [text, style] = partsOf(cells[index]);
      const cut = cutTo(text, widths[at] ?? 0, theme);
      if (isNumber) return style(cut.padStart(widths[at] ?? 0));
      return style(at === shown.length - 1 ? cut : padTo(cut, widths[at] ?? 0));
    });
    const others = below.map(({ index }) => partsOf(cells[index])).map(([text, style]) => `\n${gap}${style(text)}`);
    return `${texts.join(gap).trimEnd()}${others.join('')}\n`;
  };
  return (below.length > 0 ? '' : theme.dim(lineOf(head))) + rows.map(lineOf).join('');
}
