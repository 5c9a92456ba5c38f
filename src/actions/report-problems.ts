import type { Context } from '../context.ts';
import { sharedEnding } from '../problems/shared-ending.ts';
import { count } from '../render/count.ts';
import type { CommandResult } from '../render/output.ts';
import { nameOf } from '../runs/run.ts';
import { type ArgumentResult, wasLeftByFailFast } from './argument-result.ts';

/** So many runs are each reported with the command that watches it again. */
const mostSeparate = 3;

/** The problems in the order of the runs. What ended the watches of many runs, such as a lost service, is said once. */
export function problemsOf(results: ArgumentResult[], { stdout }: Context): CommandResult['problems'] {
  const groups = new Map<unknown, ArgumentResult[]>();
  for (const result of results) {
    const cause = causeOf(result);
    const group = groups.get(cause);
    if (group) group.push(result);
    else groups.set(cause, [result]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const isInterrupted = first?.watched?.kind === 'interrupted';
    // Nobody reads that a reader has left.
    if (isInterrupted && stdout.closed.aborted) return [];
    const shared = group.length > (isInterrupted ? 1 : mostSeparate) ? sharedProblem(group, results.length) : undefined;
    if (shared) return [{ problem: shared }];
    return group.flatMap(({ problem, target }) =>
      problem ? { problem, about: results.length > 1 ? nameOf(target) : undefined } : [],
    );
  });
}

/** The same for runs whose watches one cause has ended. */
function causeOf(result: ArgumentResult): unknown {
  const { watched } = result;
  if (!watched || wasLeftByFailFast(watched)) return result;
  return watched.kind === 'interrupted' ? watched.kind : (sharedEnding(watched, '')?.message ?? result);
}

function sharedProblem(group: ArgumentResult[], all: number) {
  const { problem, watched } = group.find(waitWasAsked) ?? group[0] ?? {};
  const ending = watched && sharedEnding(watched, group.length === all ? `${all} runs` : namesOf(group));
  return ending && problem?.with(ending);
}

/** Did the signal end a wait that the service had asked for? */
const waitWasAsked = ({ watched }: ArgumentResult) =>
  watched?.kind === 'interrupted' && watched.askedUntilMs !== undefined;

function namesOf(group: ArgumentResult[]): string {
  const names = group.map(({ target }) => nameOf(target));
  const rest = names.length - mostSeparate;
  const shown = rest > 0 ? [...names.slice(0, mostSeparate), count(rest, 'other run')] : names;
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
