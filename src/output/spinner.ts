import { stateOfStatus } from './state.ts';
import { blanksAfter, cut, loadStyle, type Style, widthOf } from './style.ts';
import {
  isFinished,
  isShown,
  type ProgressContext,
  type ProgressView,
  progressText,
  type WatchedRun,
} from './watched-run.ts';

/** Once a second, for the times. More would fill the log of whatever records a terminal. */
const intervalMs = 1000;

/** A spinner with one line for one run, or a line for each of several below a count. */
export function createSpinner(runs: WatchedRun[], context: ProgressContext): ProgressView {
  const { stderr, terminal, terminalStyle } = context;
  let isStopped = false;
  let isStarting = false;
  let end = () => {};

  async function start(): Promise<void> {
    const style = await loadStyle(stderr, context);
    const { default: ora } = await import('ora');
    if (isStopped) return;
    const spinner = ora({
      text: boardText(runs, style, context),
      stream: terminal,
      isEnabled: true,
      color: stderr.hasColors && 'cyan',
      spinner: terminalStyle.hasUnicode ? 'dots' : 'line',
      interval: intervalMs,
      discardStdin: false, // or Ctrl-C would be dead
      hideCursor: false, // or a process that is killed would leave it hidden
    });
    const update = () => {
      // In the background the terminal belongs to the shell.
      spinner.isEnabled = stderr.isTTY && terminal.columns > 0;
      spinner.text = boardText(runs, style, context);
    };
    // Before ora's own timer, so that it draws what is true.
    const timer = setInterval(update, intervalMs).unref();
    spinner.start();
    end = () => {
      clearInterval(timer);
      update();
      spinner.stop();
    };
  }

  return {
    update() {
      if (isStarting || !runs.some(isShown)) return;
      isStarting = true;
      void start();
    },
    stop() {
      isStopped = true;
      end();
      end = () => {};
    },
  };
}

function boardText(runs: readonly WatchedRun[], style: Style, context: ProgressContext): string {
  const all = runs.filter(isShown);
  const shown = fitting(all, context);
  const nameOf = (run: WatchedRun) => style.line(run.automation.name);
  const nameWidth = Math.max(...shown.map((run) => widthOf(nameOf(run))));
  const rows = shown.map((run) => {
    const name = nameOf(run);
    const text = progressText(run, style, context);
    if (all.length === 1) return `${name} ${text}`;
    return `  ${glyphOf(run, style)} ${name}${blanksAfter(name, nameWidth)}  ${text}`;
  });
  const hidden = all.length - shown.length;
  const more = hidden > 0 ? `, ${hidden} not shown` : '';
  const count = `${all.filter(isFinished).length} of ${all.length} finished${more}`;
  // The spinner and a blank stand before the first line, and no line may be wrapped.
  const width = context.stderr.columns() - 3;
  return (all.length === 1 ? rows : [count, ...rows])
    .map((line) => cut(line, width, style.glyphs.ellipsis))
    .join('\n');
}

/** A board that is higher than the terminal can't be redrawn, and would fill the scrollback. */
function fitting(runs: readonly WatchedRun[], { terminal }: ProgressContext) {
  const maxRows = Math.max((terminal.rows || 24) - 3, 1);
  if (runs.length <= maxRows) return runs;
  return runs.filter((run) => !isFinished(run)).slice(0, maxRows);
}

function glyphOf({ status }: WatchedRun, style: Style): string {
  if (!status?.isFinal) return ' ';
  const { tone } = stateOfStatus(status, 0);
  return style.tint(tone, style.glyphs[tone]);
}
