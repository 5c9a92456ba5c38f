import type { Context } from '../context.ts';
import { clean, cleanLine } from './sanitize.ts';

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
