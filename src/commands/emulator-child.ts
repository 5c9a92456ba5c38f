import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandContext } from '../context.ts';
import { scenarios } from '../emulator/scenarios.ts';
import { usageProblem } from '../run/problem.ts';
import { onAbort } from '../system/clock.ts';

/** The exit code of a shell that does not find a command. */
const notFound = 127;

/**
 * Runs a command with these settings instead of the ones in the environment, and with a journal of
 * its own, and returns its exit code. Throws a usage problem for a command that can't be started.
 */
export async function runChild(
  [file = '', ...args]: readonly string[],
  settings: Record<string, string>,
  { env, signal, stderr }: CommandContext,
): Promise<number> {
  if (file === '') throw usageProblem('the command is empty', 'give the command after `--`');
  const stateFolder = await makeStateFolder();
  const childEnv = { ...env, ...settings, ...overriding, RUNCTL_STATE_DIR: stateFolder };
  try {
    return await new Promise((resolve, reject) => {
      // Throws for a command line that is too long for the system.
      const child = spawn(file, args, { stdio: 'inherit', env: childEnv });
      // A terminal sends Ctrl-C to every process in its foreground, so it reaches the child without
      // being passed on.
      onAbort(signal, () => signal.reason !== 'SIGINT' && child.kill(signal.reason));
      child.on('error', reject);
      child.on('close', (code, killer) => resolve(code ?? 128 + numberOf(killer)));
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const shownFile = file.slice(0, 80);
    if (code !== 'ENOENT') {
      const problem = `the command ${shownFile} can't be started: ${message}`;
      throw usageProblem(problem, 'try it in a shell');
    }
    const isScenario = Object.hasOwn(scenarios, file);
    const hint = isScenario ? ` (did you mean 'runctl emulator --scenario ${file}'?)` : '';
    stderr.write(`runctl: command not found: ${shownFile}${hint}\n`);
    return notFound;
  } finally {
    await rm(stateFolder, { recursive: true, force: true });
  }
}

/** Variables with which the command would use another API key, or reach the emulator by a proxy. */
const overriding = {
  RUNCTL_API_KEY_FILE: undefined,
  RUNCTL_API_KEY_COMMAND: undefined,
  RUNCTL_PROFILE: undefined,
  NO_PROXY: '127.0.0.1,localhost',
  no_proxy: '127.0.0.1,localhost',
};

function makeStateFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'runctl-')).catch((error: Error) => {
    throw usageProblem(
      `temporary files can't be written: ${error.message}`,
      'set `TMPDIR` to a writable folder',
    );
  });
}

const numberOf = (signal: NodeJS.Signals | null) => (signal ? constants.signals[signal] : 0);
