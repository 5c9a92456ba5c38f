import type { Run } from '../run/run.ts';
import { errorTextOf, type RunResult, type RunSnapshot } from '../run/service.ts';
import { sanitize, sanitizeLine } from '../system/sanitize.ts';
import { formatAgo, localTime } from '../system/time-text.ts';
import { colorOfStatus, creditsOf, durationOf } from './status-text.ts';
import type { Theme } from './theme.ts';
import { type WrapOptions, widestWord, wrap } from './wrap.ts';

export type FieldRow = readonly [label: string, value: string | undefined];

/**
 * Prints labels and values in two columns, and leaves out rows without a value. A long value
 * continues on lines below, and on a narrow terminal it begins below its label.
 */
export function renderFields(
  rows: readonly FieldRow[],
  theme: Theme,
  { columns, indent = 0 }: WrapOptions = {},
): string {
  const shown = rows.flatMap(([label, value]) =>
    value ? [[label, value.split(' ')] as const] : [],
  );
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  const margin = ' '.repeat(indent);
  const valueColumn = indent + width + 2;
  return shown
    .map(([label, words]) => {
      const fits = columns === undefined || valueColumn + widestWord(words) <= columns;
      const value = wrap(words, { columns, indent: fits ? valueColumn : indent + 2 });
      return fits
        ? `${margin}${theme.dim(label.padEnd(width))}  ${value}\n`
        : `${margin}${theme.dim(label)}\n${margin}  ${value}\n`;
    })
    .join('');
}

/** The status of a run and its other facts, one per line. `usual` is such as `usually 5m`. */
export function renderStatus(
  {
    run,
    snapshot,
    result,
    usual,
  }: { run: Run; snapshot: RunSnapshot; result?: RunResult; usual?: string },
  nowMs: number,
  theme: Theme,
  lines: WrapOptions,
): string {
  const { target } = run;
  const isFinished = snapshot.isFinal;
  return renderFields(
    [
      ['status', colorOfStatus(snapshot, theme)(sanitizeLine(snapshot.status))],
      ['automation', sanitize(target.automationName)],
      ['project', target.projectId],
      ['run', run.executionId],
      ['started', when(snapshot.startedAt, nowMs)],
      ['finished', isFinished ? when(snapshot.completedAt, nowMs) : undefined],
      ['duration', isFinished ? durationOf(snapshot) : soFar(snapshot, usual, nowMs)],
      ['credits', creditsOf(snapshot)],
      ['error', sanitizeLine(errorTextOf(result))],
    ],
    theme,
    lines,
  );
}

/** How long an unfinished run has taken: `4m 12s (usually 5m)`. */
function soFar(
  { startedAt }: RunSnapshot,
  usual: string | undefined,
  nowMs: number,
): string | undefined {
  const took = durationOf({ startedAt, completedAt: new Date(nowMs).toISOString() });
  return took && usual ? `${took} (${usual})` : took;
}

function when(timestamp: string | undefined, nowMs: number): string | undefined {
  if (timestamp === undefined) return undefined;
  const atMs = Date.parse(timestamp);
  return atMs <= nowMs ? `${localTime(atMs)} (${formatAgo(nowMs - atMs)})` : localTime(atMs);
}
