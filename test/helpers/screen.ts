import { spawn } from '@lydell/node-pty';
import { type IBufferLine, Terminal } from '@xterm/headless';
import { entry } from './run-process.ts';

/** The built program on a pseudo-terminal, and what a person at it sees. */
export interface Screen {
  terminal: Terminal;
  /** All lines since the start, those that have scrolled away too; without the blanks at the ends. */
  lines(): Promise<string[]>;
  /** Waits until a line matches. Rejects after ten seconds, with what was seen instead. */
  sees(pattern: RegExp): Promise<string>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Every byte so far, escape sequences and all. */
  written(): string;
  kill(): void;
  /** The exit code. */
  exit: Promise<number>;
}

export interface ScreenOptions {
  env: Record<string, string>;
  columns?: number;
  rows?: number;
}

const patienceMs = 10_000;

/** Starts `runctl ...argv` in a terminal of its own. */
export function openScreen(argv: readonly string[], options: ScreenOptions): Screen {
  return openTerminal(process.execPath, [entry, ...argv], options);
}

export function openTerminal(
  file: string,
  argv: readonly string[],
  { env, columns = 80, rows = 24 }: ScreenOptions,
): Screen {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const child = spawn(file, [...argv], {
    cols: columns,
    rows,
    name: env.TERM ?? 'xterm-256color',
    env: { LANG: 'C.UTF-8', ...env },
  });
  let written = '';
  child.onData((data) => {
    written += data;
    terminal.write(data);
  });
  const exit = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode));
  });

  const lines = async () => {
    await new Promise<void>((resolve) => terminal.write('', resolve));
    const { active } = terminal.buffer;
    const all = Array.from({ length: active.length }, (_, y) => active.getLine(y) as IBufferLine);
    const texts = all.map((line) => line.translateToString(true).trimEnd());
    return texts.slice(0, texts.findLastIndex((text) => text !== '') + 1);
  };

  return {
    terminal,
    lines,
    async sees(pattern) {
      const deadlineMs = performance.now() + patienceMs;
      for (;;) {
        const seen = await lines();
        const line = seen.find((text) => pattern.test(text));
        if (line !== undefined) return line;
        if (performance.now() > deadlineMs) throw new Error(`no line matches ${pattern}:\n${seen.join('\n')}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    type: (keys) => child.write(keys),
    resize(newColumns, newRows) {
      child.resize(newColumns, newRows);
      terminal.resize(newColumns, newRows);
    },
    written: () => written,
    kill: () => child.kill(),
    exit,
  };
}
