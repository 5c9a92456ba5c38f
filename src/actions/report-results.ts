import type { Context } from '../context.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import { nextStepOf } from '../problems/next-step.ts';
import { type ArgumentOutcome, exitOf, isOk } from '../problems/outcome.ts';
import { type CommandResult, type OutputOptions, themeOf } from '../render/output.ts';
import { withoutStatus } from '../render/status-text.ts';
import { summary } from '../render/summary.ts';
import type { finalTable } from '../render/tables.ts';
import type { Theme } from '../render/theme.ts';
import type { WrapOptions } from '../render/wrap.ts';
import { nameOf } from '../runs/run.ts';
import { wordOf } from '../runs/statuses.ts';
import type { FinishedWatch } from '../watching/watch-result.ts';
import { documentIn, type Following } from './following.ts';

const replayNextStep = 'for a new run, use a new idempotency key';

/** Reports each result of the `watched` runs as soon as it is known, because the others may take hours. */
export function createDoneReport({ context }: Following, watched: number): (outcome: ArgumentOutcome) => void {
  let pending = watched;
  return (outcome) => {
    const { run, target, problem } = outcome;
    pending = Math.max(0, pending - 1);
    const { name = 'ok', shownName = name } = problem?.facts ?? {};
    // A signal or the timeout ends the watches of all runs together.
    const failure = problem && { name: shownName, endsAll: isInterruptName(name) || name === 'timeout' };
    const about = run ? { run } : { target };
    context.reporter.observe({ event: 'run_done', ...about, pending, failure });
  };
}

const finishedWatchOf = ({ watched }: ArgumentOutcome): FinishedWatch | undefined =>
  watched?.kind === 'finished' ? watched : undefined;

export async function reportResults(
  results: ArgumentOutcome[],
  { quiet }: OutputOptions,
  following: Following,
): Promise<CommandResult> {
  const { context, settings } = following;
  // A run that was named twice has a document in both places, but is reported once.
  const distinct = [...new Set(results)];
  const documents = results.map((outcome) => documentIn(following, outcome));
  const table = distinct.length > 1 ? (await import('../render/tables.ts')).finalTable : undefined;
  return {
    exitNames: results.map(exitOf),
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

function nextOf(results: ArgumentOutcome[], project: string | undefined): string | undefined {
  if (results.length > 1) return undefined;
  const [first] = results;
  if (first?.replayedFailure) return replayNextStep;
  const watched = first && finishedWatchOf(first);
  if (!watched || first.problem) return undefined;
  return nextStepOf(watched.run, watched.execution, watched.result?.error?.type, project);
}

/** The runs' summaries. Several runs also have a `table`. */
function summaries(
  results: ArgumentOutcome[],
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
  if (isTable) shown.unshift(table(results, theme, lines));
  if (shown.length === 0) return '';
  return `${apart}${shown.join('\n')}${apart}`;
}

/** The number of runs with each status: `1 running · 12 completed · 2 failed`. */
function countsOf(results: ArgumentOutcome[], { symbols }: Theme): string {
  // Our own words are in lower case, so that a status is never added to one of them.
  const counts = new Map([
    ['RUNNING', 0],
    ['COMPLETED', 0],
  ]);
  for (const result of results) {
    const outcome = result.execution?.status ?? withoutStatus(result);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${wordOf(outcome)}`)
    .join(` ${symbols.dot} `);
}

/** The problems in the order of the arguments. */
function problemsOf(results: ArgumentOutcome[], { stdout }: Context): CommandResult['problems'] {
  return results.flatMap(({ problem, target, watched }) => {
    // If the reader has left, nobody would read that message.
    const isUnread = watched?.kind === 'interrupted' && stdout.closed.aborted;
    if (!problem || isUnread) return [];
    return { problem, about: results.length > 1 ? nameOf(target) : undefined };
  });
}
