import type { CommandContext } from '../context.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { interruptedProblem, usageProblem } from '../run/problem.ts';
import { acceptApiKey } from '../settings/api-key.ts';
import { optionalValue } from '../settings/table.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { createSecrets } from '../system/secrets.ts';
import { createLineBuffer, runShellCommand } from '../system/shell-command.ts';

const limitMs = 30_000;
const maxBytes = 8 * 1024;

/**
 * Has the shell run `command`, whose first line of output is the API key. Throws a usage or the
 * interrupted problem.
 */
export async function runApiKeyCommand(
  command: string,
  source: string,
  context: CommandContext,
): Promise<string> {
  const { stderr, signal } = context;
  let printed = '';
  let stderrText = '';
  const messages = createLineBuffer((text) => {
    stderrText += text;
  });
  const onOutput = (text: string, from: 'stdout' | 'stderr') => {
    if (from === 'stdout') printed = (printed + text).slice(0, maxBytes);
    else messages.push(text);
  };
  const failure = await runShellCommand(
    { command, limitMs, isAtTerminal: stderr.isTTY, onOutput },
    context,
  );
  if (signal.aborted) throw interruptedProblem(exitNameOfSignal(signal));
  messages.end();
  const [text = ''] = printed.split(/\r?\n/);
  const key = acceptApiKey(text, source, context);
  const ownSecrets = createSecrets();
  for (const line of printed.split('\n')) ownSecrets.protect(line.trim());
  // The messages of the command may quote a part of its output that wasn't read and so isn't hidden
  // as the API key.
  if (stderrText !== '' && printed.length >= maxBytes)
    stderrText = '(its messages are left out: it printed more than 8 KiB)';
  for (const line of ownSecrets.scrub(stderrText).split('\n')) {
    if (line.trim() !== '') stderr.write(`API key command: ${sanitizeLine(line)}\n`);
  }
  const hint = 'its first line of output must be the API key: try it in a shell';
  if (failure)
    throw usageProblem(`the command that prints the API key (${source}) ${failure}`, hint);
  if (text.length >= maxBytes)
    throw usageProblem(`the command (${source}) doesn't print a valid API key`, hint);
  return optionalValue(key) ?? '';
}
