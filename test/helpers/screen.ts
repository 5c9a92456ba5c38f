import { spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { entry } from './run-process.ts';
import { readerOf, type Screen } from './screen-reader.ts';

/** The built program on a pseudo-terminal. */
export interface ProcessScreen extends Screen {
  terminal: Terminal;
  type(keys: string): void;
  kill(): void;
  hangUp(): void; // closes the terminal for every process that has it
}

export interface ScreenOptions {
  env: Record<string, string>;
  columns?: number;
  rows?: number;
}

/** Starts `runctl ...argv` in a terminal of its own. */
export function openScreen(argv: readonly string[], options: ScreenOptions): ProcessScreen {
  return openTerminal(process.execPath, [entry, ...argv], options);
}

export function openTerminal(
  file: string,
  argv: readonly string[],
  { env, columns = 80, rows = 24 }: ScreenOptions,
): ProcessScreen {
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

  return {
    ...readerOf(terminal),
    terminal,
    type: (keys) => child.write(keys),
    resize(newColumns, newRows) {
      child.resize(newColumns, newRows);
      terminal.resize(newColumns, newRows);
    },
    written: () => written,
    kill: () => child.kill(),
    hangUp: () => (child as typeof child & { destroy(): void }).destroy(),
    exit,
  };
}
