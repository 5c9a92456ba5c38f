import { isFinal, nameOf, type Target } from '../runs/run.ts';
import { type Execution, errorTextOf, type RunResult } from '../runs/service.ts';
import { sanitizeLine } from './sanitize.ts';
import { colorOfStatus, durationOf, symbolOfStatus } from './status.ts';
import { type Cell, type Column, table } from './table.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

export interface FinalRow {
  target: Target;
  execution?: Execution;
  result?: RunResult;
  /** What to show if there is no status. */
  otherwise: string;
}

const columnsOfTable: readonly Column[] = [
  { heading: 'STATUS' },
  { heading: 'AUTOMATION', least: 12 },
  { heading: 'DURATION', spare: 2 },
  { heading: 'CREDITS', spare: 1 },
  { heading: 'ERROR', least: 12 },
];

/** The table of several runs at the end of a command. */
export const finalTable = (rows: readonly FinalRow[], theme: Theme, { columns }: WrapOptions): string =>
  table(
    columnsOfTable,
    rows.map((row) => cellsOf(row, theme)),
    theme,
    columns,
  );

function cellsOf({ target, execution, result, otherwise }: FinalRow, theme: Theme): Cell[] {
  const { status = otherwise, creditsCharged } = execution ?? {};
  const symbol = execution ? symbolOfStatus(target, status, theme) : theme.symbols.warn;
  const isFinished = execution !== undefined && isFinal(target, status);
  const [line] = errorTextOf(result).split('\n');
  return [
    [`${symbol} ${sanitizeLine(status)}`, execution ? colorOfStatus(target, status, theme) : theme.warn],
    sanitizeLine(nameOf(target)),
    (isFinished && durationOf({ ...execution, completedAt: execution.completedAt ?? result?.completedAt })) || '–',
    creditsCharged === undefined ? '–' : String(creditsCharged),
    sanitizeLine(line ?? ''),
  ];
}
