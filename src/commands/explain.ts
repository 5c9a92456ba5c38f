import type { Context } from '../context.ts';
import { exitCodes } from '../problems/exit-codes.ts';
import { usageProblem } from '../problems/problem.ts';
import { exitCodeBlock, exitCodeTable } from '../render/exit-code-table.ts';
import { linesOf, type OutputOptions, themeOf } from '../render/output.ts';

/** `runctl explain [code]`: what an exit code, given by number or name, means and what to do. */
export async function explain(code: string | undefined, options: OutputOptions, context: Context): Promise<number> {
  const { stdout } = context;
  // One name stands for three codes.
  const rows = exitCodes.filter((row) => String(row.code) === code || row.name === code);
  if (code !== undefined && rows.length === 0)
    throw usageProblem(`there is no exit code ${JSON.stringify(code)}`, '`runctl explain` lists them all');
  if (options.json) {
    stdout.write(`${JSON.stringify(code === undefined ? exitCodes : rows.length === 1 ? rows[0] : rows)}\n`);
    return 0;
  }
  const theme = await themeOf(stdout, context);
  const lines = linesOf(stdout);
  stdout.write(
    code === undefined ? exitCodeTable(theme, lines) : rows.map((row) => exitCodeBlock(row, theme, lines)).join('\n'),
  );
  return 0;
}
