import type { CommandContext } from '../context.ts';
import type { Reporter, RunEvent } from '../run/events.ts';
import { reasonOf } from '../run/fault.ts';
import type { Run, Target } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
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
  /** How many runs are watched together. */
  runs: number;
  /** `usually 5m`; undefined if that isn't known. */
  usualDuration(target: Target): string | undefined;
}

interface BoardRow {
  run: Run;
  /** The last status, if there was one. */
  snapshot?: RunSnapshot;
  startedAtMs: number;
  usual: string | undefined;
  /** The last poll, if it failed. */
  failure?: FailedPoll & { atMs: number };
}

type FailedPoll = Extract<RunEvent, { event: 'attempt_failed'; run: Run }>;

/** How many rows are shown. Further runs are only counted. */
const maxRows = 10;

/**
 * Makes the board: the live display of the runs that are watched on a terminal, one row for each.
 * If there are several, a line above the rows counts them. While the process is in the background,
 * events go to the log instead.
 */
export function createBoard(
  { runs, usualDuration }: BoardOptions,
  log: Reporter,
  context: CommandContext,
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
      const run = runInRow(event);
      if (!run) return;
      if (event.event === 'run_done') removeRow(run);
      else update(rows.get(run.executionId) ?? addRow(run), event, clock);
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

  /** The run whose row shows this event. Undefined if the board doesn't show it. */
  function runInRow(event: RunEvent): Run | undefined {
    if (event.event === 'warning' || !('run' in event)) return undefined;
    // The active run that a trigger waits for has a row only if it is the only one.
    if (event.isActiveRun && !isSingle) return undefined;
    if (event.event === 'trigger_ended' && !event.isWatched) return undefined;
    return event.run;
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
    const row = rows.get(executionId);
    if (isSingle || !row) return;
    rows.delete(executionId);
    const { run, snapshot } = row;
    if (!snapshot?.isFinal || !context.isInteractive()) return;
    spinner.above(() => stderr.write(`${finishedLine(run, snapshot, theme)}\n`));
  }

  function boardText(): string {
    // Spinner or indent take two columns, and some terminals wrap a line that fills the last one.
    const columns = Math.max(1, stderr.columns() - 3);
    const lines = boardLines([...rows.values()].slice(0, maxRows), columns, clock, theme);
    if (isSingle) return lines.join('');
    const more =
      rows.size > maxRows ? [cutTo(`and ${rows.size - maxRows} more`, columns, theme)] : [];
    return [cutTo(`${done} of ${runs} done`, columns, theme), ...lines, ...more].join('\n  ');
  }
}

function update(row: BoardRow, event: RunEvent, clock: Clock): void {
  if (event.event === 'status' || event.event === 'final') {
    row.failure = undefined;
    row.snapshot = event.snapshot;
    const startMs = Date.parse(event.snapshot.startedAt ?? '');
    // A start in the future isn't used, because the age would be negative: the service's clock is
    // ahead of this machine's.
    if (startMs <= clock.nowMs()) row.startedAtMs = startMs;
  }
  if (event.event === 'attempt_failed' && event.run) {
    row.failure = { ...event, atMs: clock.elapsedMs() };
  }
}

/** A line for each row, such as `nightly RUNNING 4m 12s · usually 5m`, with aligned columns. */
function boardLines(
  rows: readonly BoardRow[],
  columns: number,
  clock: Clock,
  theme: Theme,
): string[] {
  const maxName = Math.floor(columns / 3);
  const names = rows.map(({ run }) =>
    cutTo(sanitizeLine(run.target.automationName), maxName, theme),
  );
  const statuses = rows.map(({ snapshot }) => sanitizeLine(snapshot?.status ?? 'polling'));
  const nameColumns = Math.max(...names.map(widthOf));
  const statusColumns = Math.max(...statuses.map(widthOf));
  return rows.map((row, index) => {
    const name = padTo(names[index] ?? '', nameColumns);
    const status = padTo(statuses[index] ?? '', statusColumns);
    const text = `${name} ${status} ${timeOf(row, clock)}`.trimEnd();
    const detail = detailOf(row, clock, theme);
    const line = cutTo(detail ? `${text} ${theme.symbols.dot} ${detail}` : text, columns, theme);
    return row.failure ? theme.warn(line) : line;
  });
}

/** How long the run took, or the time since its start. */
function timeOf({ snapshot, startedAtMs }: BoardRow, clock: Clock): string {
  if (snapshot?.isFinal) return durationOf(snapshot) ?? '';
  return formatAge(clock.nowMs() - startedAtMs);
}

/**
 * How long the run usually takes, or why it can't be polled. Undefined if there is nothing to say.
 */
function detailOf(row: BoardRow, clock: Clock, { symbols }: Theme): string | undefined {
  const { failure, usual, snapshot } = row;
  if (!failure) return snapshot?.isFinal ? undefined : usual;
  const reason = sanitizeLine(reasonOf(failure.fault));
  if (failure.failures === 1) return `${symbols.warn} ${reason}; ${howRetried(failure)}`;
  const { lastConfirmed } = failure;
  if (!lastConfirmed) return `${symbols.warn} not confirmed yet: ${reason}`;
  const ageMs = lastConfirmed.ageMs + clock.elapsedMs() - failure.atMs;
  return `${symbols.warn} confirmed ${formatAgo(ageMs)}: ${reason}`;
}

function finishedLine({ target, executionId }: Run, snapshot: RunSnapshot, theme: Theme): string {
  const took = durationOf(snapshot);
  const time = took ? ` ${theme.dim(took)}` : '';
  const id = theme.dim(executionId.slice(0, shortId));
  return `${markedStatus(snapshot, theme)} ${sanitizeLine(target.automationName)}${time} ${id}`;
}
