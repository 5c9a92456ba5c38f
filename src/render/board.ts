import type { Context } from '../context.ts';
import { formatDuration } from '../runs/duration.ts';
import type { HowTriggered, Reporter, RunEvent } from '../runs/events.ts';
import { nameOf, type Run, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { PastRun } from '../runs/statistics.ts';
import { themeOf, wrapOptionsOf } from './output.ts';
import { createRunLine, type RunLine, runLines } from './run-line.ts';
import { sanitizeLine } from './sanitize.ts';
import { createSentences } from './sentences.ts';
import { createSpinner } from './spinner.ts';
import { durationOf, markedStatus, shortId } from './status.ts';
import { renderMarkup, type Theme } from './theme.ts';
import { cutTo } from './width.ts';
import { wrap } from './wrap.ts';

export interface BoardOptions {
  /** How many runs are followed together. */
  runs: number;
  history(target: Target): readonly PastRun[];
}

const withoutRun: Partial<Record<HowTriggered, string>> = {
  unknown: 'in doubt',
  not_started: 'not started',
  skipped: 'skipped',
};

/** Shows followed runs on a terminal, one per line; if there is no room for all, those in trouble come first. */
export function createBoard(
  { runs, history }: BoardOptions,
  context: Context,
): Reporter & { above(lines: string): void } {
  const { clock, stderr, terminal } = context;
  const several = runs > 1;
  const theme = themeOf(stderr, context);
  const { dot, ellipsis } = theme.symbols;
  const sentenceOf = createSentences(clock);
  const running = new Map<string, RunLine>();
  /** The ids of running runs whose status has changed, the latest last. */
  const changed = new Set<string>();
  const outcomes = new Map<string, number>();
  /** Runs that left the board before their `run_done`. Other ids are not kept, as a follower never ends. */
  const ended = new Set<string>();

  const spinner = createSpinner(() => {
    // Spinner or indent take two columns; some terminals wrap a line that fills the last column.
    const columns = Math.max(1, stderr.columns - 3);
    if (!several) return linesOf([...running.values()], columns).join('');
    const counts = countsLine(running.size, outcomes, theme, columns);
    // One row is left for the cursor.
    const room = Math.max(0, (terminal.rows || 24) - 1 - counts.split('\n').length);
    const fits = running.size <= room;
    const lines = fits ? [...running.values()] : mostUrgent(Math.max(0, room - 1));
    const more = cutTo(`${ellipsis} and ${running.size - lines.length} more`, columns, theme);
    return [counts, ...linesOf(lines, columns), ...(fits || room === 0 ? [] : [theme.dim(more)])].join('\n  ');
  }, context);

  return {
    observe(event) {
      const sentence = sentenceOf(event);
      if (sentence) spinner.above(renderMarkup(sentence, theme, wrapOptionsOf(stderr)));
      if (several && event.isOther) return;
      if (event.event === 'triggered') return observeTrigger(event);
      if (!('run' in event) || !event.run || event.event === 'warning' || event.event === 'rerun') return;
      const { run } = event;
      const id = run.executionId;
      const wasFailing = running.get(id)?.cells().isFailing;
      if (event.event === 'final') showFinal(run, event.execution);
      const isDone = event.event === 'run_done';
      if (isDone && event.failure && !ended.has(id)) count('not watched to the end');
      if (several && (isDone || ended.has(id))) leave(id);
      else lineOf(run).observe(event);
      if (isDone) ended.delete(id);
      if (event.event === 'status' && event.changed && running.has(id)) {
        changed.delete(id);
        changed.add(id);
      }
      if (event.event === 'service_back' && !several && wasFailing) {
        spinner.above(theme.dim(`${dot} the service answers again after ${formatDuration(event.afterMs)}`));
      }
      spinner.draw();
    },
    above: (lines) => spinner.above(lines.replace(/\n$/, '')),
    stop: spinner.stop,
  };

  function observeTrigger({ how, target, run, isWatched }: Extract<RunEvent, { event: 'triggered' }>): void {
    if (!isWatched) return;
    const outcome = withoutRun[how];
    if (several && outcome && target) count(outcome);
    if (run) lineOf(run);
    if (run || several) spinner.draw();
  }

  function leave(id: string): void {
    running.delete(id);
    changed.delete(id);
  }

  function count(outcome: string): void {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  function linesOf(lines: readonly RunLine[], columns: number): string[] {
    return runLines(
      lines.map((line) => line.cells()),
      columns,
      theme,
    );
  }

  function mostUrgent(most: number): RunLine[] {
    const latest = new Set([...[...changed].reverse(), ...running.keys()]);
    const lines = [...latest].flatMap((id) => running.get(id) ?? []);
    return lines.sort((one, other) => Number(other.isInTrouble()) - Number(one.isInTrouble())).slice(0, most);
  }

  function lineOf(run: Run): RunLine {
    const known = running.get(run.executionId);
    if (known) return known;
    if (!several) running.clear();
    const line = createRunLine(run, history(run.target), clock, theme);
    running.set(run.executionId, line);
    return line;
  }

  function showFinal({ target, executionId }: Run, { status, startedAt, completedAt }: Execution): void {
    if (ended.has(executionId)) return;
    ended.add(executionId);
    count(status.toLowerCase().replaceAll('_', ' '));
    if (!several) return;
    // Writing above the board draws it again, so the run has to leave it first.
    leave(executionId);
    const took = durationOf({ startedAt, completedAt });
    const words = [
      markedStatus(target, status, theme),
      sanitizeLine(nameOf(target)),
      ...(took ? [theme.dim(took)] : []),
      theme.dim(executionId.slice(0, shortId)),
    ];
    spinner.above(wrap(words, { columns: stderr.columns, indent: 2, taken: 0 }));
  }
}

function countsLine(running: number, outcomes: ReadonlyMap<string, number>, theme: Theme, columns: number): string {
  const styles: Record<string, Theme['ok']> = { completed: theme.ok, failed: theme.bad, skipped: theme.dim };
  const parts = [...new Set(['completed', ...outcomes.keys()])].flatMap((outcome) => {
    const count = outcomes.get(outcome) ?? 0;
    return count > 0 ? (styles[outcome] ?? theme.warn)(`${count} ${outcome}`) : [];
  });
  const counts = [`${running} running`, ...parts];
  const words = counts.map((part, index) => (index < parts.length ? `${part} ${theme.dim(theme.symbols.dot)}` : part));
  return wrap(words, { columns, indent: 2, taken: 0 });
}
