import { isFinal, nameOf, type Target } from '../runs/run.ts';
import { type Execution, errorTextOf, type RunResult } from '../runs/service.ts';
import { cleanLine } from './sanitize.ts';
import { colorOfStatus, durationOf, symbolOfStatus } from './status.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';
import type { WrapOptions } from './wrap.ts';

export interface FinalRow {
  target: Target;
  execution?: Execution;
  result?: RunResult;
  /** Stands in place of a status, where there is none to show. */
  otherwise: string;
}

const headings = ['STATUS', 'AUTOMATION', 'DURATION', 'CREDITS', 'ERROR'];
const gap = '  ';
const shortest = 12;

/** Several runs as one table. Where it is too wide the error is cut, then the name, then two columns are left out. */
export function finalTable(rows: readonly FinalRow[], theme: Theme, { columns }: WrapOptions): string {
  const all = [headings, ...rows.map((row) => cellsOf(row, theme))];
  const widthsOf = (cells: readonly string[][]) =>
    headings.map((_, index) => Math.max(...cells.map((row) => widthOf(row[index] ?? ''))));
  const widths = widthsOf(all);
  const widthUpTo = (shown: number[]) => shown.reduce((sum, index) => sum + (widths[index] ?? 0) + gap.length, 0);
  const isNarrow = columns !== undefined && widthUpTo([0, 2, 3]) + 2 * shortest > columns;
  const fixed = isNarrow ? [0] : [0, 2, 3];
  if (columns !== undefined) {
    const room = columns - widthUpTo(fixed);
    widths[1] = Math.min(widths[1] ?? 0, Math.max(shortest, room - gap.length - shortest));
    widths[4] = Math.min(widths[4] ?? 0, Math.max(0, room - widths[1] - gap.length));
  }
  const shown = isNarrow ? [0, 1, 4] : [0, 1, 2, 3, 4];
  const lineOf = (cells: readonly string[], style: (text: string) => string) =>
    shown
      .map((index) => {
        const text = padTo(cutTo(cells[index] ?? '', widths[index] ?? 0, theme), widths[index] ?? 0);
        return index === 0 ? style(text) : text;
      })
      .join(gap)
      .trimEnd();
  const [, ...lines] = all;
  const colorOf = ({ target, execution }: FinalRow) =>
    execution ? colorOfStatus(target, execution.status, theme) : theme.warn;
  return [theme.dim(lineOf(headings, String)), ...rows.map((row, i) => lineOf(lines[i] ?? [], colorOf(row)))]
    .map((line) => `${line}\n`)
    .join('');
}

function cellsOf({ target, execution, result, otherwise }: FinalRow, theme: Theme): string[] {
  const { status = otherwise, creditsCharged } = execution ?? {};
  const symbol = execution ? symbolOfStatus(target, status, theme) : theme.symbols.warn;
  const isFinished = execution !== undefined && isFinal(target, status);
  const [line] = errorTextOf(result).split('\n');
  return [
    `${symbol} ${cleanLine(status)}`,
    cleanLine(nameOf(target)),
    (isFinished && durationOf({ ...execution, completedAt: execution.completedAt ?? result?.completedAt })) || '–',
    creditsCharged === undefined ? '–' : String(creditsCharged),
    cleanLine(line ?? ''),
  ];
}
