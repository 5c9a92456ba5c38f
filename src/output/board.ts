import type { Invocation } from '../context.ts';
import type { Reporter, RunEvent } from '../run/events.ts';
import { reasonOf } from '../run/fault.ts';
import type { Run, Target } from '../run/run.ts';
import type { RunStatus } from '../run/service.ts';
import type { Clock } from '../system/clock.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatAge, formatAgo } from '../system/time-text.ts';
import { createSentences, howRetried } from './sentences.ts';
import { createSpinner } from './spinner.ts';
import { durationOf, markedStatus, shortId } from './status-text.ts';
import { renderMarkup, type Theme, themeOf } from './theme.ts';
import { cutTo, padTo, widthOf } from './width.ts';
import { wrapOptionsOf } from './wrap.ts';

export interface BoardOptions {
  /** How many runs are followed together. */
  runs: number;
  /** `usually 5m`; undefined if that isn't known. */
  usualDuration(target: Target): string | undefined;
}

interface BoardRow {
  run: Run;
  /** The last status, if there was one. */
  status?: RunStatus;
  startedAtMs: number;
  usual: string | undefined;
  /** The last poll, if it failed. */
  failure?: FailedPoll & { atMs: number };
}

type FailedPoll = Extract<RunEvent, { event: 'attempt_failed'; run: Run }>;

/** How many rows are shown. Further runs are only counted. */
const maxRows = 10;

/**
 * Shows the runs that are followed on a terminal, one row for each. If there are several, a line
 * above the rows counts them. While the process is in the background, events go to the log instead.
 */
export function createBoard(
  { runs, usualDuration }: BoardOptions,
  log: Reporter,
  context: Invocation,
) {
  const { clock, stderr } = context;
  const theme = themeOf(stderr, context);
  const sentenceOf = createSentences(clock);
  const isSingle = runs === 1;
  const rows = new Map<string, BoardRow>(); // by `executionId`
  let done = 0;
  const spinner = createSpinner(boardText, context);

  return {
    emit(event) {
      if (context.isInteractive()) say(sentenceOf(event));
      else log.emit(event);
      if (event.event === 'run_done') done += 1;
      if (event.event === 'warning' || !('run' in event) || !event.run) return;
      // The active run that a trigger waits for has a row only if the run isn't followed itself.
      if (event.isActiveRun && !isSingle) return;
      if (event.event === 'triggered' && !event.isWatched) return;
      if (event.event === 'run_done') removeRow(event.run);
      else update(rows.get(event.run.executionId) ?? addRow(event.run), event, clock);
      if (rows.size > 0) spinner.draw();
    },
    above: spinner.above,
    stop: spinner.stop,
  } satisfies Reporter & { above(write: () => void): void };

  function say(sentence: string | undefined): void {
    if (!sentence) return;
    const lines = renderMarkup(sentence, theme, wrapOptionsOf(stderr));
    spinner.above(() => stderr.write(`${lines}\n`));
  }

  function addRow(run: Run): BoardRow {
    // The new run takes the row of the active run that its trigger waited for.
    if (isSingle) rows.clear();
    const row = { run, startedAtMs: clock.nowMs(), usual: usualDuration(run.target) };
    rows.set(run.executionId, row);
    return row;
  }

  /** A single run keeps its row until the command ends and prints the summary. */
  function removeRow({ executionId }: Run): void {
    const { run, status } = rows.get(executionId) ?? {};
    if (isSingle || !run) return;
    rows.delete(executionId);
    if (!status?.isFinal || !context.isInteractive()) return;
    spinner.above(() => stderr.write(`${finishedLine(run, status, theme)}\n`));
  }

  function boardText(): string {
    // Spinner or indent take two columns, and some terminals wrap a line that fills the last one.
    const columns = Math.max(1, stderr.columns() - 3);
    const lines = linesOf([...rows.values()].slice(0, maxRows), columns, clock, theme);
    if (isSingle) return lines.join('');
    const more =
      rows.size > maxRows ? [cutTo(`and ${rows.size - maxRows} more`, columns, theme)] : [];
    return [cutTo(`${done} of ${runs} done`, columns, theme), ...lines, ...more].join('\n  ');
  }
}

function update(row: BoardRow, event: RunEvent, clock: Clock): void {
  if (event.event === 'status' || event.event === 'final') {
    row.failure = undefined;
    row.status = event.status;
    const startMs = Date.parse(event.status.startedAt ?? '');
    // If the clock of the service is ahead of this machine's, the age would be negative, so it is
    // 0.
    if (startMs <= clock.nowMs()) row.startedAtMs = startMs;
  }
  if (event.event === 'attempt_failed' && event.run)
    row.failure = { ...event, atMs: clock.elapsedMs() };
}

/** One row, such as `nightly RUNNING 4m 12s · usually 5m`, aligned with the other rows. */
function linesOf(rows: readonly BoardRow[], columns: number, clock: Clock, theme: Theme): string[] {
  const shown = rows.map((row) => ({
    row,
    name: cutTo(sanitizeLine(row.run.target.automationName), Math.floor(columns / 3), theme),
    status: sanitizeLine(row.status?.status ?? 'polling'),
  }));
  const widest = (cell: 'name' | 'status') => Math.max(...shown.map((each) => widthOf(each[cell])));
  return shown.map(({ row, name, status }) => {
    const head = [padTo(name, widest('name')), padTo(status, widest('status')), timeOf(row, clock)]
      .join(' ')
      .trimEnd();
    const note = noteOf(row, clock, theme);
    const line = cutTo(note ? `${head} ${theme.symbols.dot} ${note}` : head, columns, theme);
    return row.failure ? theme.warn(line) : line;
  });
}

/** How long the run took, or the time since its start. */
function timeOf({ status, startedAtMs }: BoardRow, clock: Clock): string {
  if (status?.isFinal) return durationOf(status) ?? '';
  return formatAge(clock.nowMs() - startedAtMs);
}

function noteOf(
  { failure, usual, status }: BoardRow,
  clock: Clock,
  { symbols }: Theme,
): string | undefined {
  if (!failure) return status?.isFinal ? undefined : usual;
  const { lastConfirmed, atMs, fault } = failure;
  const reason = sanitizeLine(reasonOf(fault));
  if (failure.failures === 1) return `${symbols.warn} ${reason}; ${howRetried(failure)}`;
  const confirmed = lastConfirmed
    ? `confirmed ${formatAgo(lastConfirmed.ageMs + clock.elapsedMs() - atMs)}`
    : 'not confirmed yet';
  return `${symbols.warn} ${confirmed}: ${reason}`;
}

function finishedLine({ target, executionId }: Run, status: RunStatus, theme: Theme): string {
  const took = durationOf(status);
  const time = took ? ` ${theme.dim(took)}` : '';
  const id = theme.dim(executionId.slice(0, shortId));
  return `${markedStatus(status, theme)} ${sanitizeLine(target.automationName)}${time} ${id}`;
}
