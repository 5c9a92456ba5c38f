import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Emulator } from '../../src/emulator/server.ts';

export const entry = join(import.meta.dirname, '../../bin/runctl.js');

export interface ProgramOptions {
  /** The whole environment, as cron would give it: nothing is inherited. */
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Standard input; without it, input is empty. */
  input?: string;
  /** Shell commands before it, in the same process: a limit, a umask. */
  shell?: string;
  /** Called with the process once it runs. */
  started?(child: ChildProcess): void;
  /** Called with all of stdout and stderr so far, whenever there is more. */
  told?(stdout: string, stderr: string, child: ChildProcess): void;
}

export interface Ended {
  /** The exit code, or the signal that killed it. */
  code: number | string;
  stdout: string;
  stderr: string;
  tookMs: number;
}

/** Runs the built program as a process, to its end. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return runCommand([process.execPath, entry, ...args], options);
}

/** Runs any command as a process, to its end. */
export function runCommand(
  argv: readonly string[],
  { env = {}, cwd, input, shell, started, told }: ProgramOptions = {},
): Promise<Ended> {
  const startMs = performance.now();
  const [file = '', ...rest] = shell ? ['/bin/bash', '-c', `${shell}; exec "$@"`, 'bash', ...argv] : argv;
  const child = spawn(file, rest, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
    told?.(stdout, stderr, child);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
    told?.(stdout, stderr, child);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  started?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code: code ?? signal ?? 'unknown', stdout, stderr, tookMs: performance.now() - startMs }),
    );
  });
}

/** The environment that points at an emulator, with a state and a config folder of its own in `folder`. */
export function environmentIn(folder: string, emulator: Emulator): Record<string, string> {
  return {
    RUNCTL_BASE_URL: emulator.url,
    RUNCTL_API_KEY: emulator.apiKey,
    RUNCTL_PROJECT: emulator.projectId,
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
    RUNCTL_STATE_DIR: join(folder, 'state'),
  };
}
