import { type ExitCode, exitCodes } from '../runs/exit-codes.ts';
import { block } from './block.ts';
import type { Theme } from './theme.ts';

/** One exit code and what to do about it. */
export function exitCodeBlock({ code, name, meaning, started, repeat, advice }: ExitCode, theme: Theme): string {
  const head = `${theme.strong(`${code} ${name}`)}: ${meaning}\n`;
  const rows = block(
    [
      ['was a run started by this command?', started],
      ['safe to repeat?', repeat],
    ],
    theme,
    '  ',
  );
  return `${head}${rows}${advice}\n`;
}

/** All of them, a line each. */
export function exitCodeTable(theme: Theme): string {
  const width = Math.max(...exitCodes.map(({ name }) => name.length));
  return exitCodes
    .map(({ code, name, meaning }) => `${String(code).padStart(3)}  ${theme.strong(name.padEnd(width))}  ${meaning}\n`)
    .join('');
}
