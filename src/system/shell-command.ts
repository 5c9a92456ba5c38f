import type { ChildProcess } from 'node:child_process';
import { getBuiltinModule, kill } from 'node:process';
import { type Clock, isAbortedByOsSignal, onAbort } from './clock.ts';
import type { Env } from './env.ts';
import { formatDuration } from './time-text.ts';

interface ShellCommand {
  command: string;
  /** Added to runctl's environment. */
  variables?: Readonly<Record<string, string>>;
  /** The text on its standard input. By default, its standard input is /dev/null. */
  input?: string;
  /** The command is stopped after this time. */
  limitMs?: number;
  /** The command can ask for a password, but processes that it starts aren't stopped with it. */
  isAtTerminal?: boolean;
  onOutput(text: string, stream: 'stdout' | 'stderr'): void;
}

/** What running a command needs from the context. */
interface ShellContext {
  env: Env;
  /** Stops the command. */
  signal: AbortSignal;
  clock: Clock;
}

const graceMs = 500;

/**
 * Waits for the command, but not for background processes. Returns why it failed, as the end of a
 * sentence.
 */
export function runShellCommand(
  shellCommand: ShellCommand,
  { env, signal, clock }: ShellContext,
): Promise<string | undefined> {
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
    let child: ChildProcess;
    try {
      child = start(shellCommand, env);
    } catch (error) {
      return fail(error as Error);
    }
    child.on('error', fail);
    const stop = (reason: string) => {
      stopReason = reason;
      killAll(child, 'SIGTERM');
      void clock.sleep(graceMs, done.signal).then(() => killAll(child, 'SIGKILL'));
    };
    forget = onAbort(signal, () =>
      stop(isAbortedByOsSignal(signal) ? 'was interrupted' : 'took too long and was stopped'),
    );
    const { limitMs } = shellCommand;
    if (limitMs !== undefined) {
      void clock.sleep(limitMs, done.signal).then(() => {
        if (!done.signal.aborted)
          stop(`took longer than ${formatDuration(limitMs)} and was stopped`);
      });
    }
    child.on('close', (code, killer) => end(failureOf(code, killer)));
    // A background process may keep the output open forever, so the end of the command itself is
    // enough.
    child.on(
      'exit',
      (code, killer) =>
        void clock.sleep(graceMs, done.signal).then(() => end(failureOf(code, killer))),
    );
  });
}

function failureOf(code: number | null, killer: string | null): string | undefined {
  if (code === 0) return undefined;
  return killer ? `was killed by ${killer}` : `exited with ${code}`;
}

function killAll(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (child.pid !== undefined) kill(-child.pid, name);
  } catch {
    // At a terminal the command has no process group of its own, so only the command is stopped.
    child.kill(name);
  }
}

function start(
  { command, variables, input, isAtTerminal = false, onOutput }: ShellCommand,
  env: Env,
): ChildProcess {
  // Loaded here because it takes 7 ms and few users have such a command.
  const { spawn } = getBuiltinModule('node:child_process');
  const child = spawn(command, {
    shell: true,
    // Node uses a socket as a pipe, and bash thinks it is a remote shell if its standard input is a
    // socket.
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // The command gets a process group, so that the processes it starts are stopped with it.
    detached: !isAtTerminal,
    env: { ...env, ...variables },
  });
  for (const stream of ['stdout', 'stderr'] as const) {
    // Both streams are missing if no more files can be opened.
    child[stream]?.setEncoding('utf8').on('data', (text: string) => onOutput(text, stream));
  }
  // A command may close its input without reading it, which is no failure.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return child;
}

const maxLine = 64 * 1024;
const maxOutput = 1024 * 1024;

/**
 * Passes on a shell command's output in complete lines. A spinner would draw over half a line, and
 * half an API key or half a CI runner command can't be recognized. For the same reason, a line that
 * is too long is left out.
 */
export function createLineBuffer(write: (text: string) => void) {
  let line = ''; // the one that has not ended yet
  let charactersLeft = maxOutput;
  const show = (text: string) => {
    if (charactersLeft <= 0) return;
    charactersLeft -= text.length;
    write(charactersLeft > 0 ? text : `${text}(the rest of its output is left out)\n`);
  };
  const shown = (text: string) =>
    text.length > maxLine ? '(a line longer than 64 KiB is left out)\n' : `${text}\n`;
  return {
    push(text: string) {
      const [end = '', ...others] = text.split('\n');
      const lines = [line + end, ...others];
      line = (lines.pop() ?? '').slice(0, maxLine + 1);
      if (lines.length > 0) show(lines.map(shown).join(''));
    },
    end() {
      if (line !== '') show(shown(line));
      line = '';
    },
  };
}
