import { version } from '../../package.json';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { printDocuments, printProblem } from '../render/output.ts';
import { ownWordsOf } from './own-words.ts';

/** The one place where an error becomes words, data and an exit code. Anything but a `Problem` is a bug of ours. */
export async function failWith(error: unknown, argv: readonly string[], context: Context): Promise<number> {
  const problem = error instanceof Problem ? error : bugOf(error);
  // The command line may be what is wrong, so it is asked for the one flag that matters here.
  const words = ownWordsOf(argv);
  const document = { problem: problem.toJSON() };
  if (words.includes('--events')) {
    const { createEventReporter } = await import('../render/events.ts');
    createEventReporter(context, 1).last?.(document, true);
  } else if (words.includes('--json')) printDocuments([document], { json: true }, context);
  await printProblem(problem, context);
  return problem.exitCode;
}

function bugOf(error: unknown): Problem {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const place = stack?.split('\n')[1]?.trim() ?? 'somewhere';
  return new Problem({
    name: 'bug',
    message: `a fault of runctl ${version} itself: ${message} (${place})`,
    hint: 'please report it; a trigger that it cut short is settled by `runctl recover`',
    started: 'unknown',
    cause: error,
  });
}
