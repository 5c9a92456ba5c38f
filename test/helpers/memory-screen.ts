import { Terminal } from '@xterm/headless';
import { onTestFinished } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from './emulator.ts';
import { runProgram } from './run-program.ts';
import { readerOf, type Screen } from './screen-reader.ts';
import { ScreenStream } from './screen-stream.ts';

export interface MemoryScreenOptions {
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
}

/** The program in this process, on a terminal in memory. It is ended when the test is over. */
export function openMemoryScreen(
  argv: readonly string[],
  { env, columns = 80, rows = 24 }: MemoryScreenOptions,
): Screen {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true, convertEol: true });
  const screen = new ScreenStream(terminal);
  const interrupt = new AbortController();
  const running = runProgram(argv, { env: { LANG: 'C.UTF-8', ...env }, screen, signal: interrupt.signal });
  const exit = running.then(({ code }) => code);
  onTestFinished(async () => {
    interrupt.abort('SIGTERM');
    await exit;
  });
  return {
    ...readerOf(terminal),
    resize: (columns, rows) => screen.resize(columns, rows),
    written: () => screen.written,
    exit,
  };
}

/** The same beside an emulator of its own. */
export async function onMemoryScreen(
  argv: readonly string[],
  scenario: Scenario,
  { env = {}, ...size }: MemoryScreenOptions = {},
): Promise<Screen & Awaited<ReturnType<typeof withEmulator>>> {
  const served = await withEmulator(scenario);
  return { ...served, ...openMemoryScreen(argv, { ...size, env: { ...served.env, ...env } }) };
}
