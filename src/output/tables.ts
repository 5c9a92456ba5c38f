import { type Entry, executionIdOf, isUnfinished, type RunEntry, statusOf } from '../run/entry.ts';
import { factsOf } from '../run/exit-of.ts';
import { type TargetOutcome, targetOf } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import { errorTextOf, type RunStatus } from '../run/service.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatAgo } from '../system/time-text.ts';
import {
  colorOfStatus,
  durationOf,
  lengthOfIds,
  symbolOfStatus,
  textWithoutStatus,
} from './status-text.ts';
import { type Cell, type Column, renderTable } from './table-layout.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

/** A line of the list. */
export interface ListRow {
  entry: Entry;
  /** The run was unfinished, and its status couldn't be polled. */
  isOld: boolean;
}

/**
 * On a terminal, which has `columns`, ids are as short as possible. Everywhere else they are
 * complete.
 */
export function runTable(
  rows: readonly ListRow[],
  nowMs: number,
  theme: Theme,
  { columns }: WrapOptions,
): string {
  const ids = rows.flatMap(({ entry }) => executionIdOf(entry) ?? []);
  const idLength = columns === undefined ? Infinity : lengthOfIds(ids);
  const since = (time: string) => ({ text: formatAgo(nowMs - Date.parse(time)) });
  const listColumns: readonly Column<ListRow>[] = [
    {
      heading: 'STATUS',
      cell: ({ entry }, theme) =>
        entry.kind === 'run' ? statusCell(entry, theme) : doubtful(statusOf(entry), theme),
    },
    { heading: 'AUTOMATION', cell: ({ entry }) => automationCell(entry) },
    {
      heading: 'RUN',
      cell: ({ entry }, { dim }) => ({
        text: sanitizeLine(executionIdOf(entry)?.slice(0, idLength) ?? ''),
        style: dim,
      }),
    },
    { heading: 'STARTED', cell: ({ entry }) => since(runFieldsOf(entry).startedAt ?? entry.at) },
    { heading: 'TOOK', cell: (row) => ({ text: tookOf(row, nowMs) ?? '' }) },
    {
      heading: 'POLLED',
      cell: ({ entry, isOld }) =>
        entry.kind === 'run' && isOld ? since(entry.statusAt) : { text: '' },
    },
    {
      heading: 'CREDITS',
      cell: ({ entry }) => ({ text: String(runFieldsOf(entry).creditsCharged ?? '') }),
    },
    {
      heading: 'ORIGIN',
      cell: ({ entry }) => ({ text: entry.idempotencyKey === undefined ? 'elsewhere' : '' }),
    },
    {
      heading: 'ERROR',
      cell: ({ entry }, { bad }) => ({
        text: sanitizeLine(runFieldsOf(entry).error ?? ''),
        style: bad,
      }),
    },
  ];
  return renderTable(listColumns, rows, theme, columns);
}

const runFieldsOf = (entry: Entry): Partial<RunEntry> => (entry.kind === 'unresolved' ? {} : entry);

const automationCell = ({ target }: { target: Target }): Cell => ({
  text: sanitizeLine(target.automationName),
});

const statusCell = (shown: RunStatus, theme: Theme): Cell => ({
  text: sanitizeLine(shown.status),
  symbol: symbolOfStatus(shown, theme),
  style: colorOfStatus(shown, theme),
});

const doubtful = (text: string, { symbols, warn }: Theme): Cell => ({
  text,
  symbol: symbols.warn,
  style: warn,
});

/** How long a run took, or has been running if it was polled just now. */
function tookOf({ entry, isOld }: ListRow, nowMs: number): string | undefined {
  const isRunning = isUnfinished(entry) && !isOld;
  const { startedAt, completedAt } = runFieldsOf(entry);
  return durationOf({
    startedAt,
    completedAt: isRunning ? new Date(nowMs).toISOString() : completedAt,
  });
}

const finalColumns: readonly Column<TargetOutcome>[] = [
  {
    heading: 'STATUS',
    cell(outcome, theme) {
      const { snapshot } = factsOf(outcome);
      return snapshot ? statusCell(snapshot, theme) : doubtful(textWithoutStatus(outcome), theme);
    },
  },
  { heading: 'AUTOMATION', cell: (outcome) => automationCell({ target: targetOf(outcome) }) },
  {
    heading: 'DURATION',
    cell(outcome) {
      const { snapshot, result } = factsOf(outcome);
      const completedAt = snapshot?.completedAt ?? result?.completedAt;
      const took = snapshot?.isFinal ? durationOf({ ...snapshot, completedAt }) : undefined;
      return { text: took ?? '' };
    },
  },
  {
    heading: 'CREDITS',
    cell: (outcome) => ({ text: String(factsOf(outcome).snapshot?.creditsCharged ?? '') }),
  },
  {
    heading: 'ERROR',
    cell: (outcome) => ({ text: sanitizeLine(errorOf(outcome).split('\n')[0] ?? '') }),
  },
];

/** Why the run failed, or why there is none. */
function errorOf(outcome: TargetOutcome): string {
  const { snapshot, result, fault } = factsOf(outcome);
  return errorTextOf(result) || (snapshot ? '' : (fault?.message ?? ''));
}

/** The table of several runs at the end of a command. */
export const finalTable = (
  outcomes: readonly TargetOutcome[],
  theme: Theme,
  { columns }: WrapOptions,
): string => renderTable(finalColumns, outcomes, theme, columns);
