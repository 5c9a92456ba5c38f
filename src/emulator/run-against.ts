import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { onAbort } from '../runs/on-abort.ts';
import { withScratchFolder } from './scratch-folder.ts';
import type { Emulator } from './server.ts';

/**
 * Runs a command with the emulator in place of the service and a journal of its own, and returns its exit code. What the
 * environment says of address, key and project is set aside; a flag in the command itself is not.
 */
export function rehearse(
  [file = '', ...args]: readonly string[],
  emulator: Emulator,
  { env, signal }: Context,
): Promise<number> {
  return withScratchFolder(
    (stateFolder) =>
      new Promise((resolve, reject) => {
        const child = spawn(file, args, {
          stdio: 'inherit',
          env: {
            ...env,
            RUNCTL_BASE_URL: emulator.url,
            RUNCTL_API_KEY: emulator.apiKey,
            RUNCTL_API_KEY_FILE: undefined,
            RUNCTL_PROJECT: emulator.projectId,
            RUNCTL_PROFILE: undefined,
            RUNCTL_STATE_DIR: stateFolder,
            NO_PROXY: '127.0.0.1,localhost',
            no_proxy: '127.0.0.1,localhost',
          },
        });
        // Ctrl-C reaches the child by itself: a terminal sends it to every process before it.
        onAbort(signal, () => signal.reason !== 'SIGINT' && child.kill(signal.reason));
        child.on('error', ({ code, message }: NodeJS.ErrnoException) => {
          const why = code === 'ENOENT' ? 'does not exist' : `cannot be started: ${message}`;
          reject(usageProblem(`the command ${file} ${why}`));
        });
        child.on('close', (code, name) => resolve(code ?? 128 + (name ? constants.signals[name] : 0)));
      }),
  );
}
