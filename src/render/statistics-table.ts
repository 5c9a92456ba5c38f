import { formatDuration } from '../runs/duration.ts';
import { isCompleted, nameOf } from '../runs/run.ts';
import type { Statistics } from '../runs/statistics.ts';
import { cleanLine } from './sanitize.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';

const headings = ['AUTOMATION', 'RUNS', 'COMPLETED', 'MEDIAN', 'P95', 'CREDITS', 'PER DAY', 'LAST RUNS'];
/** Where there is no room for all columns these are left out, the first one first. */
const spare = ['PER DAY', 'P95', 'CREDITS', 'LAST RUNS', 'MEDIAN'];
const gap = '  ';
const shortestName = 12;

export function statisticsTable(all: readonly Statistics[], columns: number, theme: Theme): string {
  const rows = all.map((each) => cellsOf(each, theme));
  const widths = headings.map((_, column) => {
    // Only a name may hold characters that are wider than others; to measure them takes long.
    const measure = column === 0 ? widthOf : (cell: string) => cell.length;
    return Math.max(...[headings, ...rows].map((row) => measure(row[column] ?? '')));
  });
  let shown = headings.slice(1);
  const room = () =>
    columns - shown.reduce((total, name) => total + gap.length + (widths[headings.indexOf(name)] ?? 0), 0);
  for (const name of spare)
    if (room() < Math.min(widths[0] ?? 0, shortestName)) shown = shown.filter((each) => each !== name);
  const nameWidth = Math.max(Math.min(widths[0] ?? 0, room()), shortestName);
  const lineOf = (cells: readonly string[]) => {
    const aligned = shown.map((name) => {
      const index = headings.indexOf(name);
      return name === 'LAST RUNS' ? cells[index] : cells[index]?.padStart(widths[index] ?? 0);
    });
    return `${[padTo(cutTo(cells[0] ?? '', nameWidth, theme), nameWidth), ...aligned].join(gap).trimEnd()}\n`;
  };
  return theme.dim(lineOf(headings)) + rows.map(lineOf).join('');
}

function cellsOf(statistics: Statistics, theme: Theme): string[] {
  const { target, finished, statuses, completedShare, medianMs, p95Ms, credits, creditsPerDay } = statistics;
  const share =
    completedShare === null ? unknown : `${statuses.COMPLETED ?? 0} (${Math.floor(completedShare * 100)} %)`;
  return [
    cleanLine(nameOf(target)),
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

/** Whole from a hundred on, else with a decimal where it has one. */
const numberOf = (value: number) => String(value >= 100 ? Math.round(value) : Math.round(value * 10) / 10);

/** The last runs, oldest first: the median is half as high as one that took twice as long or longer. */
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
