import { type ExitCode, exitCodes } from '../problems/exit-codes.ts';
import { renderMarkup, type Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

export function exitCodeBlock(
  { code, name, meaning, advice }: ExitCode,
  theme: Theme,
  { columns }: WrapOptions,
): string {
  const head = `${code} ${name}`;
  return `${theme.strong(head)}: ${renderMarkup(meaning, theme, { columns, taken: head.length + 2 })}\n${renderMarkup(advice, theme, { columns })}\n`;
}

export function exitCodeTable(theme: Theme, { columns }: WrapOptions): string {
  const width = Math.max(...exitCodes.map(({ name }) => name.length));
  const beside = 3 + 2 + width + 2;
  const isNarrow = columns !== undefined && columns < 2 * beside;
  const lines = { columns, indent: isNarrow ? 5 : beside };
  return exitCodes
    .map(({ code, name, meaning }) => {
      const head = `${String(code).padStart(3)}  ${theme.strong(name.padEnd(isNarrow ? 0 : width))}`;
      return `${head}${isNarrow ? '\n     ' : '  '}${renderMarkup(meaning, theme, lines)}\n`;
    })
    .join('');
}
