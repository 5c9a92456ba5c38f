import { argument, defineCommand } from '../cli/define-command.ts';
import { outputOptions } from '../cli/options.ts';
import { exitCodes } from '../problems/exit-codes.ts';
import { usageProblem } from '../problems/problem.ts';
import { quote } from '../problems/quote.ts';
import { documentOf } from '../render/document.ts';
import { fields } from '../render/fields.ts';
import type { CommandResult } from '../render/output.ts';
import { renderMarkup, type Theme } from '../render/theme.ts';
import { type WrapOptions, widestPage } from '../render/wrap.ts';
import type { Explanation } from './explanations.ts';

export const explain = defineCommand({
  name: 'explain',
  about: 'explain an exit code, a status, an error or a signal',
  arguments: { codes: argument('[code...]', 'what is on the screen, such as 12, FAILED, step_failed, 401 or SIGTERM') },
  options: outputOptions,
  examples: [
    ['runctl explain', 'all exit codes'],
    ['runctl explain 12', 'one exit code, and what to do about it'],
    ['runctl explain HTTP 422 runAlreadyActive', 'an HTTP status and a code of the service'],
  ],
  async run({ codes }, _, context): Promise<CommandResult> {
    const { explanationsOf } = await import('./explanations.ts');
    // `(HTTP 422 runAlreadyActive)`, as it stands in a message.
    const words = codes.flatMap((text) => text.match(/[\w-]+/g) ?? []);
    const rows: Explanation[] = codes.length === 0 ? [...exitCodes] : words.flatMap(explanationsOf);
    if (rows.length === 0)
      throw usageProblem(`there is nothing called ${quote(codes.join(' '))}`, '`runctl explain` lists the exit codes');
    return {
      documents: [documentOf({ report: { explain: rows.map((row) => ({ ...row })) } }, context)],
      text(theme, { columns = widestPage }) {
        const lines = { columns: Math.min(columns, widestPage) };
        if (codes.length === 0) return exitCodeTable(theme, lines);
        return rows.map((row) => exitCodeBlock(row, theme, lines)).join('\n');
      },
    };
  },
});

function exitCodeBlock({ term, code, name, meaning, advice }: Explanation, theme: Theme, { columns }: WrapOptions) {
  const head = `${term ? `${term}, exit code ` : ''}${code}${name === term ? '' : ` ${name}`}`;
  return `${theme.strong(head)}: ${renderMarkup(meaning, theme, { columns, taken: head.length + 2 })}\n${renderMarkup(advice, theme, { columns })}\n`;
}

const exitCodeTable = (theme: Theme, lines: WrapOptions): string =>
  fields(
    exitCodes.map(({ code, name, meaning }) => [
      `${String(code).padStart(3)}  ${name}`,
      meaning.replace(/`([^`]+)`/g, (_, line) => theme.command(line)),
    ]),
    theme,
    lines,
  );
