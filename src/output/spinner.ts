import ora from 'ora';
import type { Context } from '../context.ts';
import { eraseBelow } from './theme.ts';
import { widthOf } from './width.ts';

const redrawMs = 200;

/** Text at the bottom that is redrawn. Its lines must fit into the terminal, the first beside two columns of spinner. */
export function createSpinner(text: () => string, context: Context) {
  const { stderr, unicode } = context;
  const terminal = context.terminal();
  // `discardStdin` would swallow Ctrl-C on a pseudo-terminal. `isEnabled` is set because ora also respects CI variables,
  // and `color` because it doesn't respect NO_COLOR.
  const spinner = ora({
    stream: terminal,
    discardStdin: false,
    isEnabled: true,
    spinner: unicode ? 'dots' : 'line',
    color: stderr.colors && 'cyan',
  });
  let timer: NodeJS.Timeout | undefined;
  // The cursor gets a line of its own, as terminals differ in where they leave it when they rewrap its line.
  const withCursor = () => {
    const rows = Math.max(1, (terminal.rows || 24) - 1);
    return `${text().split('\n').slice(0, rows).join('\n')}\n`;
  };
  const redraw = () => {
    spinner.text = withCursor();
    spinner.render();
  };
  // A terminal that became narrower has rewrapped the lines, and ora erases only as many rows as it wrote.
  const redrawResized = () => {
    const widths = `  ${spinner.text}`.split('\n').map(widthOf);
    const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / stderr.columns())), 0);
    if (rows > widths.length) {
      spinner.clear();
      // At the line break, ora draws again at once.
      stderr.write(`\u001B[${rows - widths.length}A${eraseBelow}\u001B[A\n`);
    }
    redraw();
  };
  return {
    draw() {
      if (timer) return;
      timer = setInterval(redraw, redrawMs);
      terminal.on('resize', redrawResized);
      spinner.start(withCursor());
    },
    above(line: string) {
      // ora removes the spinner before anything else is written, and draws it again below.
      if (timer) spinner.text = withCursor();
      stderr.write(`${line}\n`);
    },
    stop() {
      if (!timer) return;
      clearInterval(timer);
      timer = undefined;
      terminal.off('resize', redrawResized);
      spinner.stop();
    },
  };
}
