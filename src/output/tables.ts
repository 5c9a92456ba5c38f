import type { ArgumentOutcome } from '../problems/outcome.ts';
import { nameOf, type Target } from '../run/run.ts';
import { errorTextOf } from '../run/service.ts';
import { lastStatusOf } from '../run/statuses.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatAgo } from '../system/time-text.ts';
import {
  colorOfStatus,
  durationOf,
  lengthOfIds,
  type ShownStatus,
  symbolOfStatus,
  withoutStatus,
} from './status-text.ts';
import { type Cell, type Column, table } from './table-layout.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

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

/** On a terminal, which has `columns`, ids are as short as possible. Everywhere else they are complete. */
export function runTable(runs: readonly ListedRun[], nowMs: number, theme: Theme, { columns }: WrapOptions): string {
  const ids = runs.flatMap(({ executionId }) => executionId ?? []);
  const idLength = columns === undefined ? Infinity : lengthOfIds(ids);
  const since = (time: string) => ({ text: formatAgo(nowMs - Date.parse(time)) });
  const listColumns: readonly Column<ListedRun>[] = [
    {
      heading: 'STATUS',
      cell(run, theme) {
        if (run.status === null) return doubtful(lastStatusOf(run), theme);
        return statusCell({ status: run.status, isFinal: run.isFinal }, theme);
      },
    },
    automation,
    {
      heading: 'RUN',
      cell: ({ executionId }, { dim }) => ({ text: sanitizeLine(executionId?.slice(0, idLength) ?? ''), style: dim }),
    },
    { heading: 'STARTED', cell: ({ startedAt, at }) => since(startedAt ?? at) },
    { heading: 'TOOK', cell: (run) => ({ text: tookOf(run, nowMs) ?? '' }) },
    { heading: 'POLLED', cell: ({ isOld, statusAt, at }) => (isOld ? since(statusAt ?? at) : { text: '' }) },
    { heading: 'CREDITS', cell: ({ creditsCharged }) => ({ text: String(creditsCharged ?? '') }) },
    { heading: 'ORIGIN', cell: ({ idempotencyKey }) => ({ text: idempotencyKey === null ? 'elsewhere' : '' }) },
    { heading: 'ERROR', cell: ({ error = '' }, { bad }) => ({ text: sanitizeLine(error), style: bad }) },
  ];
  return table(listColumns, runs, theme, columns);
}

const automation = {
  heading: 'AUTOMATION',
  cell: ({ target }: { target: Target }) => ({ text: sanitizeLine(nameOf(target)) }),
};

const statusCell = (shown: ShownStatus, theme: Theme): Cell => ({
  text: sanitizeLine(shown.status),
  symbol: symbolOfStatus(shown, theme),
  style: colorOfStatus(shown, theme),
});

const doubtful = (text: string, { symbols, warn }: Theme): Cell => ({ text, symbol: symbols.warn, style: warn });

/** How long a run took, or has been running if it was polled just now. */
function tookOf({ status, isFinal, isOld, startedAt, completedAt }: ListedRun, nowMs: number): string | undefined {
  const isRunning = status !== null && !isFinal && !isOld;
  return durationOf({ startedAt, completedAt: isRunning ? new Date(nowMs).toISOString() : completedAt });
}

const finalColumns: readonly Column<ArgumentOutcome>[] = [
  {
    heading: 'STATUS',
    cell: (outcome, theme) =>
      outcome.execution ? statusCell(outcome.execution, theme) : doubtful(withoutStatus(outcome), theme),
  },
  automation,
  {
    heading: 'DURATION',
    cell({ execution, result }) {
      const ends = execution?.isFinal
        ? { ...execution, completedAt: execution.completedAt ?? result?.completedAt }
        : {};
      return { text: durationOf(ends) ?? '' };
    },
  },
  { heading: 'CREDITS', cell: ({ execution }) => ({ text: String(execution?.creditsCharged ?? '') }) },
  { heading: 'ERROR', cell: ({ result }) => ({ text: sanitizeLine(errorTextOf(result).split('\n')[0] ?? '') }) },
];

/** The table of several runs at the end of a command. */
export const finalTable = (outcomes: readonly ArgumentOutcome[], theme: Theme, { columns }: WrapOptions): string =>
  table(finalColumns, outcomes, theme, columns);
