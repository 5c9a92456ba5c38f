import type { Context } from '../context.ts';
import { Problem } from '../core/report.ts';
import { cleanLine } from '../text/clean.ts';

/**
 * Has the shell run a command for 30 s at most, and returns the first line of its output. Throws a
 * `Problem` if the command fails, or the signal ends it.
 */
export async function runApiKeyCommand(
  command: string,
  source: string,
  { env, secrets, signal }: Context,
): Promise<string> {
  // Loading it takes 7 ms, and few profiles have such a command.
  const { execFile } = await import('node:child_process');
  const options = { env: { ...env }, timeout: 30_000, killSignal: 'SIGKILL', signal } as const;
  return new Promise((resolve, reject) => {
    const child = execFile('sh', ['-c', command], options, (error, stdout, stderr) => {
      const [line = ''] = stdout.split(/\r?\n/);
      if (!error) return resolve(line);
      const failure = error.killed
        ? 'took longer than 30s'
        : `exited with ${error.code ?? error.signal}`;
      secrets.protect(line);
      const words = cleanLine(secrets.scrub(stderr.trim().split('\n').at(-1) ?? ''));
      reject(new Problem(`${source} ${failure}${words && `: ${words}`}`));
    });
    child.stdin?.end();
    // An agent that the command has started may hold the pipes for ever. What the command itself
    // has written is read by then, because each turn of the event loop reads.
    const closePipes = () => [child.stdout, child.stderr].map((pipe) => pipe?.destroy());
    child.once('exit', () => setImmediate(() => setImmediate(closePipes)));
  });
}
