import type { Context } from '../context.ts';
import { formatDuration } from '../runs/duration.ts';
import type { How, Reporter, RunEvent } from '../runs/events.ts';
import { isCompleted, nameOf, type Run, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { PastRun } from '../runs/statistics.ts';
import { themeOf, wrapOptionsOf } from './output.ts';
import { createRunLine, type RunLine } from './run-line.ts';
import { cleanLine } from './sanitize.ts';
import { createSentences } from './sentences.ts';
import { createSpinner } from './spinner.ts';
import { colorOfStatus, durationOf, symbolOfStatus } from './status.ts';
import { renderMarkup, type Theme } from './theme.ts';
import { wrap } from './wrap.ts';

export interface BoardOptions {
  /** How many runs are followed together. */
  runs: number;
  /** How long the last completed runs of a target took, in milliseconds, newest first. */
  history(target: Target): readonly PastRun[];
}

// Lines that the prompt, the counts and the spinner want for themselves.
const reservedRows = 5;
const latestChanges = 5;

type Outcome = 'completed' | 'not completed' | 'given up on' | 'in doubt' | 'not started' | 'skipped';

const withoutRun: Partial<Record<How, Outcome>> = {
  unknown: 'in doubt',
  not_started: 'not started',
  skipped: 'skipped',
};

/**
 * Followed runs on a terminal. One run is one line; of several each has its line while it is running and a last one above
 * when it has finished, and past a screenful only the counts and the latest changes are shown.
 */
export function createBoard({ runs, history }: BoardOptions, context: Context): Reporter {
  const { clock, stderr, terminal } = context;
  const several = runs > 1;
  const theme = themeOf(stderr, context);
  const { dot, ellipsis } = theme.symbols;
  const sentenceOf = createSentences(clock);
  const running = new Map<string, RunLine>();
  const changed: string[] = [];
  /** How each run came off the board, by id: a rerun has one of its own. */
  const outcomes = new Map<string, Outcome>();

  const spinner = createSpinner(() => {
    // The spinner stands before the first line, an indent before the others; the last column makes some terminals wrap.
    const columns = Math.max(1, stderr.columns - 3);
    if (!several) return [...running.values()].map((line) => line.text(columns)).join('');
    const fits = running.size <= Math.max(1, (terminal.rows || 24) - reservedRows);
    const ids = fits ? [...running.keys()] : changed.slice(-latestChanges);
    const lines = ids.flatMap((id) => running.get(id) ?? []);
    const nameWidth = Math.max(0, ...lines.map((line) => line.nameWidth));
    const more = running.size - lines.length;
    return [
      countsLine(running.size, [...outcomes.values()], theme, columns),
      ...lines.map((line) => line.text(columns, nameWidth)),
      ...(more > 0 ? [theme.dim(`${ellipsis} and ${more} more`)] : []),
    ].join('\n  ');
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
      if (event.event === 'final') showFinal(run, event.execution);
      if (event.event === 'run_done' && event.failure && !outcomes.has(id)) outcomes.set(id, 'given up on');
      if (outcomes.has(id) && several) running.delete(id);
      else lineOf(run).observe(event);
      if (event.event === 'status' && event.changed) changed.push(id);
      if (event.event === 'service_back' && !several) {
        spinner.above(theme.dim(`${dot} the service answers again after ${formatDuration(event.afterMs)}`));
      }
      spinner.draw();
    },
    stop: spinner.stop,
  };

  function observeTrigger({ how, target, run, isWatched }: Extract<RunEvent, { event: 'triggered' }>): void {
    if (!isWatched) return;
    const outcome = withoutRun[how];
    // It has no id.
    if (several && outcome && target) outcomes.set(`${outcomes.size} ${nameOf(target)}`, outcome);
    if (run) lineOf(run);
    if (run || several) spinner.draw();
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
    if (outcomes.has(executionId)) return;
    outcomes.set(executionId, isCompleted(status) ? 'completed' : 'not completed');
    if (!several) return;
    const took = durationOf({ startedAt, completedAt });
    const head = `${symbolOfStatus(target, status, theme)} ${cleanLine(status)}`;
    const words = [
      colorOfStatus(target, status, theme)(head),
      cleanLine(nameOf(target)),
      ...(took ? [theme.dim(took)] : []),
      theme.dim(executionId),
    ];
    spinner.above(wrap(words, { columns: stderr.columns, indent: 2, taken: 0 }));
  }
}

function countsLine(running: number, outcomes: readonly Outcome[], theme: Theme, columns: number): string {
  const styles = {
    completed: theme.ok,
    'not completed': theme.bad,
    'given up on': theme.warn,
    'in doubt': theme.warn,
    'not started': theme.warn,
    skipped: theme.dim,
  };
  const parts = Object.entries(styles).flatMap(([outcome, style]) => {
    const count = outcomes.filter((each) => each === outcome).length;
    return count > 0 || outcome === 'completed' ? style(`${count} ${outcome}`) : [];
  });
  const counts = [`${running} going`, ...parts];
  const words = counts.map((part, index) => (index < parts.length ? `${part} ${theme.dim(theme.symbols.dot)}` : part));
  return wrap(words, { columns, indent: 2, taken: 0 });
}
