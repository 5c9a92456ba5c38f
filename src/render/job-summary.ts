import type { Problem } from '../problems/problem.ts';
import type { Ending } from '../runs/follow.ts';
import { isFinal } from '../runs/run.ts';
import { clean, cleanLine } from './sanitize.ts';
import { summary } from './summary.ts';
import { createTheme } from './theme.ts';

/** What came of one argument of a command, and what it was in words. */
export interface Told {
  about: string;
  ending?: Ending;
  problem?: Problem;
}

// A summary of more than 1 MiB is refused whole.
const mostCharacters = 64 * 1024;

/** What a job shows of these runs below its steps, as Markdown: what ended and what failed, each as the log tells it. */
export async function jobSummary(told: readonly Told[]): Promise<string> {
  const theme = await createTheme({ colors: false, unicode: true });
  const sections = told.map(({ about, ending, problem }) => {
    const ended = ending?.execution && isFinal(ending.run.target, ending.execution.status);
    const facts = [
      ended ? summary(ending, theme, { columns: Number.POSITIVE_INFINITY }) : undefined,
      problem && (ended ? problem.message : `${theme.symbols.bad} ${about}: ${problem.facts.name}\n${problem.message}`),
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
  const shown = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n(cut here)` : text;
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${clean(shown)}\n${fence}\n`;
}
