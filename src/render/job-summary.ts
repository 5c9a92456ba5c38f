import type { Problem } from '../problems/problem.ts';
import type { FinishedWatch } from '../watching/watch-result.ts';
import { sanitize, sanitizeLine } from './sanitize.ts';
import { summary } from './summary.ts';
import { createTheme } from './theme.ts';

/** What became of one argument of the command, which `about` names. */
export interface SummaryPart {
  about: string;
  watched?: FinishedWatch;
  problem?: Problem;
}

// GitHub refuses a summary of more than 1 MiB as a whole.
const mostCharacters = 64 * 1024;

/** The summary as Markdown, without the output of the runs, which not every reader of the page may see. */
export function jobSummary(parts: readonly SummaryPart[]): string {
  const theme = createTheme({ colors: false, unicode: true });
  const sections = parts.map(({ about, watched, problem }) => {
    const shown = watched && { ...watched, result: watched.result && { ...watched.result, output: undefined } };
    const facts = [
      shown ? summary(shown, theme, { columns: Number.POSITIVE_INFINITY }) : undefined,
      problem &&
        (watched ? problem.message : `${theme.symbols.bad} ${about}: ${problem.facts.name}\n${problem.message}`),
      problem?.facts.hint,
    ];
    const text = facts.filter(Boolean).join('\n').trimEnd();
    if (text === '') return '';
    const [head = '', ...rest] = text.split('\n');
    return `### ${escapeMarkdown(sanitizeLine(head))}\n\n${fenced(rest.join('\n'))}\n`;
  });
  return sections.join('');
}

/** CommonMark §2.4: after a backslash, ASCII punctuation has no special meaning. */
const escapeMarkdown = (text: string) => text.replace(/[!-/:-@[-`{-~]/g, '\\$&');

/** A code block that the text cannot end: its fence is longer than any in the text. */
function fenced(text: string): string {
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n(cut here)` : text;
  // The text is cleaned first, since that may join two sequences of backticks.
  const shown = sanitize(cut);
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}\n`;
}
