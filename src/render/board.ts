import type { Context } from '../context.ts';
import type { Problem } from '../problems/problem.ts';
import { formatDuration } from '../runs/duration.ts';
import { isCompleted, isKnownStatus, nameOf, type Run } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { themeOf } from './output.ts';
import type { Reporter, ReporterOptions } from './reporter.ts';
import { tookOf } from './run-duration.ts';
import { createRunLine, type RunLine } from './run-line.ts';
import { cleanLine } from './sanitize.ts';
import { createLiveText } from './spinner.ts';
import { colorOfState, symbolOfState } from './state.ts';
import { renderMarkup } from './theme.ts';
import { wrap } from './wrap.ts';

// Lines that the prompt, the counts and the spinner want for themselves.
const reservedRows = 5;
const latestChanges = 5;

type End = 'completed' | 'not completed' | 'given up on' | 'in doubt' | 'not started' | 'skipped';

function endWithoutRun(problem: Problem | undefined): End {
  if (!problem) return 'skipped';
  return problem.facts.started === 'unknown' ? 'in doubt' : 'not started';
}

/**
 * Followed runs on a terminal. One run is one line; of several each has its line while it goes and a last one above
 * when it has ended, and past a screenful only the counts and the latest changes are shown.
 */
export function createBoard({ runs, bell = false, history }: ReporterOptions, context: Context): Reporter {
  const { clock, stderr, terminal } = context;
  const several = runs > 1;
  const theme = themeOf(stderr, context);
  const { dot, warn, ellipsis } = theme.symbols;
  const going = new Map<string, RunLine>();
  const changed: string[] = [];
  const warnedOf = new Set<string>();
  /** How each run came off the board, by id: a rerun has one of its own. */
  const ends = new Map<string, End>();

  const live = createLiveText(() => {
    // The spinner stands before the first line, an indent before the others; the last column makes some terminals wrap.
    const columns = Math.max(1, stderr.columns - 3);
    if (!several) return [...going.values()].map((line) => line.text(columns)).join('');
    const fits = going.size <= Math.max(1, (terminal.rows || 24) - reservedRows);
    const ids = fits ? [...going.keys()] : changed.slice(-latestChanges);
    const lines = ids.flatMap((id) => going.get(id) ?? []);
    const nameWidth = Math.max(0, ...lines.map((line) => line.nameWidth));
    const more = going.size - lines.length;
    return [
      counts(columns),
      ...lines.map((line) => line.text(columns, nameWidth)),
      ...(more > 0 ? [theme.dim(`${ellipsis} and ${more} more`)] : []),
    ].join('\n  ');
  }, context);

  return {
    observe(event) {
      const { run } = event;
      if (several && event.isOther) return;
      const id = run.executionId;
      if (event.event === 'final') tellEnd(run, event.execution);
      if (event.event === 'problem' && !ends.has(id)) ends.set(id, 'given up on');
      if (ends.has(id) && several) going.delete(id);
      else lineOf(run).observe(event);
      if (event.event === 'status' && event.changed) changed.push(id);
      if (event.event === 'status' && run.target.family === 'automation') warnOfUnknown(event.execution.status);
      if (event.event === 'service_back' && !several) {
        live.above(theme.dim(`${dot} the service answers again after ${formatDuration(event.afterMs)}`));
      }
      live.draw();
    },
    notStarted(target, problem) {
      if (!several) return;
      // It has no id.
      ends.set(`${ends.size} ${nameOf(target)}`, endWithoutRun(problem));
      live.draw();
    },
    say: (line) => live.above(renderMarkup(line, theme, { columns: stderr.columns })),
    over() {
      if (bell) terminal.write('\u0007');
    },
    stop: live.stop,
  };

  function lineOf(run: Run): RunLine {
    const known = going.get(run.executionId);
    if (known) return known;
    if (!several) going.clear();
    const line = createRunLine(run, history(run.target), clock, theme);
    going.set(run.executionId, line);
    return line;
  }

  function counts(columns: number): string {
    const count = (end: End) => [...ends.values()].filter((value) => value === end).length;
    const looks = [
      ['completed', theme.good],
      ['not completed', theme.bad],
      ['given up on', theme.warn],
      ['in doubt', theme.warn],
      ['not started', theme.warn],
      ['skipped', theme.dim],
    ] as const;
    const parts = looks.flatMap(([end, look]) =>
      count(end) > 0 || end === 'completed' ? look(`${count(end)} ${end}`) : [],
    );
    const counts = [`${going.size} going`, ...parts];
    const words = counts.map((part, index) => (index < parts.length ? `${part} ${theme.dim(dot)}` : part));
    return wrap(words, { columns, indent: 2, taken: 0 });
  }

  function tellEnd({ target, executionId }: Run, { status, startedAt, completedAt }: Execution): void {
    if (ends.has(executionId)) return;
    ends.set(executionId, isCompleted(status) ? 'completed' : 'not completed');
    if (!several) return;
    const took = tookOf({ startedAt, completedAt });
    const state = `${symbolOfState(target, status, theme)} ${cleanLine(status)}`;
    const words = [
      colorOfState(target, status, theme)(state),
      cleanLine(nameOf(target)),
      ...(took ? [theme.dim(took)] : []),
      theme.dim(executionId),
    ];
    live.above(wrap(words, { columns: stderr.columns, indent: 2, taken: 0 }));
  }

  function warnOfUnknown(status: string): void {
    if (isKnownStatus(status) || warnedOf.has(status)) return;
    warnedOf.add(status);
    live.above(`${theme.warn(warn)} ${cleanLine(status)} is a state this version does not know: following on`);
  }
}
