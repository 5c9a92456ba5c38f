import type { Invocation } from '../context.ts';
import type { HowTriggered, Reporter, RunEvent } from '../runs/events.ts';
import { nameOf, type Run } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { finalStatusOf, wordOf } from '../runs/statuses.ts';
import { formatDuration } from '../runs/time-text.ts';
import { sanitizeLine } from '../sanitize.ts';
import { type BoardOptions, type BoardState, createBoardState } from './board-state.ts';
import { themeOf, wrapOptionsOf } from './output.ts';
import { barOf, runLines } from './run-line.ts';
import { createSentences } from './sentences.ts';
import { createSpinner } from './spinner.ts';
import { colorOfStatus, durationOf, markedStatus, shortId } from './status-text.ts';
import { renderMarkup, type Theme } from './theme.ts';
import { cutTo } from './width.ts';
import { wrap } from './wrap.ts';

const withoutRun: Partial<Record<HowTriggered, string>> = {
  unknown: 'in doubt',
  not_started: 'not started',
  skipped: 'skipped',
};

/** Shows followed runs on a terminal, one per line; if there is no room for all, those in trouble come first. */
export function createBoard(options: BoardOptions, context: Invocation): Reporter & { above(lines: string): void } {
  const { clock, stderr } = context;
  const theme = themeOf(stderr, context);
  const sentenceOf = createSentences(clock);
  const state = createBoardState(options, clock, theme);
  // Spinner or indent take two columns; some terminals wrap a line that fills the last column.
  const size = () => ({ columns: Math.max(1, stderr.columns() - 3), rows: context.terminal().rows || 24 });
  const spinner = createSpinner(() => boardText(state, size(), theme), context);

  return {
    observe(event) {
      const sentence = sentenceOf(event);
      if (sentence) spinner.above(renderMarkup(sentence, theme, wrapOptionsOf(stderr)));
      if (state.several && event.isActiveRun) return;
      if (event.event === 'triggered') return observeTrigger(event);
      if (!('run' in event) || !event.run || event.event === 'warning') return;
      const { run } = event;
      const isBack = event.event === 'service_back' && !state.several && state.isFailing(run);
      // Writing above the board draws it again, so a run that has finished has to leave it first.
      if (event.event === 'final' && state.finish(run, event.execution.status) && state.several)
        spinner.above(finishedLine(run, event.execution, stderr.columns(), theme));
      state.observe(run, event);
      if (isBack) {
        const back = `${theme.symbols.dot} the service responds again after ${formatDuration(event.afterMs)}`;
        spinner.above(theme.dim(back));
      }
      spinner.draw();
    },
    above: (lines) => spinner.above(lines.replace(/\n$/, '')),
    stop: spinner.stop,
  };

  function observeTrigger({ how, target, run, isWatched }: Extract<RunEvent, { event: 'triggered' }>): void {
    if (!isWatched) return;
    const outcome = withoutRun[how];
    if (state.several && outcome && target) state.count(outcome);
    if (run) state.lineOf(run);
    if (run || state.several) spinner.draw();
  }
}

function boardText(state: BoardState, { columns, rows }: { columns: number; rows: number }, theme: Theme): string {
  const running = state.running();
  const linesOf = (shown: typeof running) =>
    runLines(
      shown.map((line) => line.cells()),
      columns,
      theme,
    );
  if (!state.several) return linesOf(running).join('');
  const counts = countsLine(running.length, state, theme, columns);
  // One row is left for the cursor.
  const room = Math.max(0, rows - 1 - counts.split('\n').length);
  if (running.length <= room) return [counts, ...linesOf(running)].join('\n  ');
  if (room === 0) return counts;
  const more = cutTo(`${theme.symbols.ellipsis} and ${running.length - room + 1} more`, columns, theme);
  return [counts, ...linesOf(running.slice(0, room - 1)), theme.dim(more)].join('\n  ');
}

function finishedLine({ target, executionId }: Run, execution: Execution, columns: number, theme: Theme): string {
  const took = durationOf(execution);
  const words = [
    markedStatus(execution, theme),
    sanitizeLine(nameOf(target)),
    ...(took ? [theme.dim(took)] : []),
    theme.dim(executionId.slice(0, shortId)),
  ];
  return wrap(words, { columns, indent: 2, taken: 0 });
}

/** One bar for all. */
function progress(outcomes: ReadonlyMap<string, number>, total: number, theme: Theme): string[] {
  // Our own words, such as `skipped`, are in lower case.
  const statuses = [...outcomes].filter(([outcome]) => outcome === outcome.toUpperCase());
  const finished = statuses.reduce((sum, [, count]) => sum + count, 0);
  return [
    theme.busy(barOf(finished / total, theme)),
    ...`${finished} of ${total} finished ${theme.dim(theme.symbols.dot)}`.split(' '),
  ];
}

/** Of a status, or of one of our own words, which are in lower case. */
function styleOf(outcome: string, theme: Theme): Theme['ok'] {
  if (outcome === 'skipped') return theme.dim;
  return finalStatusOf(outcome) ? colorOfStatus({ status: outcome, isFinal: true }, theme) : theme.warn;
}

function countsLine(running: number, { outcomes, total }: BoardState, theme: Theme, columns: number): string {
  const parts = [...new Set(['COMPLETED', ...outcomes.keys()])].flatMap((outcome) => {
    const count = outcomes.get(outcome) ?? 0;
    return count > 0 ? styleOf(outcome, theme)(`${count} ${wordOf(outcome)}`) : [];
  });
  const counts = [`${running} running`, ...parts];
  const words = counts.map((part, index) => (index < parts.length ? `${part} ${theme.dim(theme.symbols.dot)}` : part));
  return wrap([...progress(outcomes, total, theme), ...words], { columns, indent: 2, taken: 0 });
}
