import { formatDuration } from '../runs/duration.ts';
import { isCompleted, nameOf } from '../runs/run.ts';
import type { Statistics } from '../runs/statistics.ts';
import { sanitizeLine } from './sanitize.ts';
import { type Column, table } from './table.ts';
import type { Theme } from './theme.ts';

const columnsOfTable: readonly Column[] = [
  { heading: 'AUTOMATION', least: 12 },
  { heading: 'RUNS', isNumber: true },
  { heading: 'COMPLETED', isNumber: true },
  { heading: 'MEDIAN', isNumber: true, spare: 5 },
  { heading: 'P95', isNumber: true, spare: 2 },
  { heading: 'CREDITS', isNumber: true, spare: 3 },
  { heading: 'PER DAY', isNumber: true, spare: 1 },
  { heading: 'LAST RUNS', spare: 4 },
];

export const statisticsTable = (all: readonly Statistics[], columns: number, theme: Theme): string =>
  table(
    columnsOfTable,
    all.map((each) => cellsOf(each, theme)),
    theme,
    columns,
  );

function cellsOf(statistics: Statistics, theme: Theme): string[] {
  const { target, finished, statuses, completedShare, medianMs, p95Ms, credits, creditsPerDay } = statistics;
  const share =
    completedShare === null ? unknown : `${statuses.COMPLETED ?? 0} (${Math.floor(completedShare * 100)} %)`;
  return [
    sanitizeLine(nameOf(target)),
    String(finished),
    share,
    medianMs === null ? unknown : formatDuration(medianMs),
    p95Ms === null ? unknown : formatDuration(p95Ms),
    credits === null ? unknown : numberOf(credits),
    creditsPerDay === null ? unknown : numberOf(creditsPerDay),
    sparkline(statistics, theme),
  ];
}

const unknown = '–';

/** A number, rounded to a whole one from a hundred on, else to one decimal. */
const numberOf = (value: number) => String(value >= 100 ? Math.round(value) : Math.round(value * 10) / 10);

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
