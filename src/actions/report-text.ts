import type { Context } from '../context.ts';
import type { FinalRow } from '../render/final-table.ts';
import { summary } from '../render/summary.ts';
import type { Theme } from '../render/theme.ts';
import type { WrapOptions } from '../render/wrap.ts';
import { type ArgumentResult, finishedWatchOf, isOk, targetOfResult } from './argument-result.ts';

interface SummaryStyle {
  table?: typeof import('../render/final-table.ts')['finalTable'];
  quiet?: boolean;
  theme: Theme;
  lines: WrapOptions;
}

export function summaries(
  results: ArgumentResult[],
  { quiet, theme, lines, table }: SummaryStyle,
  context: Context,
): string {
  const { stdout, stderr } = context;
  // On a terminal the progress of many runs stands before and after them.
  const apart = results.length > 1 && !quiet && stdout.isTTY && stderr.isTTY ? '\n' : '';
  const watches = results.flatMap((result) => finishedWatchOf(result) ?? []);
  const isTable = table !== undefined && watches.length > 0 && !quiet;
  const shown = results.flatMap((result) => {
    const watched = finishedWatchOf(result);
    return watched && !((quiet || isTable) && isOk(result)) ? [summary(watched, theme, lines)] : [];
  });
  if (isTable) shown.unshift(table(results.map(rowOf), theme, lines));
  if (shown.length === 0) return '';
  return `${apart}${shown.join('\n')}${apart}`;
}

function rowOf(result: ArgumentResult): FinalRow {
  const watched = result.kind === 'followed' ? result.watched : undefined;
  const finished = finishedWatchOf(result);
  return {
    target: targetOfResult(result),
    execution: watched?.execution,
    result: finished?.result,
    otherwise: withoutStatus(result),
  };
}

function withoutStatus(result: ArgumentResult): string {
  if (result.kind === 'skipped') return 'skipped';
  if (result.kind !== 'failed') return 'not polled';
  return result.problem.facts.started === 'unknown' ? 'in doubt' : 'not started';
}

/** How many runs stand how: `1 running · 12 completed · 2 failed`. */
export function countsOf(results: ArgumentResult[], { symbols }: Theme): string {
  const counts = new Map([
    ['running', 0],
    ['completed', 0],
  ]);
  for (const result of results) {
    const { execution, otherwise } = rowOf(result);
    const word = execution?.status.toLowerCase().replaceAll('_', ' ') ?? otherwise;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(` ${symbols.dot} `);
}
