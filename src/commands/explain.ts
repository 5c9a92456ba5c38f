import { argument, defineCommand, flag } from '../cli/define-command.ts';
import { exitCodes } from '../problems/exit-codes.ts';
import { usageProblem } from '../problems/problem.ts';
import { documentOf } from '../render/document.ts';
import { exitCodeBlock, exitCodeTable } from '../render/exit-code-table.ts';
import type { CommandResult } from '../render/output.ts';

export const explain = defineCommand({
  name: 'explain',
  about: 'say what an exit code means and what to do',
  arguments: { code: argument('[code]', 'number or name') },
  options: { json: flag('--json', 'print one JSON document') },
  examples: [
    ['runctl explain', 'all exit codes'],
    ['runctl explain 12', 'one of them, and what to do'],
  ],
  async run({ code }, _, context): Promise<CommandResult> {
    // The name `interrupted` stands for three codes.
    const rows = exitCodes.filter((row) => String(row.code) === code || row.name === code);
    if (code !== undefined && rows.length === 0)
      throw usageProblem(`there is no exit code ${JSON.stringify(code)}`, '`runctl explain` lists them all');
    const explained = code === undefined ? exitCodes : rows;
    return {
      documents: [documentOf({ report: { explain: explained.map((row) => ({ ...row })) } }, context)],
      text: (theme, lines) =>
        code === undefined
          ? exitCodeTable(theme, lines)
          : rows.map((row) => exitCodeBlock(row, theme, lines)).join('\n'),
    };
  },
});
