import { formatAgo } from '../runs/duration.ts';
import { lastStatusOf, nameOf, type Target } from '../runs/run.ts';
import { cleanLine } from './sanitize.ts';
import { colorOfStatus, durationOf } from './status.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';

/** A run, or a trigger that may have started none. Times are ISO 8601. */
interface ListedRun {
  target: Target;
  executionId: string | null;
  status: string | null;
  startedAt: string | null;
  completedAt: string | null;
  /** When this machine first recorded it. */
  at: string;
  statusAt?: string;
  /** Could the status not be polled, though the run was unfinished? */
  isOld?: boolean;
}

const gap = '  ';
const headings = { status: 'STATUS', name: 'AUTOMATION', age: 'STARTED', took: 'TOOK', id: 'RUN' };
type Column = keyof typeof headings;

const shortestName = 12;

/** Where the terminal is narrow the name gives way, then the id has a line of its own: it is never cut. */
export function runTable(runs: readonly ListedRun[], nowMs: number, columns: number, theme: Theme): string {
  const rows = runs.map((run) => ({
    style: colorOfStatus(run.target, run.status ?? '', theme),
    ...cellsOf(run, nowMs),
  }));
  const widthOfColumn = (column: Column) => Math.max(...[headings, ...rows].map((cells) => widthOf(cells[column])));
  const widths = { status: widthOfColumn('status'), age: widthOfColumn('age'), took: widthOfColumn('took') };
  const fixed = widths.status + widths.age + widths.took + 3 * gap.length;
  const idWidth = gap.length + widthOfColumn('id');
  const nameWidth = widthOfColumn('name');
  const isNarrow = columns - fixed - idWidth < Math.min(nameWidth, shortestName);
  const room = columns - fixed - (isNarrow ? 0 : idWidth);
  const hasTimes = room >= Math.min(nameWidth, shortestName);
  const name = Math.min(nameWidth, hasTimes ? room : Math.max(0, columns - widths.status - gap.length));

  const lineOf = (cells: Record<Column, string>, style: (text: string) => string) => {
    const line = [
      style(padTo(cells.status, widths.status)),
      padTo(cutTo(cells.name, name, theme), name),
      ...(hasTimes ? [padTo(cells.age, widths.age), padTo(cells.took, widths.took)] : []),
    ].join(gap);
    return `${isNarrow ? `${line.trimEnd()}\n` : line}${gap}${theme.dim(cells.id)}\n`;
  };
  const heading = isNarrow ? '' : theme.dim(lineOf(headings, String));
  return heading + rows.map((row) => lineOf(row, row.style)).join('');
}

function cellsOf(run: ListedRun, nowMs: number): Record<Column, string> {
  const { target, executionId, startedAt, completedAt, at, statusAt = at, isOld } = run;
  return {
    status: cleanLine(lastStatusOf(run)) + (isOld ? ` (${formatAgo(nowMs - Date.parse(statusAt))})` : ''),
    name: cleanLine(nameOf(target)),
    age: ageOf(nowMs - Date.parse(startedAt ?? at), startedAt ?? at),
    took: durationOf({ startedAt: startedAt ?? undefined, completedAt: completedAt ?? undefined }) ?? '',
    id: executionId === null ? 'resolve it with runctl recover' : cleanLine(executionId),
  };
}

const longAgoMs = 2 * 86_400_000;

function ageOf(ageMs: number, timestamp: string): string {
  return ageMs < longAgoMs ? formatAgo(ageMs) : cleanLine(timestamp.slice(0, 16).replace('T', ' '));
}
