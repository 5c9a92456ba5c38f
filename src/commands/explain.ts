import { argument, defineCommand } from '../cli/define-command.ts';
import { outputOptions } from '../cli/options.ts';
import { type ExitCode, exitCodes } from '../problems/exit-codes.ts';
import { usageProblem } from '../problems/problem.ts';
import { documentOf } from '../render/document.ts';
import type { CommandResult } from '../render/output.ts';
import { renderMarkup, type Theme } from '../render/theme.ts';
import { type WrapOptions, widestPage } from '../render/wrap.ts';

export const explain = defineCommand({
  name: 'explain',
  about: 'explain an exit code and what to do about it',
  arguments: { code: argument('[code]', 'number or name') },
  options: outputOptions,
  examples: [
    ['runctl explain', 'all exit codes'],
    ['runctl explain 12', 'one exit code, and what to do about it'],
  ],
  async run({ code }, _, context): Promise<CommandResult> {
    // The name `interrupted` stands for three codes.
    const name = code?.toLowerCase().replaceAll('-', '_');
    const rows = exitCodes.filter(
      (row) => String(row.code) === code || row.name === name || row.name === `run_${name}`,
    );
    if (code !== undefined && rows.length === 0)
      throw usageProblem(`there is no exit code ${JSON.stringify(code)}`, '`runctl explain` lists them all');
    const explained = code === undefined ? exitCodes : rows;
    return {
      documents: [documentOf({ report: { explain: explained.map((row) => ({ ...row })) } }, context)],
      text(theme, { columns = widestPage }) {
        const lines = { columns: Math.min(columns, widestPage) };
        if (code === undefined) return exitCodeTable(theme, lines);
        return rows.map((row) => exitCodeBlock(row, theme, lines)).join('\n');
      },
    };
  },
});

function exitCodeBlock({ code, name, meaning, advice }: ExitCode, theme: Theme, { columns }: WrapOptions): string {
  const head = `${code} ${name}`;
  return `${theme.strong(head)}: ${renderMarkup(meaning, theme, { columns, taken: head.length + 2 })}\n${renderMarkup(advice, theme, { columns })}\n`;
}

function exitCodeTable(theme: Theme, { columns }: WrapOptions): string {
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
