import type { Context } from '../context.ts';
import { Problem } from '../run/report.ts';
import { cleanLine } from '../text/clean.ts';

const limitMs = 30_000;
/** More is never an API key. */
const maxLength = 65_536;

/**
 * Has the shell run a command, and returns the first line of its output. Throws a `Problem` if the
 * command fails, or the signal ends it.
 */
export async function runApiKeyCommand(
  command: string,
  source: string,
  { env, secrets, signal }: Context,
): Promise<string> {
  // Loading it takes 7 ms, and few profiles have such a command.
  const { spawn } = await import('node:child_process');
  const child = spawn('sh', ['-c', command], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
    signal,
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] = (printed[name] + text).slice(0, maxLength);
    });
  }
  const failure = await new Promise<string | undefined>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, killer) => {
      const reason = child.killed ? 'took longer than 30s' : `exited with ${code ?? killer}`;
      // Not `close`: an agent that the command has started may hold the pipes for ever. What the
      // command itself has written is read by then, because each turn of the event loop reads.
      setImmediate(() => setImmediate(() => resolve(code === 0 ? undefined : reason)));
    });
  });
  child.stdout.destroy();
  child.stderr.destroy();
  if (signal.aborted) throw new Problem('interrupted', { exit: 'interrupted' });

  const [line = ''] = printed.stdout.split(/\r?\n/);
  if (failure === undefined) return line;
  secrets.protect(line);
  const words = cleanLine(secrets.scrub(printed.stderr.trim().split('\n').at(-1) ?? ''));
  throw new Problem(`${source} ${failure}${words === '' ? '' : `: ${words}`}`);
}
