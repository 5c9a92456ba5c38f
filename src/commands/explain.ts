import type { Context } from '../context.ts';
import { exitCodeBlock, exitCodeTable } from '../render/exit-code-table.ts';
import { linesOf, type OutputOptions, themeOf } from '../render/output.ts';
import { exitCodes } from '../runs/exit-codes.ts';
import { usageProblem } from '../runs/problem.ts';

/** `runctl explain [code]`: what an exit code, given by number or name, means and what to do. */
export async function explain(code: string | undefined, options: OutputOptions, context: Context): Promise<number> {
  const { stdout } = context;
  const row = exitCodes.find((candidate) => String(candidate.code) === code || candidate.name === code);
  if (code !== undefined && !row)
    throw usageProblem(`there is no exit code ${JSON.stringify(code)}`, '`runctl explain` lists them all');
  if (options.json) {
    stdout.write(`${JSON.stringify(row ?? exitCodes)}\n`);
    return 0;
  }
  const theme = await themeOf(stdout, context);
  const lines = linesOf(stdout);
  stdout.write(row ? exitCodeBlock(row, theme, lines) : exitCodeTable(theme, lines));
  return 0;
}
