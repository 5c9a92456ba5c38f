import { clearLine, cursorTo, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
import type { Terminal } from '@xterm/headless';

/** What the program writes to: a terminal as Node has it, in memory. */
export class ScreenStream extends Writable {
  readonly isTTY = true;
  readonly #screen: Terminal;
  columns: number;
  rows: number;
  /** Every byte so far, escape sequences and all. */
  written = '';
  constructor(screen: Terminal) {
    super({ decodeStrings: false });
    this.#screen = screen;
    this.columns = screen.cols;
    this.rows = screen.rows;
  }
  override _write(text: string, _: string, done: () => void) {
    this.written += text;
    this.#screen.write(text);
    done();
  }
  cursorTo(column: number) {
    return cursorTo(this, column);
  }
  moveCursor(x: number, y: number) {
    return moveCursor(this, x, y);
  }
  clearLine(direction: -1 | 0 | 1) {
    return clearLine(this, direction);
  }
  resize(columns: number, rows: number) {
    this.#screen.resize(columns, rows);
    Object.assign(this, { columns, rows });
    this.emit('resize');
  }
}
