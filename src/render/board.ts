import type { Context } from '../context.ts';
import { formatDuration } from '../runs/duration.ts';
import { endingOf, isKnownState, nameOf } from '../runs/run.ts';
import { cleanLine } from './clean.ts';
import { themeOf } from './output.ts';
import type { Reporter, ReporterOptions } from './reporter.ts';
import { createRunLine, type RunLine } from './run-line.ts';
import { createLiveText } from './spinner.ts';
import { colorOfState, symbolOfState } from './state.ts';
import { durationOf } from './status-block.ts';
import { typeset } from './theme.ts';

// Lines that the prompt, the counts and the spinner want for themselves.
const reservedRows = 4;
const latestChanges = 5;

/**
 * Followed runs on a terminal. One run is one line; of several each has its line while it goes and a last one above
 * when it has ended, and past a screenful only the counts and the latest changes are shown.
 */
export async function createBoard({ several, history }: ReporterOptions, context: Context): Promise<Reporter> {
  const { clock, stderr, terminal } = context;
  const theme = await themeOf(stderr, context);
  const going = new Map<string, RunLine>();
  const changed: string[] = [];
  const warnedOf = new Set<string>();
  let completed = 0;
  let ended = 0;
  let unwatched = 0;

  // The spinner stands before the first line, an indent before the others; the last column makes some terminals wrap.
  const columns = () => stderr.columns - 3;
  const counts = () => {
    const { dot } = theme.symbols;
    const parts = [`${going.size} going`, theme.good(`${completed} completed`)];
    if (ended > completed) parts.push(theme.bad(`${ended - completed} ended otherwise`));
    if (unwatched > 0) parts.push(theme.warn(`${unwatched} given up on`));
    return parts.join(` ${theme.dim(dot)} `);
  };
  const text = () => {
    if (!several) return [...going.values()].map((line) => line.text(columns())).join('');
    const fits = going.size <= Math.max(1, (terminal.rows || 24) - reservedRows);
    const ids = fits ? [...going.keys()] : changed.slice(-latestChanges);
    const lines = ids.flatMap((id) => going.get(id)?.text(columns()) ?? []);
    return [counts(), ...lines].join('\n  ');
  };
  const live = createLiveText(text, context);

  return {
    observe(event) {
      const { run } = event;
      const id = run.executionId;
      if (event.event === 'problem' || event.event === 'final') {
        going.delete(id);
        if (event.event === 'problem') unwatched += 1;
        else {
          const { status, startedAt, completedAt } = event.execution;
          ended += 1;
          if (endingOf(status) === 'ok') completed += 1;
          const took = durationOf({ startedAt, completedAt }, clock.nowMs(), true);
          const head = colorOfState(
            run.target,
            status,
            theme,
          )(`${symbolOfState(run.target, status, theme)} ${cleanLine(status)}`);
          if (several)
            live.above(`${head} ${cleanLine(nameOf(run.target))}${took ? theme.dim(` ${took}`) : ''} ${theme.dim(id)}`);
        }
      } else {
        let line = going.get(id);
        if (!line) {
          line = createRunLine(run, history(run.target), clock, theme);
          going.set(id, line);
        }
        line.observe(event);
        if (event.event === 'status' && event.changed) changed.push(id);
        if (event.event === 'status' && run.target.family === 'automation') warnOfUnknown(event.execution.status);
        if (event.event === 'recovered' && !several) {
          live.above(
            theme.dim(`${theme.symbols.dot} the service answers again after ${formatDuration(event.afterMs)}`),
          );
        }
      }
      live.draw();
    },
    say: (line) => live.above(typeset(line, theme)),
    stop: live.stop,
  };

  function warnOfUnknown(status: string): void {
    if (isKnownState(status) || warnedOf.has(status)) return;
    warnedOf.add(status);
    live.above(
      `${theme.warn(theme.symbols.warn)} ${cleanLine(status)} is a state this version does not know: following on`,
    );
  }
}
