import {
  type FollowedRun,
  isFinished,
  isShown,
  type ProgressContext,
  type ProgressView,
  progressText,
} from './followed-run.ts';
import { toneOf } from './state.ts';
import { loadStyle, type Style } from './style.ts';
import { cut, padEnd, widthOf } from './width.ts';

const frameMs = 1000;
/** With the control sequences about 2 kB in 10 seconds, for what records a terminal. */
const bytesPerSecond = 150;
/** Node's timers take no longer delay. */
const neverMs = 2 ** 31 - 1;
const unicodeFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const asciiFrames = ['-', '\\', '|', '/'];

/** A spinner with one line for one run, or a line for each of several below a count. */
export function createSpinner(runs: FollowedRun[], context: ProgressContext): ProgressView {
  const { stderr, clock } = context;
  let isStopped = false;
  let isStarting = false;
  let end = () => {};

  async function start(): Promise<void> {
    const style = await loadStyle(stderr, context);
    const { default: ora } = await import('ora');
    if (isStopped) return;
    const spinner = ora({
      text: boardText(runs, style, context),
      stream: context.terminal,
      isEnabled: true,
      color: stderr.hasColors && 'cyan',
      discardStdin: false, // or Ctrl-C would be dead
      hideCursor: false, // or a process that is killed would leave it hidden
      interval: neverMs, // its timer would draw a large board as often as a small one
    }).start();
    const frames = context.terminalStyle.hasUnicode ? unicodeFrames : asciiFrames;
    spinner.spinner = { frames, interval: 1 }; // each drawing has the next frame
    let nextDrawMs = 0;
    const draw = () => {
      // In the background the terminal belongs to the shell.
      if (clock.elapsedMs() < nextDrawMs || !stderr.isTTY) return;
      spinner.text = boardText(runs, style, context);
      spinner.render();
      const costMs = (1000 * Buffer.byteLength(spinner.text)) / bytesPerSecond;
      nextDrawMs = clock.elapsedMs() + costMs;
    };
    const timer = setInterval(draw, frameMs).unref();
    end = () => {
      clearInterval(timer);
      spinner.isEnabled = stderr.isTTY; // or it would erase the shell's lines
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

function boardText(runs: readonly FollowedRun[], style: Style, context: ProgressContext): string {
  const { stderr, terminal } = context;
  const width = (stderr.columns() || 80) - 1;
  const fitted = (text: string, indent = 0) => cut(text, width - indent, style.glyphs.ellipsis);
  const shown = runs.filter(isShown);
  const nameOf = (run: FollowedRun) => fitted(style.line(run.automation.name), (2 * width) / 3);
  const [only] = shown;
  if (!only) return '';
  // The spinner and a blank stand before the first line.
  if (shown.length === 1) return fitted(`${nameOf(only)} ${progressText(only, style, context)}`, 2);

  const unfinished = shown.filter((run) => !isFinished(run));
  const maxLines = Math.max(1, (terminal.rows || 24) - 3);
  const listed = (shown.length > maxLines ? unfinished : shown).slice(0, maxLines);
  const nameWidth = Math.max(...listed.map((run) => widthOf(nameOf(run))));
  const lines = listed.map((run) => {
    const text = `${padEnd(nameOf(run), nameWidth)}  ${progressText(run, style, context)}`;
    return fitted(`  ${glyphOf(run, style)} ${text}`);
  });
  const rest = shown.length - listed.length;
  const more = rest > 0 ? [fitted(`    and ${rest} more`)] : [];
  const count = `${shown.length - unfinished.length} of ${shown.length} finished`;
  return [fitted(count, 2), ...lines, ...more].join('\n');
}

function glyphOf({ status }: FollowedRun, style: Style): string {
  if (!status?.isFinal) return ' ';
  const tone = toneOf(status);
  return style.tint(tone, style.glyphs[tone]);
}
