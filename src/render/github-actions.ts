import type { Context } from '../context.ts';
import type { Problem } from '../problems/problem.ts';
import { isCompleted } from '../runs/run.ts';
import type { FinishedWatch } from '../watching/watch-result.ts';
import { clean, cleanLine } from './sanitize.ts';
import { summary } from './summary.ts';
import { createTheme } from './theme.ts';

/** Is this a step of a GitHub Actions job? */
export const isGithubActions = ({ env }: Pick<Context, 'env'>) => env.GITHUB_ACTIONS === 'true';

/** A line that makes the runner show an error on the page of the job. Any text is safe in it. */
export function errorAnnotation(title: string, message: string): string {
  return `::error title=${escapeProperty(cleanLine(title))}::${escapeData(clean(message))}\n`;
}

// What the runner undoes when it reads a command: actions/runner, src/Runner.Common/ActionCommand.cs.
const escapeData = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/**
 * The same text with nothing in it that the runner would obey. It reads a command where a line begins with `::`, or
 * anywhere with `##[`: a run's output must not mask a word or set an output of the job.
 */
export function withoutCommands(text: string): string {
  return text.replace(/^(\s*):(?=:)/gm, '$1: ').replaceAll('##[', '## [');
}

/** In a step of GitHub Actions: an annotation for each run that did not complete, and a part of the job's summary. */
export async function reportToGithub(
  parts: readonly SummaryPart[],
  { env, stderr, secrets, reporter }: Context,
): Promise<void> {
  for (const { about, watched, problem } of parts) {
    // A problem has its annotation where it is printed.
    if (problem || !watched || isCompleted(watched.execution.status)) continue;
    const { status } = watched.execution;
    const { type, message } = watched.result?.error ?? {};
    const why = [type, message].filter(Boolean).join(': ');
    stderr.write(errorAnnotation(`${about} ${status}`, why || `the run ended ${status}`));
  }
  const file = env.GITHUB_STEP_SUMMARY;
  const summary = secrets.scrub(jobSummary(parts));
  if (!file || summary === '') return;
  const { appendFile } = await import('node:fs/promises');
  await appendFile(file, summary).catch((error: Error) =>
    reporter.observe({
      event: 'warning',
      name: 'job_summary_failed',
      message: `the job summary could not be written: ${error.message}`,
    }),
  );
}

/** What came of one argument of a command. */
export interface SummaryPart {
  /** What the argument names. */
  about: string;
  /** Where its run was followed until it had finished. */
  watched?: FinishedWatch;
  problem?: Problem;
}

// A summary of more than 1 MiB is refused whole.
const mostCharacters = 64 * 1024;

/** What a job shows of these runs below its steps, as Markdown: what finished and what failed, each as in the log. */
export function jobSummary(parts: readonly SummaryPart[]): string {
  const theme = createTheme({ colors: false, unicode: true });
  const sections = parts.map(({ about, watched, problem }) => {
    const facts = [
      watched ? summary(watched, theme, { columns: Number.POSITIVE_INFINITY }) : undefined,
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
  const shown = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n(cut here)` : text;
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${clean(shown)}\n${fence}\n`;
}
