import { spawn } from 'node:child_process';
import type { Context } from '../context.ts';
import { stringifyJson } from '../json-text.ts';
import { exitCodeOf } from '../problems/exit-codes.ts';
import { exitNameOfWatch } from '../problems/watch-problems.ts';
import type { JsonObject } from '../runs/json.ts';
import { onAbort } from '../runs/on-abort.ts';
import { nameOf } from '../runs/run.ts';
import type { Followed } from './followed.ts';

/** A run that was followed, and what its document says. */
export type Documented = Followed & { document: JsonObject };

/**
 * `--on-final`: the shell runs `command` with the document on its standard input. What it prints goes to stderr. Its
 * failure is reported and does not change the exit code.
 */
export async function runOnFinal(command: string, followed: Documented, context: Context): Promise<void> {
  const { signal, reporter } = context;
  const how = isInterrupted(signal) ? 'was not run: interrupted' : await failureOf(command, followed, context);
  if (!how) return;
  const message = `the --on-final command ${how}; the exit code stays that of the run`;
  reporter.observe({ event: 'warning', name: 'hook_failed', message, run: followed.watched.run });
}

/** Runs the command to its end; undefined where all went well. */
function failureOf(
  command: string,
  followed: Documented,
  { env, stderr, signal, clock }: Context,
): Promise<string | undefined> {
  const { watched, problem, document } = followed;
  const { run, execution } = watched;
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve(`could not be started (${error.message})`);
    const start = () =>
      spawn(command, {
        shell: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: {
          ...env,
          RUNCTL_STATUS: variable(execution?.status),
          RUNCTL_EXECUTION_ID: run.executionId,
          RUNCTL_AUTOMATION: variable(nameOf(run.target)),
          RUNCTL_EXIT_CODE: String(exitCodeOf(exitNameOfWatch(watched, problem))),
        },
      });
    let child: ReturnType<typeof start>;
    try {
      child = start();
    } catch (error) {
      return fail(error as Error);
    }
    child.on('error', fail);
    // Where no more files can be opened it has none of these.
    const outputs = [child.stdout, child.stderr].map((output) => {
      const lines = createWholeLines(stderr.write.bind(stderr));
      output?.setEncoding('utf8').on('data', lines.push);
      return lines;
    });
    // A command that does not read its input closes it early; that is no failure.
    child.stdin?.on('error', () => {});
    child.stdin?.end(`${stringifyJson(document)}\n`);
    const forget = onAbort(signal, () => {
      if (!isInterrupted(signal)) return;
      child.kill();
      resolve('was interrupted');
    });
    const end = (code: number | null, killer: string | null) => {
      forget();
      for (const lines of outputs) lines.end();
      resolve(code === 0 || isInterrupted(signal) ? undefined : `ended with ${killer ?? code}`);
    };
    child.on('close', end);
    // What it has left in the background may keep its output open for ever.
    child.on('exit', (code, killer) => void clock.sleep(graceMs).then(() => end(code, killer)));
  });
}

/** Writes whole lines only: a spinner would draw over half a line, and half an API key would not be recognized. */
function createWholeLines(write: (text: string) => void) {
  let rest = '';
  return {
    push(text: string) {
      rest += text;
      const end = rest.length > longestLine ? rest.length : rest.lastIndexOf('\n') + 1;
      if (end > 0) write(rest.slice(0, end));
      rest = rest.slice(end);
    },
    end() {
      if (rest !== '') write(`${rest}\n`);
      rest = '';
    },
  };
}

const longestLine = 64 * 1024;
const graceMs = 500;
// A variable of more than 128 KiB keeps Linux from starting a process; none can hold NUL.
const longestVariable = 32_000;
const variable = (text = '') => text.replaceAll('\0', '').slice(0, longestVariable);

/** By the user; `--fail-fast`, which leaves the other runs, ends no command. */
const isInterrupted = ({ aborted, reason }: AbortSignal) => aborted && String(reason).startsWith('SIG');
