import type { Clock } from '../runs/clock.ts';
import type { RunEvent } from '../runs/events.ts';
import { reasonOf } from '../runs/fault.ts';
import { nameOf, type Run } from '../runs/run.ts';
import { formatAge, formatAgo } from '../runs/time-text.ts';
import { usualOf } from '../runs/usual-duration.ts';
import { sanitizeLine } from '../sanitize.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, shortenTo, widthOf } from './width.ts';

export interface RunLine {
  observe(event: RunEvent): void;
  /** Have two polls in a row failed, or does the run take longer than usual? */
  isInTrouble(): boolean;
  cells(): Cells;
}

interface Cells {
  name: string;
  status: string;
  ageMs: number;
  /** How long it usually takes; undefined if too few earlier runs say so. */
  usualMs?: number;
  note: string;
  isFailing: boolean;
  isLate: boolean;
}

type Failure = Extract<RunEvent, { event: 'attempt_failed'; run: Run }> & { atMs: number };

export function createRunLine(run: Run, pastDurationsMs: readonly number[], clock: Clock, theme: Theme): RunLine {
  let status = 'polling';
  let startedAtMs = clock.nowMs();
  let failure: Failure | undefined;

  const ageMs = () => clock.nowMs() - startedAtMs;
  const noteOf = ({ fault, execution, ageMs = 0, atMs }: Failure) => {
    const known = execution ? `confirmed ${formatAgo(ageMs + clock.elapsedMs() - atMs)}` : 'not confirmed yet';
    return `${theme.symbols.warn} ${known}: ${sanitizeLine(reasonOf(fault))}`;
  };
  const usual = () => usualOf(ageMs(), pastDurationsMs);
  const isLate = () => usual()?.isLate === true;

  return {
    observe(event) {
      // One failed poll is not shown, as the next may be answered a second later.
      if (event.event === 'attempt_failed' && event.run && event.failures > 1)
        failure = { ...event, atMs: clock.elapsedMs() };
      if (event.event !== 'status') return;
      failure = undefined;
      status = sanitizeLine(event.execution.status);
      const startMs = Date.parse(event.execution.startedAt ?? '');
      // If the clock of the service is ahead of ours, the age would be negative.
      if (startMs <= clock.nowMs()) startedAtMs = startMs;
    },
    isInTrouble: () => failure !== undefined || isLate(),
    cells: () => ({
      name: sanitizeLine(nameOf(run.target)),
      status,
      ageMs: ageMs(),
      usualMs: usual()?.usualMs,
      note: failure ? noteOf(failure) : (usual()?.text ?? ''),
      isFailing: failure !== undefined,
      isLate: isLate(),
    }),
  };
}

const inOneUnit = (ms: number) => formatAge(ms).split(' ')[0] ?? '';

const shortestName = 6;
const longestStatus = 9;
const shortestNote = 8;
const narrow = 40;

const barColumns = 8;

export function barOf(share: number, { symbols: { full, empty } }: Theme): string {
  const filled = Math.min(barColumns, Math.floor(share * barColumns));
  return full.repeat(filled) + empty.repeat(barColumns - filled);
}

/** The line of a run that is watched alone, with a bar against its usual duration and the time left; undefined if that does not fit. */
function lineWithBar({ name, status, ageMs, usualMs, note, isFailing, isLate }: Cells, columns: number, theme: Theme) {
  if (usualMs === undefined || isFailing) return undefined;
  const bar = barOf(ageMs / usualMs, theme);
  if (widthOf(`${name} ${status} ${bar} ${note}`) > columns) return undefined;
  const style = isLate ? theme.warn : theme.busy;
  return `${theme.strong(name)} ${theme.busy(status)} ${style(bar)} ${isLate ? theme.warn(note) : theme.dim(note)}`;
}

/** Lines of at most `columns`. If there is no room, the note is cut, then the name, and the age is left out last. */
export function runLines(runs: readonly Cells[], columns: number, theme: Theme): string[] {
  const isAlone = runs.length === 1;
  const [first] = runs;
  const alone = isAlone && first && lineWithBar(first, columns, theme);
  if (alone) return [alone];
  const gap = isAlone || columns < narrow ? ' ' : '  ';
  const rows = runs.map((run) => ({
    ...run,
    status: cutTo(run.status, Math.max(longestStatus, Math.floor(columns / 3)), theme),
    age: isAlone ? formatAge(run.ageMs) : inOneUnit(run.ageMs),
  }));
  const widest = (cell: 'name' | 'status' | 'age') => Math.max(...rows.map((row) => widthOf(row[cell])));
  const besideName = gap.length + widest('status');
  const ageWidth = gap.length + widest('age');
  const hasAge = columns - besideName - ageWidth >= shortestName;
  // There is always room for the sign that something is wrong.
  const sign = rows.some(({ isFailing }) => isFailing) ? ` ${theme.symbols.warn}` : '';
  const room = columns - besideName - (hasAge ? ageWidth : 0) - widthOf(sign);
  const nameWidth = Math.min(widest('name'), Math.max(0, room));
  return rows.map(({ name, status, age, note, isFailing, isLate }) => {
    const shownName = padTo(shortenTo(name, nameWidth, theme), nameWidth);
    const after = hasAge ? `${gap}${padTo(status, widest('status'))}${gap}${age}` : `${gap}${status}`;
    const head = `${theme.strong(shownName)}${theme.busy(after)}`;
    const beside = Math.max(0, widest('age') - widthOf(age));
    const room = columns - widthOf(shownName + after) - beside - 3;
    const tail = cutTo(note, room, theme);
    if (!hasAge || room < shortestNote || tail === '') return isFailing ? `${head}${theme.warn(sign)}` : head;
    return `${head}${' '.repeat(beside)} ${theme.dim(theme.symbols.dot)} ${isFailing || isLate ? theme.warn(tail) : theme.dim(tail)}`;
  });
}
