import { spawn } from 'node:child_process';
import type { Context } from '../context.ts';
import { stringifyJson } from '../json-text.ts';
import { documentOf } from '../render/document.ts';
import type { Ending } from '../runs/follow.ts';
import { onAbort } from '../runs/on-abort.ts';
import { nameOf } from '../runs/run.ts';
import { exitCodeOfEnding } from './tell-runs.ts';

/**
 * `--on-final`: the shell runs `command` with the document on its standard input. What it prints goes to stderr, and its
 * failure is reported, never more (contract §6).
 */
export function runOnFinal(command: string, ending: Ending, { env, stderr, signal }: Context): Promise<void> {
  const { run, execution } = ending;
  return new Promise((resolve) => {
    const failed = (how: string) => {
      stderr.write(`runctl: the --on-final command ${how}; the exit code stays that of the run\n`);
      resolve();
    };
    if (isInterrupted(signal)) return failed('was not run: interrupted');
    const child = spawn(command, {
      shell: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...env,
        RUNCTL_STATUS: execution?.status ?? '',
        RUNCTL_EXECUTION_ID: run.executionId,
        RUNCTL_AUTOMATION: nameOf(run.target),
        RUNCTL_EXIT_CODE: String(exitCodeOfEnding(ending)),
      },
    });
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (text) => stderr.write(text));
    // A command that does not read its input closes it early; that is no failure.
    child.stdin.on('error', () => {});
    child.stdin.end(`${stringifyJson(documentOf(ending))}\n`);
    const forget = onAbort(signal, () => {
      if (!isInterrupted(signal)) return;
      child.kill();
      failed('was interrupted');
    });
    child.on('error', (error) => failed(`could not be started (${error.message})`));
    child.on('close', (code, killer) => {
      forget();
      if (code === 0) resolve();
      else if (!isInterrupted(signal)) failed(`ended with ${killer ?? code}`);
    });
  });
}

/** By the user; `--fail-fast`, which leaves the other runs, ends no command. */
const isInterrupted = ({ aborted, reason }: AbortSignal) => aborted && String(reason).startsWith('SIG');
