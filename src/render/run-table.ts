import type { JournalRun } from '../journal/journal.ts';
import { formatDuration } from '../runs/duration.ts';
import { nameOf } from '../runs/run.ts';
import { cleanLine } from './clean.ts';
import { colorOfState } from './state.ts';
import { durationOf } from './status-block.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';

const gap = '  ';

/** Runs as a table, newest first; the automation's name gives way where the terminal is narrow. */
export function runTable(runs: readonly JournalRun[], nowMs: number, columns: number, theme: Theme): string {
  const rows = runs.map((run) => ({
    state: run.status ?? (run.executionId === null ? 'unknown' : 'started'),
    name: cleanLine(nameOf(run.target)),
    age: `${formatDuration(nowMs - Date.parse(run.startedAt ?? run.at))} ago`,
    took:
      durationOf({ startedAt: run.startedAt ?? undefined, completedAt: run.completedAt ?? undefined }, nowMs, true) ??
      '',
    id: run.executionId ?? 'settle it with `runctl recover`',
    target: run.target,
  }));
  const widest = (cells: string[]) => Math.max(...cells.map((cell) => widthOf(cell)));
  const state = widest(rows.map((row) => row.state));
  const age = widest(rows.map((row) => row.age));
  const took = widest(rows.map((row) => row.took));
  const id = widest(rows.map((row) => row.id));
  const room = Math.max(8, columns - state - age - took - id - 4 * gap.length);
  const name = Math.min(room, widest(rows.map((row) => row.name)));
  return rows
    .map((row) => {
      const shown = padTo(cutTo(row.name, name, theme), name);
      const color = colorOfState(row.target, row.state, theme);
      return [color(padTo(row.state, state)), shown, padTo(row.age, age), padTo(row.took, took), theme.dim(row.id)]
        .join(gap)
        .trimEnd();
    })
    .map((line) => `${line}\n`)
    .join('');
}
