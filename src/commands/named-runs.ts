import type { CommandContext } from '../context.ts';
import { type OutputOptions, wantsData } from '../output/command-result.ts';
import { printSentence } from '../output/print-message.ts';
import { usageProblem } from '../run/problem.ts';
import { quotedName } from '../run/quote.ts';
import type { Run } from '../run/run.ts';

/** The runs that a command was asked for, and whether it has to say which one it took. */
interface NamedRuns {
  texts: readonly string[];
  isDefault: boolean;
}

/**
 * The runs that were typed, or the last one if a person at a terminal typed none. A script that
 * names no run gets a usage problem, because with an unset variable it would read another run than
 * the one it means.
 */
export function namedRuns(
  texts: readonly string[],
  { exitStatus, quiet, ...output }: OutputOptions & { exitStatus?: boolean },
  { stdin, stdout }: CommandContext,
): NamedRuns {
  if (texts.length > 0) return { texts, isDefault: false };
  const isForScript = exitStatus || quiet || wantsData(output);
  if (!isForScript && stdin().isTTY && stdout.isTTY) return { texts: ['@last'], isDefault: true };
  throw usageProblem(
    'name a run, or @last',
    'a variable may be unset, and runs are not read from a pipe',
  );
}

/** Prints on stderr which run the command took. */
export const printLastRun = ({ target, executionId }: Run, context: CommandContext): void =>
  printSentence(`Using the last run: ${quotedName(target)} ${executionId}`, context);
