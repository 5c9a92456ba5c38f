import { formatAgo } from '../runs/duration.ts';
import { lastStatusOf, nameOf, type Target } from '../runs/run.ts';
import { sanitizeLine } from './sanitize.ts';
import { colorOfStatus, durationOf } from './status.ts';
import { type Cell, type Column, table } from './table.ts';
import type { Theme } from './theme.ts';

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
  /** The run was unfinished, and its status could not be polled. */
  isOld?: boolean;
}

const columnsOfTable: readonly Column[] = [
  { heading: 'STATUS' },
  { heading: 'AUTOMATION', least: 12 },
  { heading: 'STARTED', spare: 2 },
  { heading: 'TOOK', spare: 1 },
  // The id is not cut, so that it can be copied.
  { heading: 'RUN', mayStandBelow: true },
];

export const runTable = (runs: readonly ListedRun[], nowMs: number, columns: number, theme: Theme): string =>
  table(
    columnsOfTable,
    runs.map((run) => cellsOf(run, nowMs, theme)),
    theme,
    columns,
  );

function cellsOf(run: ListedRun, nowMs: number, theme: Theme): Cell[] {
  const { target, executionId, startedAt, completedAt, at, statusAt = at, isOld } = run;
  const age = isOld ? ` (${formatAgo(nowMs - Date.parse(statusAt))})` : '';
  return [
    [sanitizeLine(lastStatusOf(run)) + age, colorOfStatus(target, run.status ?? '', theme)],
    sanitizeLine(nameOf(target)),
    ageOf(nowMs - Date.parse(startedAt ?? at), startedAt ?? at),
    durationOf({ startedAt: startedAt ?? undefined, completedAt: completedAt ?? undefined }) ?? '',
    [executionId === null ? 'resolve it with runctl recover' : sanitizeLine(executionId), theme.dim],
  ];
}

const longAgoMs = 2 * 86_400_000;

function ageOf(ageMs: number, timestamp: string): string {
  return ageMs < longAgoMs ? formatAgo(ageMs) : sanitizeLine(timestamp.slice(0, 16).replace('T', ' '));
}
