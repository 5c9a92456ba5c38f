import type { Clock } from '../runs/clock.ts';
import { formatAge } from '../runs/duration.ts';
import type { RunEvent } from '../runs/events.ts';
import { nameOf, type Run } from '../runs/run.ts';
import { medianCredits, type PastRun } from '../runs/statistics.ts';
import { isLongerThanUsual, usualDurationMs } from '../watching/poll-samples.ts';
import { cleanLine } from './sanitize.ts';
import { lastConfirmed } from './status.ts';
import type { Theme } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';

/** One run that is being followed, as a line: its status, its age, and what is happening when nothing answers. */
export interface RunLine {
  observe(event: RunEvent): void;
  /** How wide its name is. */
  readonly nameWidth: number;
  /** Fits into `columns`, as far as a line can; its name takes `nameWidth`, to stand above others. */
  text(columns: number, nameWidth?: number): string;
}

type Failure = Extract<RunEvent, { event: 'attempt_failed'; run: Run }> & { atMs: number };

export function createRunLine(run: Run, history: readonly PastRun[], clock: Clock, theme: Theme): RunLine {
  const name = cleanLine(nameOf(run.target));
  const { dot, warn } = theme.symbols;
  const durationsMs = history.map(({ durationMs }) => durationMs);
  const usualMs = usualDurationMs(durationsMs);
  const usualCredits = medianCredits(history);
  let status = 'asking';
  let startedAtMs = clock.nowMs();
  let failure: Failure | undefined;

  const trouble = ({ fault, execution, ageMs, atMs }: Failure) => {
    const known = lastConfirmed({ execution, ageMs: (ageMs ?? 0) + clock.elapsedMs() - atMs });
    return `${warn} ${known}: ${cleanLine(fault.message)}`;
  };
  const usual = (ageMs: number) => {
    if (usualMs === undefined) return '';
    return isLongerThanUsual(ageMs, durationsMs)
      ? 'taking longer than usual'
      : `usually ${formatAge(usualMs)}${creditsOf(usualCredits)}`;
  };

  return {
    observe(event) {
      if (event.event === 'attempt_failed' && event.run) failure = { ...event, atMs: clock.elapsedMs() };
      if (event.event !== 'status') return;
      failure = undefined;
      status = cleanLine(event.execution.status);
      const startMs = Date.parse(event.execution.startedAt ?? '');
      // A service whose clock is ahead of ours would make the run younger than nothing.
      if (startMs <= clock.nowMs()) startedAtMs = startMs;
    },
    nameWidth: widthOf(name),
    text(columns, nameWidth = 0) {
      const ageMs = clock.nowMs() - startedAtMs;
      const after = ` ${status} ${formatAge(ageMs)}`;
      const room = Math.max(shortestName, columns - widthOf(after));
      const shownName = padTo(cutTo(name, room, theme), Math.min(nameWidth, room));
      const head = `${theme.strong(shownName)}${theme.busy(after)}`;
      const rest = columns - widthOf(shownName + after) - 3;
      const tail = cutTo(failure ? trouble(failure) : usual(ageMs), rest, theme);
      if (rest < shortestTail || tail === '') return head;
      return `${head} ${theme.dim(dot)} ${failure ? theme.warn(tail) : theme.dim(tail)}`;
    },
  };
}

const creditsOf = (credits: number | null) =>
  credits === null ? '' : `, ${credits} ${credits === 1 ? 'credit' : 'credits'}`;

const shortestName = 6;
// Less than this says nothing.
const shortestTail = 8;
