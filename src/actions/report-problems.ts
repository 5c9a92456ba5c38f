import type { Context } from '../context.ts';
import type { Problem } from '../problems/problem.ts';
import { count } from '../render/count.ts';
import type { CommandResult } from '../render/output.ts';
import { nameOf } from '../runs/run.ts';
import type { ArgumentResult } from './outcome.ts';

/** Up to this many are reported one by one, each run with the command that resumes the watch. */
const mostSeparate = 3;

/** The problems in the order of the arguments. A cause that many share, such as an outage, is reported once. */
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
function causeOf(result: ArgumentResult): unknown {
  const { watched, problem } = result;
  if (!problem?.facts.ofSeveral) return result;
  return watched?.kind === 'interrupted' ? watched.kind : `${problem.facts.name} ${problem.facts.ofSeveral.message}`;
}

function sharedProblem(group: ArgumentResult[], all: number): Problem | undefined {
  const { problem, watched } = group.find(waitWasAsked) ?? group[0] ?? {};
  if (!problem?.facts.ofSeveral) return undefined;
  const { message, hint } = problem.facts.ofSeveral;
  const noun = watched ? 'run' : 'automation';
  const who = group.length === all ? count(all, noun) : namesOf(group, noun);
  return problem.with({ message: message.replace('$', () => who), hint });
}

/** Did the signal end a wait that the service asked for? */
const waitWasAsked = ({ watched }: ArgumentResult) =>
  watched?.kind === 'interrupted' && watched.askedUntilMs !== undefined;

function namesOf(group: ArgumentResult[], noun: string): string {
  const names = group.map(({ target }) => nameOf(target));
  const rest = names.length - mostSeparate;
  const shown = rest > 0 ? [...names.slice(0, mostSeparate), count(rest, `other ${noun}`)] : names;
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
