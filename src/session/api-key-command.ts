import { getBuiltinModule } from 'node:process';
import { acceptApiKey, refuseApiKeyIn } from '../config/api-key.ts';
import { valueIfGiven } from '../config/setting.ts';
import type { Context } from '../context.ts';
import { killGroup } from '../hooks/run-hook.ts';
import { usageProblem } from '../problems/problem.ts';
import { interruptedProblem } from '../problems/watch-problems.ts';
import { cleanLine } from '../render/sanitize.ts';
import { onAbort } from '../runs/on-abort.ts';
import { createSecrets } from '../secrets.ts';

const limitMs = 30_000;
/** What it leaves in the background may keep its pipes open for ever. */
const drainMs = 500;
const mostBytes = 64 * 1024;

/** Has the shell run `command`, whose first line of output is the API key. Throws a usage or the interrupted problem. */
export async function runApiKeyCommand(command: string, source: string, context: Context): Promise<string> {
  const { stderr, signal } = context;
  const { failure, printed, said } = await run(command, context);
  if (signal.aborted) throw interruptedProblem(signal);
  const [text = ''] = printed.split(/\r?\n/);
  const key = acceptApiKey(text, source, context);
  const ownSecrets = createSecrets();
  for (const line of printed.split('\n')) ownSecrets.protect(line.trim());
  for (const line of ownSecrets.scrub(said).split('\n')) {
    if (line.trim() !== '') stderr.write(`API key command: ${cleanLine(line)}\n`);
  }
  const hint = 'its first line of output must be the API key: try it in a shell';
  if (failure) throw usageProblem(`the command that prints the API key (${source}) ${failure}`, hint);
  if (text.length >= mostBytes) throw usageProblem(`what the command (${source}) prints is no API key`, hint);
  refuseApiKeyIn(context.typed ?? [], context);
  return valueIfGiven(key) ?? '';
}

interface CommandEnd {
  /** The end of a sentence that begins with the command. */
  failure?: string;
  printed: string;
  said: string;
}

function run(command: string, { env, stderr, signal, clock }: Context): Promise<CommandEnd> {
  // Loaded here: it takes 7 ms, and few have such a command.
  const { spawn } = getBuiltinModule('node:child_process');
  return new Promise((resolve) => {
    const isOver = new AbortController();
    // A group of its own can be killed as a whole, but cannot ask for a password at the terminal.
    const detached = !stderr.isTTY;
    const start = () => spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'], env, detached });
    let child: ReturnType<typeof start>;
    try {
      child = start();
    } catch (error) {
      return resolve({ failure: `could not be started (${(error as Error).message})`, printed: '', said: '' });
    }
    const texts = [child.stdout, child.stderr].map(keepFirst);
    const end = (failure?: string) => {
      isOver.abort();
      forget();
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      child.unref();
      const [printed = '', said = ''] = texts.map((text) => text());
      resolve({ failure, printed, said });
    };
    const stop = (failure: string) => {
      killGroup(child.pid, 'SIGKILL');
      // Windows knows no such groups.
      child.kill('SIGKILL');
      end(failure);
    };
    const forget = onAbort(signal, () => stop('was interrupted'));
    child.on('error', (error) => end(`could not be started (${error.message})`));
    const endOf = (code: number | null, killer: string | null) =>
      end(code === 0 ? undefined : `ended with ${killer ?? code}`);
    child.on('close', endOf);
    child.on('exit', (code, killer) => void clock.sleep(drainMs, isOver.signal).then(() => endOf(code, killer)));
    void clock.sleep(limitMs, isOver.signal).then(() => stop(`did not end within ${limitMs / 1000} s`));
  });
}

function keepFirst(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(0, mostBytes);
  });
  return () => text;
}
