import type { Context } from '../context.ts';
import { nextStepOf } from '../problems/next-step.ts';
import { reportToGithub } from '../render/github-actions.ts';
import type { CommandResult } from '../render/output.ts';
import { type OutputOptions, themeOf } from '../render/output.ts';
import { nameOf } from '../runs/run.ts';
import type { Session } from '../session/session.ts';
import {
  type ArgumentResult,
  aboutOfResult,
  documentOfResult,
  endsAll,
  exitNameOfResult,
  finishedWatchOf,
  isInterruptedWatch,
  problemOf,
  targetOfResult,
} from './argument-result.ts';
import { isLeft } from './followed.ts';
import { countsOf, summaries } from './report-text.ts';

const againWithAll = 'watch them again: `runctl watch --all`';

interface ReportOptions extends OutputOptions {
  plural: boolean;
}

/** Reports each of so many results at once: the others may take hours. */
export function createDoneReport(session: Session, watched: number): (result: ArgumentResult) => void {
  let pending = watched;
  return (result) => {
    pending = Math.max(0, pending - 1);
    const problem = problemOf(result);
    const failure = problem && { message: problem.message, endsAll: endsAll(problem) };
    const document = documentOfResult(result, session);
    session.reporter.observe({ event: 'run_done', ...aboutOfResult(result), document, pending, failure });
  };
}

export async function reportResults(
  results: ArgumentResult[],
  { plural, quiet }: ReportOptions,
  session: Session,
): Promise<CommandResult> {
  const { context, hintProject } = session;
  // A run that was named twice has a document in both places, and is reported once.
  const distinct = [...new Set(results)];
  const documents = results.map((result) => documentOfResult(result, session));
  const parts = distinct.map((result) => ({
    about: nameOf(targetOfResult(result)),
    watched: finishedWatchOf(result),
    problem: problemOf(result),
  }));
  await reportToGithub(parts, documents, context);
  const table = distinct.length > 1 ? (await import('../render/final-table.ts')).finalTable : undefined;
  return {
    exitNames: results.map(exitNameOfResult),
    documents,
    plural,
    text: (theme, lines) => summaries(distinct, { quiet, theme, lines, table }, context),
    problems: problemsOf(distinct, plural, context),
    note:
      distinct.length > 1 && !quiet && results.some(finishedWatchOf)
        ? countsOf(distinct, themeOf(context.stderr, context))
        : undefined,
    next: nextOf(distinct, hintProject),
  };
}

/** One press of Ctrl-C is reported once; not at all where nobody reads any more, as whoever closed stdout knows it. */
function problemsOf(results: ArgumentResult[], plural: boolean, { stdout }: Context): CommandResult['problems'] {
  const interrupted = results.filter(isInterruptedWatch);
  const isUnread = stdout.closed.aborted;
  const isMass = interrupted.length > 1;
  const message = `stopped watching ${interrupted.length} runs, which are still running`;
  const mass = interrupted
    .slice(0, isMass && !isUnread ? 1 : 0)
    .flatMap((result) => problemOf(result)?.with({ message, hint: againWithAll }) ?? []);
  const others = results.filter((result) => !(isInterruptedWatch(result) && (isMass || isUnread)));
  return [
    ...mass.map((problem) => ({ problem })),
    ...others.flatMap((result) => {
      const problem = problemOf(result);
      return problem ? [{ problem, about: plural ? nameOf(targetOfResult(result)) : undefined }] : [];
    }),
  ];
}

function nextOf(results: ArgumentResult[], hintProject: string | undefined): string | undefined {
  if (results.length > 1) {
    const left = results.filter((result) => result.kind === 'followed' && isLeft(result.watched)).length;
    if (left === 0) return undefined;
    return `${left === 1 ? '1 run is' : `${left} runs are`} still running; ${againWithAll}`;
  }
  const [first] = results;
  const watched = first && finishedWatchOf(first);
  if (!watched || problemOf(first)) return undefined;
  return nextStepOf(watched.run, watched.execution.status, watched.result?.error?.type, hintProject);
}
