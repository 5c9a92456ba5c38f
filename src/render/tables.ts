import { nameOf, type Target } from '../runs/run.ts';
import { type Execution, errorTextOf, type RunResult } from '../runs/service.ts';
import { lastStatusOf } from '../runs/statuses.ts';
import { formatAgo, localTime } from '../runs/time-text.ts';
import { sanitizeLine } from '../sanitize.ts';
import { colorOfStatus, durationOf, lengthOfIds, type ShownStatus, symbolOfStatus, unknown } from './status-text.ts';
import { type Column, table } from './table-layout.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

const automation = {
  heading: 'AUTOMATION',
  cell: ({ target }: { target: Target }) => sanitizeLine(nameOf(target)),
  least: 16,
  cut: 'middle',
} as const;

/** A run, or a trigger that may have started none. Times are ISO 8601. */
interface ListedRun {
  target: Target;
  executionId: string | null;
  status: string | null;
  isFinal: boolean;
  startedAt: string | null;
  completedAt: string | null;
  /** When this machine first recorded it. */
  at: string;
  statusAt?: string;
  /** The run was unfinished, and its status couldn't be polled. */
  isOld?: boolean;
  creditsCharged: number | null;
  /** Null if this machine has only looked at the run. */
  idempotencyKey: string | null;
  /** Why it failed, if this machine has seen its result. */
  error?: string;
}

const columnsOfList = (nowMs: number, idLength: number, isBare: boolean): readonly Column<ListedRun>[] => [
  {
    heading: 'STATUS',
    cell(run, theme) {
      const age = run.isOld && !isBare ? ` (${polledOf(run, nowMs)})` : '';
      if (run.status === null) return [`${theme.symbols.warn} ${lastStatusOf(run)}`, theme.warn];
      return statusCell({ status: run.status, isFinal: run.isFinal }, theme, age);
    },
  },
  automation,
  { heading: 'STARTED', spare: 4, isNumber: true, cell: ({ startedAt, at }) => agoOf(startedAt ?? at, nowMs) },
  {
    heading: 'TOOK',
    spare: 5,
    isNumber: true,
    cell: (run) => tookOf(run, nowMs) ?? '',
  },
  { heading: 'CREDITS', spare: 1, isNumber: true, cell: ({ creditsCharged }) => String(creditsCharged ?? '') },
  { heading: 'ORIGIN', spare: 2, cell: ({ idempotencyKey }) => (idempotencyKey === null ? 'elsewhere' : '') },
  ...(isBare ? [{ heading: 'POLLED', cell: (run: ListedRun) => (run.isOld ? polledOf(run, nowMs) : '') }] : []),
  {
    heading: 'RUN',
    cell: ({ executionId }, { dim }) => [sanitizeLine(executionId?.slice(0, idLength) ?? unknown), dim],
  },
  { heading: 'ERROR', least: 20, spare: 3, cell: ({ error = '' }, { bad }) => [sanitizeLine(error), bad] },
];

/** How long a run took, or has been running if it was polled just now. */
function tookOf({ status, isFinal, isOld, startedAt, completedAt }: ListedRun, nowMs: number): string | undefined {
  const isRunning = status !== null && !isFinal && !isOld;
  return durationOf({ startedAt, completedAt: isRunning ? new Date(nowMs).toISOString() : completedAt });
}

const polledOf = ({ statusAt, at }: ListedRun, nowMs: number) => formatAgo(nowMs - Date.parse(statusAt ?? at));

function statusCell(shown: ShownStatus, theme: Theme, more = '') {
  const text = `${symbolOfStatus(shown, theme)} ${sanitizeLine(shown.status)}${more}`;
  return [text, colorOfStatus(shown, theme)] as const;
}

const longAgoMs = 2 * 86_400_000;

function agoOf(timestamp: string, nowMs: number): string {
  const ageMs = nowMs - Date.parse(timestamp);
  if (Number.isNaN(ageMs)) return unknown;
  return ageMs < longAgoMs ? formatAgo(ageMs) : localTime(timestamp).replace(/:\d\d /, ' ');
}

/** On a terminal, which has `columns`, ids are as short as possible. Everywhere else they are complete. */
export function runTable(runs: readonly ListedRun[], nowMs: number, theme: Theme, { columns }: WrapOptions): string {
  const ids = runs.flatMap(({ executionId }) => executionId ?? []);
  const idLength = columns === undefined ? Infinity : lengthOfIds(ids);
  return table(columnsOfList(nowMs, idLength, columns === undefined), runs, theme, columns);
}

export interface FinalRow {
  target: Target;
  execution?: Execution;
  result?: RunResult;
  /** What to show if there is no status. */
  whenNoStatus: string;
}

const columnsAtEnd: readonly Column<FinalRow>[] = [
  {
    heading: 'STATUS',
    cell({ execution, whenNoStatus }, theme) {
      if (!execution) return [`${theme.symbols.warn} ${whenNoStatus}`, theme.warn];
      return statusCell(execution, theme);
    },
  },
  automation,
  {
    heading: 'DURATION',
    spare: 3,
    isNumber: true,
    cell({ execution, result }) {
      if (!execution?.isFinal) return unknown;
      return durationOf({ ...execution, completedAt: execution.completedAt ?? result?.completedAt }) ?? unknown;
    },
  },
  {
    heading: 'CREDITS',
    spare: 2,
    isNumber: true,
    cell: ({ execution }) => String(execution?.creditsCharged ?? unknown),
  },
  // The error is printed below the table, too, so a few words of it are not worth the room.
  {
    heading: 'ERROR',
    least: 32,
    spare: 1,
    cell: ({ result }) => sanitizeLine(errorTextOf(result).split('\n')[0] ?? ''),
  },
];

/** The table of several runs at the end of a command. */
export const finalTable = (rows: readonly FinalRow[], theme: Theme, { columns }: WrapOptions): string =>
  table(columnsAtEnd, rows, theme, columns);
