import type { Problem } from '../problems/problem.ts';
import type { FinishedWatch } from '../watching/watch-result.ts';
import { clean, cleanLine } from './sanitize.ts';
import { summary } from './summary.ts';
import { createTheme } from './theme.ts';

/** What came of one argument, which `about` names. */
export interface SummaryPart {
  about: string;
  watched?: FinishedWatch;
  problem?: Problem;
}

// A summary of more than 1 MiB is refused whole.
const mostCharacters = 64 * 1024;

/** As Markdown, without the runs' output, which the readers of a job's page need not be allowed to see. */
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
    return `### ${escapeMarkdown(cleanLine(head))}\n\n${fenced(rest.join('\n'))}\n`;
  });
  return sections.join('');
}

/** CommonMark §2.4: a backslash takes its meaning from any ASCII punctuation. */
const escapeMarkdown = (text: string) => text.replace(/[!-/:-@[-`{-~]/g, '\\$&');

/** A code block that the text cannot end: its fence is longer than any in the text. */
function fenced(text: string): string {
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n(cut here)` : text;
  // Cleaned first: without what stood between them, two runs of backticks may be one.
  const shown = clean(cut);
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}\n`;
}
