import { Command } from 'commander';
import { define } from '../cli/command.ts';
import type { CommandResult } from '../output/command-result.ts';
import { renderFields } from '../output/fields.ts';
import { renderMarkup, renderWord, type Theme } from '../output/theme.ts';
import { type WrapOptions, widestPage } from '../output/wrap.ts';
import { type ExitCode, exitCodes, repeatAdvice } from '../run/exit-codes.ts';
import { didYouMean } from '../run/near-words.ts';
import { infoOutcome } from '../run/outcome.ts';
import { usageProblem } from '../run/problem.ts';
import { plainSentence, quote } from '../run/quote.ts';

const command = new Command('explain')
  .description('explain an exit code')
  .argument('[code]', 'an exit code or its outcome, such as 12 or outcome_unknown (default: all)');

export const explain = define(command, {
  examples: [
    ['runctl explain', 'list all exit codes'],
    ['runctl explain 12', 'explain one, and what to do about it'],
  ],
  async run([asked]): Promise<CommandResult> {
    const rows = exitCodes.filter(
      ({ code, outcome }) => asked === undefined || asked === String(code) || asked === outcome,
    );
    if (asked !== undefined && rows.length === 0) {
      const names = exitCodes.map(({ outcome }) => outcome);
      const listHint =
        '`runctl explain` lists the exit codes, and any other comes from the shell or a signal';
      throw usageProblem(
        `there is no exit code ${quote(asked)}`,
        didYouMean(asked, names) ?? listHint,
      );
    }
    return {
      outcomes: [infoOutcome({ explain: rows.map(rowAsData) })],
      forPeople: {
        text(theme, { columns = widestPage }) {
          const lines = { columns: Math.min(columns, widestPage) };
          if (asked === undefined) return exitCodeTable(theme, lines);
          return rows.map((row) => exitCodeBlock(row, theme, lines)).join('\n');
        },
      },
    };
  },
});

const rowAsData = ({ startsNoRun: _, meaning, advice, ...row }: ExitCode) => ({
  ...row,
  meaning: plainSentence(meaning),
  advice: plainSentence(advice),
});

function exitCodeBlock(row: ExitCode, theme: Theme, { columns }: WrapOptions) {
  const { code, outcome, meaning, advice } = row;
  const head = `${code} ${outcome}`;
  const first = renderMarkup(meaning, theme, { columns, taken: head.length + 2 });
  const second = renderMarkup(`${advice} ${repeatAdvice(row)}`.trim(), theme, { columns });
  return `${theme.strong(head)}: ${first}\n${second}\n`;
}

function exitCodeTable(theme: Theme, lines: WrapOptions): string {
  const rows = exitCodes.map(
    ({ code, outcome, meaning, repeat }) =>
      [
        `${String(code).padStart(3)}  ${outcome}`,
        `${renderWord(meaning, theme)} (repeat: ${repeat})`,
      ] as const,
  );
  const repeat =
    '"repeat": can the same `trigger` line be repeated without a second run? "own key": within 24h, if it has an `--idempotency-key`.';
  return `${renderFields(rows, theme, lines)}\n${renderMarkup(repeat, theme, lines)}\n`;
}
