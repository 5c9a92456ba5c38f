import type { Context } from '../context.ts';
import { type CommandResult, type OutputOptions, themeOf } from '../output/output.ts';
import { withoutStatus } from '../output/status-text.ts';
import { summary } from '../output/summary.ts';
import type { Theme } from '../output/theme.ts';
import { nextStepOf } from '../problems/next-step.ts';
import { type ArgumentOutcome, exitOf, isOk } from '../problems/outcome.ts';
import { isInterruptName } from '../run/exit-codes.ts';
import { nameOf } from '../run/run.ts';
import { wordOf } from '../run/statuses.ts';
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
  const hasTable = distinct.length > 1 && !quiet && distinct.some(finishedWatchOf);
  const table = hasTable ? (await import('../output/tables.ts')).finalTable : undefined;
  return {
    exitNames: results.map(exitOf),
    documents,
    text: (theme, lines) => {
      const details = detailsOf(distinct, hasTable || quiet).map((watched) => summary(watched, theme, lines));
      if (!table) return details.join('\n');
      const text = [table(distinct, theme, lines), ...details].join('\n');
      // On a terminal, empty lines separate the report from progress and counts.
      return context.stdout.isTTY && context.stderr.isTTY ? `\n${text}\n` : text;
    },
    problems: problemsOf(distinct, context),
    note: hasTable ? countsOf(distinct, themeOf(context.stderr, context)) : undefined,
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

/** The finished runs whose details are reported: all of them, or those that didn't complete. */
const detailsOf = (results: ArgumentOutcome[], onlyFailed = false): FinishedWatch[] =>
  results.flatMap((result) => (onlyFailed && isOk(result) ? [] : (finishedWatchOf(result) ?? [])));

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
