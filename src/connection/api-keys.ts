import type { Invocation } from '../context.ts';
import { interruptNameOf } from '../run/exit-codes.ts';
import { interruptedProblem, Problem, usageProblem } from '../run/problem.ts';
import { acceptApiKey, refuseApiKeyIn } from '../settings/api-key.ts';
import { need, type Settings } from '../settings/resolve.ts';
import { valueIfGiven } from '../settings/table.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { createSecrets } from '../system/secrets.ts';
import { createWholeLines, runShellCommand } from '../system/shell-command.ts';

interface ApiKeys {
  /** The API key to send. An idempotency key keeps its first API key, which scopes it. Throws like `runApiKeyCommand`. */
  of(idempotencyKey?: string): Promise<string>;
  /** Reads the API key again before a 401 ends a watch, or runs its command. Is there another one? Never throws. */
  renew(): Promise<boolean>;
}

// The watches of several runs end together, so one renewal is enough for all.
const togetherMs = 15_000;

/** Throws a usage problem if no API key is set. Runs a command only when the first API key is needed. */
export function createApiKeys({ apiKey, ...settings }: Settings, context: Invocation): ApiKeys {
  const { clock, reporter } = context;
  const { command, source = '', again } = apiKey;
  const given = command === undefined ? need('apiKey', { apiKey, ...settings }) : undefined;
  const ofTriggers = new Map<string, Promise<string>>();
  let current: Promise<string> | undefined;
  let renewal: { atMs: number; isNew: Promise<boolean> } | undefined;
  const inForce = () => {
    current ??= given === undefined ? runApiKeyCommand(command ?? '', source, context) : Promise.resolve(given);
    return current;
  };
  return {
    of(idempotencyKey) {
      if (idempotencyKey === undefined) return inForce();
      const own = ofTriggers.get(idempotencyKey) ?? inForce();
      ofTriggers.set(idempotencyKey, own);
      return own;
    },
    renew() {
      const nowMs = clock.elapsedMs();
      if (!renewal || nowMs - renewal.atMs >= togetherMs)
        renewal = { atMs: nowMs, isNew: replace().catch(() => false) };
      return renewal.isNew;
    },
  };

  /** Polls wait for the new API key. If there is none, the watch ends as it would have. */
  async function replace(): Promise<boolean> {
    const old = inForce();
    current = readAgain().then(
      (key) => key ?? old,
      (error) => {
        if (!(error instanceof Problem)) throw error;
        reporter.observe({ event: 'warning', name: 'api_key_command_failed', message: error.message });
        return old;
      },
    );
    return (await current) !== (await old);
  }

  async function readAgain(): Promise<string | undefined> {
    if (command !== undefined) return runApiKeyCommand(command, source, context);
    const read = await again?.();
    return read && valueIfGiven(read);
  }
}

const limitMs = 30_000;
const mostBytes = 8 * 1024;

/** Has the shell run `command`, whose first line of output is the API key. Throws a usage or the interrupted problem. */
async function runApiKeyCommand(command: string, source: string, context: Invocation): Promise<string> {
  const { stderr, signal } = context;
  let printed = '';
  let said = '';
  const messages = createWholeLines((text) => {
    said += text;
  });
  const hear = (text: string, from: 'stdout' | 'stderr') => {
    if (from === 'stdout') printed = (printed + text).slice(0, mostBytes);
    else messages.push(text);
  };
  const failure = await runShellCommand({ command, limitMs, isAtTerminal: stderr.isTTY, hear }, context);
  if (signal.aborted) throw interruptedProblem(interruptNameOf(signal));
  messages.end();
  const [text = ''] = printed.split(/\r?\n/);
  const key = acceptApiKey(text, source, context);
  const ownSecrets = createSecrets();
  for (const line of printed.split('\n')) ownSecrets.protect(line.trim());
  // Messages may quote output of the command that wasn't read as the key.
  if (said !== '' && printed.length >= mostBytes) said = '(its messages are left out: it printed more than 8 KiB)';
  for (const line of ownSecrets.scrub(said).split('\n')) {
    if (line.trim() !== '') stderr.write(`API key command: ${sanitizeLine(line)}\n`);
  }
  const hint = 'its first line of output must be the API key: try it in a shell';
  if (failure) throw usageProblem(`the command that prints the API key (${source}) ${failure}`, hint);
  if (text.length >= mostBytes) throw usageProblem(`the command (${source}) doesn't print a valid API key`, hint);
  refuseApiKeyIn(context.typed, context);
  return valueIfGiven(key) ?? '';
}
