import { getBuiltinModule, kill } from 'node:process';
import type { Context } from '../context.ts';
import { formatDuration } from '../runs/duration.ts';
import { isInterrupted, onAbort } from '../runs/on-abort.ts';

export interface ShellCommand {
  command: string;
  variables?: Readonly<Record<string, string>>; // added to runctl's environment
  input?: string; // its standard input; /dev/null by default
  limitMs?: number; // the command is stopped after this time
  isAtTerminal?: boolean; // the command can ask for a password, but processes that it starts aren't stopped with it
  hear(text: string, stream: 'stdout' | 'stderr'): void;
}

const graceMs = 500;

/** Waits for the command, but not for background processes. Returns why it failed, as the end of a sentence. */
export function runShellCommand(asked: ShellCommand, { env, signal, clock }: Context): Promise<string | undefined> {
  return new Promise((resolve) => {
    const done = new AbortController();
    let stopReason: string | undefined;
    let forget = () => {};
    const end = (failure: string | undefined) => {
      forget();
      done.abort();
      resolve(stopReason ?? failure);
    };
    const fail = (error: Error) => end(`couldn't be started (${error.message})`);
    let child: ReturnType<typeof start>;
    try {
      child = start(asked, env);
    } catch (error) {
      return fail(error as Error);
    }
    child.on('error', fail);
    for (const stream of ['stdout', 'stderr'] as const) {
      // Both streams are missing if no more files can be opened.
      child[stream]?.setEncoding('utf8').on('data', (text: string) => asked.hear(text, stream));
    }
    // A command may close its input without reading it.
    child.stdin?.on('error', () => {});
    child.stdin?.end(asked.input);
    const killAll = (name: 'SIGTERM' | 'SIGKILL') => {
      try {
        if (child.pid !== undefined) kill(-child.pid, name);
      } catch {
        // At a terminal the command has no process group of its own.
        child.kill(name);
      }
    };
    const stop = (why: string) => {
      stopReason = why;
      killAll('SIGTERM');
      void clock.sleep(graceMs, done.signal).then(() => killAll('SIGKILL'));
    };
    forget = onAbort(signal, () => stop(isInterrupted(signal) ? 'was interrupted' : 'took too long and was stopped'));
    const { limitMs } = asked;
    if (limitMs !== undefined) {
      void clock.sleep(limitMs, done.signal).then(() => {
        if (!done.signal.aborted) stop(`took longer than ${formatDuration(limitMs)} and was stopped`);
      });
    }
    const endOf = (code: number | null, killer: string | null) =>
      end(code === 0 ? undefined : killer ? `was killed by ${killer}` : `exited with ${code}`);
    child.on('close', endOf);
    // A background process may keep the output open forever.
    child.on('exit', (code, killer) => void clock.sleep(graceMs, done.signal).then(() => endOf(code, killer)));
  });
}

function start({ command, variables, input, isAtTerminal = false }: ShellCommand, env: Context['env']) {
  // Loaded here because it takes 7 ms and few users have such a command.
  const { spawn } = getBuiltinModule('node:child_process');
  return spawn(command, {
    shell: true,
    // Node uses a socket as a pipe, and bash thinks it is a remote shell if its standard input is a socket.
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // The command gets a process group, so that the processes it starts are stopped with it.
    detached: !isAtTerminal,
    env: { ...env, ...variables },
  });
}
