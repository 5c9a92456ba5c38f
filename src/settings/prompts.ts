import type { Context } from '../context.ts';
import { Problem } from '../run/report.ts';

/** True, or what is wrong with the answer, which can then be corrected. */
type Check = (text: string) => boolean | string | Promise<boolean | string>;

/** Asks for a line on the terminal. Throws a `Problem` on Ctrl-C. */
export async function askLine(
  message: string,
  suggested: string | undefined,
  check: Check,
  context: Context,
): Promise<string> {
  const { default: input } = await import('@inquirer/input');
  const options = { message, default: suggested, validate: trimmed(check) };
  return answerOf(input(options, streamsOf(context)));
}

/** Asks for a line that the terminal doesn't show. Throws a `Problem` on Ctrl-C. */
export async function askHidden(message: string, check: Check, context: Context): Promise<string> {
  const { default: password } = await import('@inquirer/password');
  const options = { message, toggleMask: false, validate: trimmed(check) };
  return answerOf(password(options, streamsOf(context)));
}

/** What is pasted often has spaces at its ends. */
const trimmed =
  (check: Check): Check =>
  (text) =>
    check(text.trim());

// stdout may be a pipe.
const streamsOf = ({ terminal, signal }: Context) => ({ output: terminal, signal });

async function answerOf(answer: Promise<string>): Promise<string> {
  try {
    return (await answer).trim();
  } catch (error) {
    // Inquirer throws ExitPromptError on Ctrl-C, and AbortPromptError if the signal aborts.
    if (!/PromptError$/.test((error as Error).name)) throw error;
    throw new Problem('interrupted, so nothing was stored', { exit: 'interrupted' });
  }
}
