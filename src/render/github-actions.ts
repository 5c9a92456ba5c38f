import type { Context, Invocation, Sink } from '../context.ts';
import type { Problem } from '../problems/problem.ts';
import type { WarningName } from '../runs/events.ts';
import { isJsonObject, type JsonObject } from '../runs/json.ts';
import { errorTextOf } from '../runs/service.ts';
import { endedWell } from '../runs/statuses.ts';
import { sanitize, sanitizeLine } from '../sanitize.ts';
import type { FinishedWatch } from '../watching/watch-result.ts';
import { summary } from './summary.ts';
import { createTheme } from './theme.ts';

/** The context, in which nothing that is printed can give the runner of GitHub Actions a command. */
export function guardFromRunner<C extends Context>(context: C): C & Pick<Invocation, 'runner'> {
  const { env, stdout, stderr } = context;
  if (env.GITHUB_ACTIONS !== 'true') return context;
  const runner = { data: stdout, commands: env.RUNCTL_CI === '0' ? undefined : stderr };
  return { ...context, runner, stdout: guarded(stdout), stderr: guarded(stderr) };
}

const guarded = (sink: Sink): Sink => ({ ...sink, write: (text) => sink.write(withoutCommands(text)) });

/** Breaks the commands of the runner: `::` and a name, and `##[` (actions/runner, ActionCommand.cs). */
export function withoutCommands(text: string): string {
  return text.replace(/:(?=:[a-z])/gi, ': ').replaceAll('##[', '## [');
}

/** The same JSON document without `##[` in its text. Its line begins with a bracket, so never with `::`. */
export const withoutCommandsInJson = (json: string): string => json.replaceAll('##[', '#\\u0023[');

/** A line that makes the runner show an error on the page of the job. Any text is escaped. */
export function errorAnnotation(title: string, message: string): string {
  return `::error title=${escapeProperty(sanitizeLine(title))}::${escapeData(withoutCommands(sanitize(message)))}\n`;
}

const escapeData = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** An annotation for each run that did not complete, and the job's summary. */
export async function reportToGithub(parts: readonly SummaryPart[], context: Invocation): Promise<void> {
  const { env, runner } = context;
  if (!runner?.commands) return;
  for (const { about, watched, problem, replayedFailure } of parts) {
    // A problem gets its annotation when it is printed.
    if (problem) continue;
    const status = watched?.execution.status ?? 'COMPLETED';
    const why = endedWell(status) ? '' : errorTextOf(watched?.result) || `the run finished ${status}`;
    const message = [why, replayedFailure].filter(Boolean).join('\n');
    if (message) runner.commands.write(errorAnnotation(watched ? `${about} ${status}` : about, message));
  }
  await append(env.GITHUB_STEP_SUMMARY, jobSummary(parts), 'job_summary_failed', 'the job summary', context);
}

/** The outputs of the step: what the document of the first argument says, and the exit code of the command. */
export async function writeStepOutputs(
  { executionId, status, runctl }: JsonObject,
  exitCode: number,
  context: Invocation,
): Promise<void> {
  if (!context.runner?.commands) return;
  const { outcome, trigger } = isJsonObject(runctl) ? runctl : {};
  const started = isJsonObject(trigger) ? trigger.started : 'no';
  const outputs = { 'execution-id': executionId, status, started, outcome, 'exit-code': String(exitCode) };
  const text = Object.entries(outputs).map(([name, value]) => stepOutput(name, value));
  await append(context.env.GITHUB_OUTPUT, text.join(''), 'step_outputs_failed', 'the outputs of the step', context);
}

async function append(
  file: string | undefined,
  text: string,
  name: WarningName,
  what: string,
  { secrets, reporter }: Invocation,
): Promise<void> {
  if (!file || text === '') return;
  const { appendFile, constants } = await import('node:fs/promises');
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants;
  // A pipe without a reader must not block the command.
  const flag = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;
  await appendFile(file, secrets.scrub(text), { flag }).catch(({ code }: NodeJS.ErrnoException) =>
    reporter.observe({ event: 'warning', name, message: `${what} couldn't be written (${code})` }),
  );
}

const stepOutput = (name: string, value: unknown) =>
  `${name}=${typeof value === 'string' ? sanitizeLine(value) : ''}\n`;

/** The result of one of the command's arguments, which `about` names. */
export interface SummaryPart {
  about: string;
  watched?: FinishedWatch;
  problem?: Problem;
  replayedFailure?: string;
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
