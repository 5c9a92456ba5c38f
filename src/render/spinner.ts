import type { Context } from '../context.ts';
import { themeOf } from './output.ts';
import { eraseBelow, hideCursor, leaveTerminal } from './terminal.ts';
import { widthOf } from './width.ts';

/** Text at the bottom of a terminal that is drawn anew as time passes, with a spinner in front of it. */
export interface Spinner {
  /** The text has changed; the first call shows it. */
  draw(): void;
  /** Writes a line above it, to stay. */
  above(line: string): void;
  stop(): void;
}

const frameMs = 100;
const framesUntilRedraw = 10;
const dots = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const strokes = '-\\|/';

/**
 * The cursor waits, hidden, on the line below the text. A terminal that becomes narrower breaks the lines above it anew, so
 * that they take more rows: as many as their widths tell. Each line of `text` must fit into the width of the terminal.
 */
export function createSpinner(text: () => string, context: Context): Spinner {
  const { terminal, stderr, unicode } = context;
  const frames = unicode ? dots : strokes;
  let frame = 0;
  let isStale = false;
  let timer: NodeJS.Timeout | undefined;
  let widths: number[] = [];

  const symbol = () => themeOf(stderr, context).busy(frames[frame % frames.length] ?? '');
  const move = (direction: 'A' | 'B') => {
    const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / stderr.columns)), 0);
    return rows === 0 ? '' : `\u001B[${rows}${direction}`;
  };
  const erase = () => `${move('A')}${eraseBelow}`;
  const drawAnew = (above = '') => {
    const start = `${erase()}${above}`;
    // One row is the cursor's.
    const lines = text()
      .split('\n')
      .slice(0, Math.max(1, (terminal.rows || 24) - 1));
    lines[0] = `${symbol()} ${lines[0]}`;
    widths = lines.map(widthOf);
    isStale = false;
    stderr.write(`${start}${lines.join('\n')}\n`);
  };
  const redraw = () => drawAnew();
  const spin = () => {
    frame++;
    // The ages in it grow.
    if (isStale || frame % framesUntilRedraw === 0) drawAnew();
    else stderr.write(`${move('A')}${symbol()}\r${move('B')}`);
  };
  return {
    draw() {
      isStale = true;
      if (timer) return;
      timer = setInterval(spin, frameMs);
      terminal.on('resize', redraw);
      stderr.write(hideCursor);
      drawAnew();
    },
    above(line) {
      if (timer) drawAnew(`${line}\n`);
      else stderr.write(`${line}\n`);
    },
    stop() {
      if (!timer) return;
      clearInterval(timer);
      timer = undefined;
      terminal.off('resize', redraw);
      stderr.write(`${move('A')}${leaveTerminal}`);
      widths = [];
    },
  };
}
