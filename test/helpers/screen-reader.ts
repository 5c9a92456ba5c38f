import type { IBufferLine, Terminal } from '@xterm/headless';

/** What a person at a terminal sees. */
export interface Screen {
  /** All lines since the start, those that have scrolled away too; without the blanks at the ends. */
  lines(): Promise<string[]>;
  /** Waits until a line matches. Rejects after ten seconds, with what was seen instead. */
  sees(pattern: RegExp): Promise<string>;
  resize(columns: number, rows: number): void;
  /** Every byte so far, escape sequences and all. */
  written(): string;
  /** The exit code. */
  exit: Promise<number>;
}

const patienceMs = 10_000;

/** Reads what is on a terminal now. */
export function readerOf(terminal: Terminal): Pick<Screen, 'lines' | 'sees'> {
  const lines = async () => {
    await new Promise<void>((resolve) => terminal.write('', resolve));
    const { active } = terminal.buffer;
    const all = Array.from({ length: active.length }, (_, y) => active.getLine(y) as IBufferLine);
    const texts = all.map((line) => line.translateToString(true).trimEnd());
    return texts.slice(0, texts.findLastIndex((text) => text !== '') + 1);
  };

  return {
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
  };
}

/** What is on the screen in the end, and the exit code. */
export async function atTheEnd(screen: Screen): Promise<{ code: number; lines: string[]; text: string }> {
  const code = await screen.exit;
  const lines = await screen.lines();
  return { code, lines, text: lines.join('\n') };
}
