import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkDocuments } from './check-documents.ts';

export const entry = join(import.meta.dirname, '../../bin/runctl.js');

export interface ProcessOptions {
  /** The whole environment, as cron would give it: nothing is inherited. */
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Standard input; without it, input is empty. */
  input?: string;
  /** Shell commands before it, in the same process: a limit, a umask. */
  shell?: string;
  /** Called with the process once it runs. */
  onStart?(child: ChildProcess): void;
  /** Called with all of stdout and stderr so far, whenever there is more. */
  onOutput?(stdout: string, stderr: string, child: ChildProcess): void;
}

export interface ProcessEnded {
  /** The exit code, or the signal that killed it. */
  code: number | string;
  stdout: string;
  stderr: string;
  tookMs: number;
}

/** Runs the built program as a process, to its end. */
export function runProcess(args: readonly string[], options: ProcessOptions = {}): Promise<ProcessEnded> {
  return runCommand([process.execPath, entry, ...args], options);
}

/** Runs any command as a process, to its end. */
export function runCommand(
  argv: readonly string[],
  { env = {}, cwd, input, shell, onStart, onOutput }: ProcessOptions = {},
): Promise<ProcessEnded> {
  const startMs = performance.now();
  const [file = '', ...rest] = shell ? ['/bin/bash', '--norc', '-c', `${shell}; exec "$@"`, 'bash', ...argv] : argv;
  const child = spawn(file, rest, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
    onOutput?.(stdout, stderr, child);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
    onOutput?.(stdout, stderr, child);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  onStart?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const tookMs = performance.now() - startMs;
      try {
        if (argv.includes(entry)) checkDocuments(argv, stdout);
        resolve({ code: code ?? signal ?? 'unknown', stdout, stderr, tookMs });
      } catch (error) {
        reject(error);
      }
    });
  });
}
