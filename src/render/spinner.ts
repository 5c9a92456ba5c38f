import ora from 'ora';
import type { Context } from '../context.ts';

/** Text at the bottom of a terminal that is drawn anew as time passes, with a spinner in front of it. */
export interface Spinner {
  /** Draws now; the first call shows it. */
  draw(): void;
  /** Writes a line above it, to stay. */
  above(line: string): void;
  stop(): void;
}

const redrawMs = 1_000;

export function createSpinner(text: () => string, { terminal, stderr, unicode }: Context): Spinner {
  // `discardStdin` would swallow Ctrl-C on a pseudo-terminal; `isEnabled` because ora respects CI variables too, and `color`
  // because it does not respect NO_COLOR.
  const spinner = ora({
    stream: terminal,
    discardStdin: false,
    isEnabled: true,
    spinner: unicode ? 'dots' : 'line',
    color: stderr.colors && 'cyan',
  });
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    spinner.text = text();
    if (timer) return;
    timer = setInterval(draw, redrawMs);
    spinner.start();
  };
  return {
    draw,
    above(line) {
      if (spinner.isSpinning) spinner.clear();
      stderr.write(`${line}\n`);
    },
    stop() {
      clearInterval(timer);
      spinner.stop();
    },
  };
}
