import { formatDuration } from '../runs/duration.ts';
import { isCompleted, nameOf } from '../runs/run.ts';
import type { Statistics } from '../runs/statistics.ts';
import { cleanLine } from './sanitize.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';

const headings = ['AUTOMATION', 'RUNS', 'COMPLETED', 'MEDIAN', 'P95', 'CREDITS', 'A DAY', 'LAST RUNS'];
const gap = '  ';
// A name that is cut shorter than this says little.
const shortestName = 12;

/** A line for each target: the name to the left, numbers to the right, then its last runs as a sparkline. */
export function statisticsTable(all: readonly Statistics[], columns: number, theme: Theme): string {
  const rows = all.map((each) => cellsOf(each, theme));
  const widths = headings.map((_, column) => {
    // Only a name may hold characters that are wider than others; to measure them takes long.
    const measure = column === 0 ? widthOf : (cell: string) => cell.length;
    return Math.max(...[headings, ...rows].map((row) => measure(row[column] ?? '')));
  });
  const others = widths.slice(1).reduce((total, width) => total + gap.length + width, 0);
  const nameWidth = Math.max(Math.min(widths[0] ?? 0, columns - others), shortestName);
  const lineOf = ([name = '', ...cells]: readonly string[]) => {
    const aligned = cells.map((cell, index) => {
      return index === cells.length - 1 ? cell : cell.padStart(widths[index + 1] ?? 0);
    });
    return `${[padTo(cutTo(name, nameWidth, theme), nameWidth), ...aligned].join(gap).trimEnd()}\n`;
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
