import type { Connection } from '../connection/connection.ts';
import type { Context } from '../context.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import { nextStepOf } from '../problems/next-step.ts';
import { reportToGithub } from '../render/github-actions.ts';
import { type CommandResult, type OutputOptions, themeOf } from '../render/output.ts';
import { summary } from '../render/summary.ts';
import type { FinalRow, finalTable } from '../render/tables.ts';
import type { Theme } from '../render/theme.ts';
import type { WrapOptions } from '../render/wrap.ts';
import { nameOf } from '../runs/run.ts';
import type { FinishedWatch } from '../watching/watch-result.ts';
import { type ArgumentResult, isOk } from './outcome.ts';
import { problemsOf } from './report-problems.ts';

const replayNextStep = 'to retry with this idempotency key, add `--watch --rerun-on any`; for a new run, use a new key';

/** Reports each result of the `watched` runs as soon as it is known, because the others may take hours. */
export function createDoneReport(connection: Connection, watched: number): (result: ArgumentResult) => void {
  let pending = watched;
  return ({ run, target, problem, document }) => {
    pending = Math.max(0, pending - 1);
    const { name = 'ok', shownName = name } = problem?.facts ?? {};
    // A signal or the timeout ends the watches of all runs together.
    const failure = problem && { name: shownName, endsAll: isInterruptName(name) || name === 'timeout' };
    const about = run ? { run } : { target };
    connection.context.reporter.observe({ event: 'run_done', ...about, document: document(), pending, failure });
  };
}

const finishedWatchOf = ({ watched }: ArgumentResult): FinishedWatch | undefined =>
  watched?.kind === 'finished' ? watched : undefined;

export async function reportResults(
  results: ArgumentResult[],
  { quiet }: OutputOptions,
  connection: Connection,
): Promise<CommandResult> {
  const { context, settings } = connection;
  // A run that was named twice has a document in both places, but is reported once.
  const distinct = [...new Set(results)];
  const documents = results.map(({ document }) => document());
  const parts = distinct.map((result) => ({
    about: nameOf(result.target),
    watched: finishedWatchOf(result),
    problem: result.problem,
    replayedFailure: result.replayedFailure,
  }));
  await reportToGithub(parts, context);
  const table = distinct.length > 1 ? (await import('../render/tables.ts')).finalTable : undefined;
  return {
    exitNames: results.map(({ exitName }) => exitName),
    documents,
    text: (theme, lines) => summaries(distinct, { theme, lines, table }, quiet, context),
    problems: problemsOf(distinct, context),
    note:
      distinct.length > 1 && !quiet && results.some(finishedWatchOf)
        ? countsOf(distinct, themeOf(context.stderr, context))
        : undefined,
    next: nextOf(distinct, settings.project.value),
  };
}

function nextOf(results: ArgumentResult[], project: string | undefined): string | undefined {
  if (results.length > 1) return undefined;
  const [first] = results;
  if (first?.replayedFailure) return replayNextStep;
  const watched = first && finishedWatchOf(first);
  if (!watched || first.problem) return undefined;
  return nextStepOf(watched.run, watched.execution.status, watched.result?.error?.type, project);
}

/** The runs' summaries. Several runs also have a `table`. */
function summaries(
  results: ArgumentResult[],
  { theme, lines, table }: { theme: Theme; lines: WrapOptions; table?: typeof finalTable },
  quiet: boolean | undefined,
  { stdout, stderr }: Context,
): string {
  // On a terminal, an empty line separates summaries from progress.
  const apart = results.length > 1 && !quiet && stdout.isTTY && stderr.isTTY ? '\n' : '';
  const isTable = table !== undefined && results.some(finishedWatchOf) && !quiet;
  const shown = results.flatMap((result) => {
    const watched = finishedWatchOf(result);
    return watched && !((quiet || isTable) && isOk(result)) ? [summary(watched, theme, lines)] : [];
  });
  if (isTable) shown.unshift(table(results.map(rowOf), theme, lines));
  if (shown.length === 0) return '';
  return `${apart}${shown.join('\n')}${apart}`;
}

function rowOf(result: ArgumentResult): FinalRow {
  const { target, watched, whenNoStatus } = result;
  return { target, execution: watched?.execution, result: finishedWatchOf(result)?.result, whenNoStatus };
}

/** The number of runs with each status: `1 running · 12 completed · 2 failed`. */
function countsOf(results: ArgumentResult[], { symbols }: Theme): string {
  const counts = new Map([
    ['running', 0],
    ['completed', 0],
  ]);
  for (const result of results) {
    const { execution, whenNoStatus } = rowOf(result);
    const word = execution?.status.toLowerCase().replaceAll('_', ' ') ?? whenNoStatus;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(` ${symbols.dot} `);
}
