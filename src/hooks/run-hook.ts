import { getBuiltinModule, kill } from 'node:process';
import type { Context } from '../context.ts';
import { formatDuration } from '../runs/duration.ts';
import { isInterrupted, onAbort } from '../runs/on-abort.ts';

export interface Hook {
  command: string;
  variables: Readonly<Record<string, string | null | undefined>>; // beside the environment of runctl
  input: string; // its standard input
  limitMs?: number; // after so long it is stopped
}

/** What it prints goes to stderr. Returns why it failed, as the end of a sentence. */
export function runHook(hook: Hook, { env, stderr, signal, clock }: Context): Promise<string | undefined> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve(`could not be started (${error.message})`);
    let child: ReturnType<typeof start>;
    try {
      child = start(hook, env);
    } catch (error) {
      return fail(error as Error);
    }
    child.on('error', fail);
    // Both are missing where no more files can be opened.
    const outputs = [child.stdout, child.stderr].map((output) => {
      const lines = createWholeLines(stderr.write.bind(stderr));
      output?.setEncoding('utf8').on('data', lines.push);
      return lines;
    });
    // A command may close its input without reading it.
    child.stdin?.on('error', () => {});
    child.stdin?.end(hook.input);
    const done = new AbortController();
    let stopReason: string | undefined;
    const stop = (why: string) => {
      stopReason = why;
      killGroup(child.pid, 'SIGTERM');
      void clock.sleep(graceMs, done.signal).then(() => killGroup(child.pid, 'SIGKILL'));
    };
    const forget = onAbort(signal, () =>
      stop(isInterrupted(signal) ? 'was interrupted' : 'took too long and was ended'),
    );
    if (hook.limitMs !== undefined) {
      void clock.sleep(hook.limitMs, done.signal).then(() => {
        if (!done.signal.aborted) stop(`took longer than ${formatDuration(hook.limitMs ?? 0)} and was ended`);
      });
    }
    const end = (code: number | null, killer: string | null) => {
      forget();
      done.abort();
      for (const lines of outputs) lines.end();
      resolve(stopReason ?? (code === 0 ? undefined : `ended with ${killer ?? code}`));
    };
    child.on('close', end);
    // What it has left in the background may keep its output open for ever.
    child.on('exit', (code, killer) => void clock.sleep(graceMs, done.signal).then(() => end(code, killer)));
  });
}

function start({ command, variables }: Hook, env: Context['env']) {
  const given = Object.entries({ RUNCTL_IN_HOOK: '1', ...variables }).map(([name, value]) => [name, variable(value)]);
  // Loaded here: it takes 7 ms, and few have a hook.
  const { spawn } = getBuiltinModule('node:child_process');
  return spawn(command, {
    shell: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    // In a group of its own, so that the processes it starts are stopped with it.
    detached: true,
    env: { ...env, ...Object.fromEntries(given) },
  });
}

/** Ends a process that was started as detached, with all that it has started. */
export function killGroup(pid: number | undefined, signal: string): void {
  try {
    if (pid !== undefined) kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/** Whole lines: a spinner would draw over half a line, and half an API key would not be recognized. */
function createWholeLines(write: (text: string) => void) {
  let rest = '';
  let room = mostOutput;
  const show = (text: string) => {
    if (room <= 0) return;
    room -= text.length;
    write(room > 0 ? text : `${text}(the rest of its output is left out)\n`);
  };
  return {
    push(text: string) {
      rest += text;
      const end = rest.length > longestLine ? rest.length : rest.lastIndexOf('\n') + 1;
      if (end > 0) show(rest.slice(0, end));
      rest = rest.slice(end);
    },
    end() {
      if (rest !== '') show(`${rest}\n`);
      rest = '';
    },
  };
}

const mostOutput = 1024 * 1024;
const longestLine = 64 * 1024;
const graceMs = 500;
// A variable of more than 128 KiB keeps Linux from starting a process; none can hold NUL.
const longestVariable = 32_000;
const variable = (text: string | null | undefined) => (text ?? '').replaceAll('\0', '').slice(0, longestVariable);
