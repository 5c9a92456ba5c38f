import { formatAgo, formatDuration } from '../runs/duration.ts';
import { isCompleted, isFinal, lastStatusOf, nameOf, type Target } from '../runs/run.ts';
import { type Execution, errorTextOf, type RunResult } from '../runs/service.ts';
import type { Statistics } from '../runs/statistics.ts';
import { sanitizeLine } from './sanitize.ts';
import { colorOfStatus, durationOf, symbolOfStatus } from './status.ts';
import { type Column, table } from './table.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

const unknown = '–';

const automation = { heading: 'AUTOMATION', cell: ({ target }: { target: Target }) => sanitizeLine(nameOf(target)) };

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

const columnsOfList = (nowMs: number): readonly Column<ListedRun>[] => [
  {
    heading: 'STATUS',
    cell(run, theme) {
      const age = run.isOld ? ` (${formatAgo(nowMs - Date.parse(run.statusAt ?? run.at))})` : '';
      return [sanitizeLine(lastStatusOf(run)) + age, colorOfStatus(run.target, run.status ?? '', theme)];
    },
  },
  { ...automation, least: 12 },
  { heading: 'STARTED', spare: 2, cell: ({ startedAt, at }) => agoOf(startedAt ?? at, nowMs) },
  {
    heading: 'TOOK',
    spare: 1,
    cell: ({ startedAt, completedAt }) =>
      durationOf({ startedAt: startedAt ?? undefined, completedAt: completedAt ?? undefined }) ?? '',
  },
  {
    heading: 'RUN',
    // The id is not cut, so that it can be copied.
    mayStandBelow: true,
    cell: ({ executionId }, { dim }) => [
      executionId === null ? 'resolve it with runctl recover' : sanitizeLine(executionId),
      dim,
    ],
  },
];

const longAgoMs = 2 * 86_400_000;

function agoOf(timestamp: string, nowMs: number): string {
  const ageMs = nowMs - Date.parse(timestamp);
  return ageMs < longAgoMs ? formatAgo(ageMs) : sanitizeLine(timestamp.slice(0, 16).replace('T', ' '));
}

export const runTable = (runs: readonly ListedRun[], nowMs: number, columns: number, theme: Theme): string =>
  table(columnsOfList(nowMs), runs, theme, columns);

export interface FinalRow {
  target: Target;
  execution?: Execution;
  result?: RunResult;
  /** What to show if there is no status. */
  otherwise: string;
}

const columnsAtEnd: readonly Column<FinalRow>[] = [
  {
    heading: 'STATUS',
    cell({ target, execution, otherwise }, theme) {
      if (!execution) return [`${theme.symbols.warn} ${otherwise}`, theme.warn];
      const { status } = execution;
      return [`${symbolOfStatus(target, status, theme)} ${sanitizeLine(status)}`, colorOfStatus(target, status, theme)];
    },
  },
  { ...automation, least: 12 },
  {
    heading: 'DURATION',
    spare: 2,
    cell({ target, execution, result }) {
      if (!execution || !isFinal(target, execution.status)) return unknown;
      return durationOf({ ...execution, completedAt: execution.completedAt ?? result?.completedAt }) ?? unknown;
    },
  },
  { heading: 'CREDITS', spare: 1, cell: ({ execution }) => String(execution?.creditsCharged ?? unknown) },
  { heading: 'ERROR', least: 12, cell: ({ result }) => sanitizeLine(errorTextOf(result).split('\n')[0] ?? '') },
];

/** The table of several runs at the end of a command. */
export const finalTable = (rows: readonly FinalRow[], theme: Theme, { columns }: WrapOptions): string =>
  table(columnsAtEnd, rows, theme, columns);

const columnsOfStatistics: readonly Column<Statistics>[] = [
  { ...automation, least: 12 },
  { heading: 'RUNS', isNumber: true, cell: ({ finished }) => String(finished) },
  {
    heading: 'COMPLETED',
    isNumber: true,
    cell: ({ completedShare, statuses }) =>
      numberOf(completedShare, (share) => `${statuses.COMPLETED ?? 0} (${Math.floor(share * 100)} %)`),
  },
  { heading: 'MEDIAN', isNumber: true, spare: 5, cell: ({ medianMs }) => numberOf(medianMs, formatDuration) },
  { heading: 'P95', isNumber: true, spare: 2, cell: ({ p95Ms }) => numberOf(p95Ms, formatDuration) },
  { heading: 'CREDITS', isNumber: true, spare: 3, cell: ({ credits }) => numberOf(credits, rounded) },
  { heading: 'PER DAY', isNumber: true, spare: 1, cell: ({ creditsPerDay }) => numberOf(creditsPerDay, rounded) },
  { heading: 'LAST RUNS', spare: 4, cell: sparkline },
];

const numberOf = (value: number | null, format: (value: number) => string) =>
  value === null ? unknown : format(value);

/** Whole from a hundred on, else with one decimal. */
const rounded = (value: number) => String(value >= 100 ? Math.round(value) : Math.round(value * 10) / 10);

/** The last runs as bars, oldest first: the median has half the height, twice the median and more the full one. */
function sparkline({ latest, medianMs }: Statistics, { symbols }: Theme): string {
  const bars = [...symbols.bars];
  return latest
    .map(({ status, durationMs }) => {
      if (!isCompleted(status)) return symbols.bad;
      const height = Math.round(((durationMs ?? 0) / (medianMs || 1)) * (bars.length / 2));
      return bars[Math.min(Math.max(height, 1), bars.length) - 1];
    })
    .join('');
}

export const statisticsTable = (all: readonly Statistics[], columns: number, theme: Theme): string =>
  table(columnsOfStatistics, all, theme, columns);
