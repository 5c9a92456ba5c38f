import type { Context } from '../context.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import { nextStepOf } from '../problems/next-step.ts';
import { type ArgumentOutcome, exitOf, isOk } from '../problems/outcome.ts';
import type { Problem } from '../problems/problem.ts';
import { count } from '../problems/quote.ts';
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

/** Up to this many are reported one by one, each run with the command that resumes the watch. */
const mostSeparate = 3;

/** The problems in the order of the arguments. A cause that many share, such as an outage, is reported once. */
function problemsOf(results: ArgumentOutcome[], { stdout }: Context): CommandResult['problems'] {
  const groups = new Map<unknown, ArgumentOutcome[]>();
  for (const result of results) {
    const cause = causeOf(result);
    const group = groups.get(cause);
    if (group) group.push(result);
    else groups.set(cause, [result]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const isInterrupted = first?.watched?.kind === 'interrupted';
    // If the reader has left, nobody would read that message.
    if (isInterrupted && stdout.closed.aborted) return [];
    const shared = group.length > (isInterrupted ? 1 : mostSeparate) ? sharedProblem(group, results.length) : undefined;
    if (shared) return [{ problem: shared }];
    return group.flatMap(({ problem, target }) =>
      problem ? { problem, about: results.length > 1 ? nameOf(target) : undefined } : [],
    );
  });
}

/** The same for results that one cause has. */
function causeOf(result: ArgumentOutcome): unknown {
  const { watched, problem } = result;
  if (!problem?.facts.ofSeveral) return result;
  return watched?.kind === 'interrupted' ? watched.kind : `${problem.facts.name} ${problem.facts.ofSeveral.message}`;
}

function sharedProblem(group: ArgumentOutcome[], all: number): Problem | undefined {
  const { problem, watched } = group.find(waitWasAsked) ?? group[0] ?? {};
  if (!problem?.facts.ofSeveral) return undefined;
  const { message, hint } = problem.facts.ofSeveral;
  const noun = watched ? 'run' : 'automation';
  const who = group.length === all ? count(all, noun) : namesOfGroup(group, noun);
  return problem.with({ message: message.replace('$', () => who), hint });
}

/** Did the signal end a wait that the service asked for? */
const waitWasAsked = ({ watched }: ArgumentOutcome) =>
  watched?.kind === 'interrupted' && watched.askedUntilMs !== undefined;

function namesOfGroup(group: ArgumentOutcome[], noun: string): string {
  const names = group.map(({ target }) => nameOf(target));
  const rest = names.length - mostSeparate;
  const shown = rest > 0 ? [...names.slice(0, mostSeparate), count(rest, `other ${noun}`)] : names;
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
