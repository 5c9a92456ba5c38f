import type { Context } from '../context.ts';
import { Problem } from '../core/report.ts';

/** True, or what is wrong with the answer, which is then asked for again. */
type AnswerCheck = (text: string) => true | string | Promise<true | string>;

/** Asks for a line on the terminal. Throws a `Problem` on Ctrl-C. */
export async function askLine(
  message: string,
  suggested: string | undefined,
  check: AnswerCheck,
  context: Context,
): Promise<string> {
  const { default: input } = await import('@inquirer/input');
  // What is pasted often has spaces at its ends.
  const validate = (text: string) => check(text.trim());
  return promptAnswer(input({ message, default: suggested, validate }, streamsOf(context)));
}

/** Asks for a line that the terminal doesn't show. Throws a `Problem` on Ctrl-C. */
export async function askHidden(
  message: string,
  check: AnswerCheck,
  context: Context,
): Promise<string> {
  const { default: password } = await import('@inquirer/password');
  // A check of the prompt's own would leave the wrong answer in it, where nobody sees it.
  for (;;) {
    const options = { message, toggleMask: false };
    const text = await promptAnswer(password(options, streamsOf(context)));
    const verdict = await check(text);
    if (verdict === true) return text;
    context.stderr.write(`runctl: ${verdict}\n`);
  }
}

// stdout may be a pipe.
const streamsOf = ({ terminal, signal }: Context) => ({ output: terminal, signal });

async function promptAnswer(answer: Promise<string>): Promise<string> {
  try {
    return (await answer).trim();
  } catch (error) {
    // Inquirer throws ExitPromptError on Ctrl-C, and AbortPromptError if the signal aborts.
    if (!/PromptError$/.test((error as Error).name)) throw error;
    throw new Problem('interrupted, so nothing was stored', { exit: 'interrupted' });
  }
}
