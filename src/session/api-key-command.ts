import { acceptApiKey, refuseApiKeyIn } from '../config/api-key.ts';
import { valueIfGiven } from '../config/setting.ts';
import type { Context } from '../context.ts';
import { runShellCommand } from '../hooks/shell-command.ts';
import { usageProblem } from '../problems/problem.ts';
import { interruptedProblem } from '../problems/watch-problems.ts';
import { sanitizeLine } from '../render/sanitize.ts';
import { createSecrets } from '../secrets.ts';

const limitMs = 30_000;
const mostBytes = 64 * 1024;

/** Has the shell run `command`, whose first line of output is the API key. Throws a usage or the interrupted problem. */
export async function runApiKeyCommand(command: string, source: string, context: Context): Promise<string> {
  const { stderr, signal } = context;
  const texts = { stdout: '', stderr: '' };
  const hear = (text: string, from: keyof typeof texts) => {
    texts[from] = (texts[from] + text).slice(0, mostBytes);
  };
  const failure = await runShellCommand({ command, limitMs, isAtTerminal: stderr.isTTY, hear }, context);
  if (signal.aborted) throw interruptedProblem(signal);
  const [text = ''] = texts.stdout.split(/\r?\n/);
  const key = acceptApiKey(text, source, context);
  const ownSecrets = createSecrets();
  for (const line of texts.stdout.split('\n')) ownSecrets.protect(line.trim());
  for (const line of ownSecrets.scrub(texts.stderr).split('\n')) {
    if (line.trim() !== '') stderr.write(`API key command: ${sanitizeLine(line)}\n`);
  }
  const hint = 'its first line of output must be the API key: try it in a shell';
  if (failure) throw usageProblem(`the command that prints the API key (${source}) ${failure}`, hint);
  if (text.length >= mostBytes) throw usageProblem(`what the command (${source}) prints is no API key`, hint);
  refuseApiKeyIn(context.typed ?? [], context);
  return valueIfGiven(key) ?? '';
}
