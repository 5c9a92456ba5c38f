import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { onAbort } from '../runs/clock.ts';
import { findBuiltInScenario } from './built-in-scenarios.ts';
import type { Emulator } from './server.ts';

/** The exit code of a shell that does not find a command. */
const notFound = 127;

export const settingsFor = ({ url, apiKey, projectId }: Emulator) => ({
  RUNCTL_BASE_URL: url,
  RUNCTL_API_KEY: apiKey,
  RUNCTL_PROJECT: projectId,
});

/**
 * Runs a command with the emulator in place of the service, and returns its exit code. The settings of the environment
 * are set aside, but no flag of the command. Throws a usage problem for a command that can't be started.
 */
export async function rehearse(
  [file = '', ...args]: readonly string[],
  emulator: Emulator,
  { env, signal, stderr }: Context,
): Promise<number> {
  if (file === '') throw usageProblem('the command is empty', 'give the command after `--`');
  const hidden = { RUNCTL_API_KEY_FILE: undefined, RUNCTL_API_KEY_COMMAND: undefined, RUNCTL_PROFILE: undefined };
  const settings = { ...settingsFor(emulator), ...hidden };
  const direct = { NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' };
  return withScratchFolder((stateFolder) =>
    new Promise<number>((resolve, reject) => {
      const ownEnv = { ...env, ...settings, ...direct, RUNCTL_STATE_DIR: stateFolder };
      // Throws for a command line that is too long for the system.
      const child = spawn(file, args, { stdio: 'inherit', env: ownEnv });
      // Ctrl-C reaches the child by itself: a terminal sends it to every process before it.
      onAbort(signal, () => signal.reason !== 'SIGINT' && child.kill(signal.reason));
      child.on('error', reject);
      child.on('close', (code, name) => resolve(code ?? 128 + (name ? constants.signals[name] : 0)));
    }).catch(({ code, message }: NodeJS.ErrnoException) => {
      const name = `the command ${file.slice(0, 80)}`;
      if (code !== 'ENOENT') throw usageProblem(`${name} can't be started: ${message}`, 'try it in a shell');
      const meant = findBuiltInScenario(file) ? `; did you mean \`runctl emulator --scenario ${file}\`?` : '';
      stderr.write(`runctl: ${name} does not exist${meant}\n`);
      return notFound;
    }),
  );
}

/** Creates a temporary folder, and removes it when `act` has ended. Throws a usage problem if it cannot. */
export async function withScratchFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'runctl-')).catch((error: Error) => {
    throw usageProblem(`temporary files can't be written: ${error.message}`, 'set `TMPDIR` to a writable folder');
  });
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
