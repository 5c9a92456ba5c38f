import ora from 'ora';
import type { CommandContext } from '../context.ts';
import { eraseBelow } from './theme.ts';
import { widthOf } from './width.ts';

/**
 * A program that records the terminal, or a screen reader, gets at most one frame a second, and
 * only if the text has changed.
 */
const redrawMs = 1000;

/**
 * Text at the bottom of the terminal that is redrawn. Its lines must fit into the terminal, and the
 * first one is two columns shorter because it begins with the spinner. It is neither drawn nor
 * erased in the background, where the terminal belongs to the shell.
 */
export function createSpinner(text: () => string, context: CommandContext) {
  const { stderr, unicode } = context;
  const terminal = context.terminal();
  // ora makes the frames, but doesn't write them: its own timer draws twelve a second, and it
  // doesn't know that a process can be in the background. Its `color` is set because it doesn't
  // respect NO_COLOR.
  const spinner = ora({
    stream: terminal,
    spinner: unicode ? 'dots' : 'line',
    color: stderr.colors && 'cyan',
  });
  let timer: NodeJS.Timeout | undefined;
  let drawn = ''; // what is on the terminal, just above the cursor
  let drawnAtResumption = 0;

  return {
    /** Shows this text until it is replaced or `stop` is called. */
    draw() {
      if (timer) return;
      timer = setInterval(redrawSoon, redrawMs);
      terminal.on('resize', redrawResized);
      redraw();
    },
    /** Calls `write`, whose complete lines appear above the text. */
    above(write: () => void) {
      erase();
      write();
      if (timer) redraw();
    },
    stop() {
      if (!timer) return;
      clearInterval(timer);
      timer = undefined;
      terminal.off('resize', redrawResized);
      erase();
    },
  };

  /** When a stopped process goes on, Node runs timers that are due before it tells of SIGCONT. */
  function redrawSoon(): void {
    setImmediate(() => {
      if (timer) redraw();
    });
  }

  function redraw(): void {
    if (!context.isInteractive()) {
      drawn = '';
      return;
    }
    const shown = fitting(text());
    if (shown === drawn && drawnAtResumption === context.resumptions()) return;
    spinner.text = shown;
    // The cursor gets a line of its own, as terminals differ in where they leave it when they
    // rewrap its line.
    stderr.write(`${erasure()}${spinner.frame()}\n`);
    drawn = shown;
    drawnAtResumption = context.resumptions();
  }

  function redrawResized(): void {
    erase();
    redraw();
  }

  function erase(): void {
    const sequence = erasure();
    drawn = '';
    if (sequence) stderr.write(sequence);
  }

  /** Nothing if it was stopped since: the shell and other commands have written below the text. */
  function erasure(): string {
    const isBelow = context.isInteractive() && drawnAtResumption === context.resumptions();
    if (drawn === '' || !isBelow) return '';
    // A terminal that became narrower has rewrapped the lines.
    const widths = `  ${drawn}`.split('\n').map(widthOf);
    const rows = widths.reduce(
      (sum, width) => sum + Math.max(1, Math.ceil(width / stderr.columns())),
      0,
    );
    return `\u001B[${rows}A${eraseBelow}`;
  }

  function fitting(lines: string): string {
    const rows = Math.max(1, (terminal.rows || 24) - 1);
    return lines.split('\n').slice(0, rows).join('\n');
  }
}
