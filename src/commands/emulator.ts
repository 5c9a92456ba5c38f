import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { exitCodeOf } from '../core/exit-codes.ts';
import { Problem } from '../core/report.ts';
import type { ScenarioName } from '../emulator/scenarios.ts';
import { emulatorApiKey, startEmulator } from '../emulator/server.ts';
import { cleanLine } from '../text/clean.ts';
import type { CommandResult } from './command.ts';

export interface EmulatorFlags {
  scenario?: ScenarioName;
  /** 0 to 65535. */
  port?: number;
  /** Above 0. */
  speed?: number;
}

/** Any other project works, too. */
const projectId = '00000000-0000-4000-8000-000000000001';

/** Runs a local copy of the service until a signal comes, or until the command has exited. */
export async function emulator(
  command: readonly string[],
  { scenario = 'happy', port, speed }: EmulatorFlags,
  context: Context,
): Promise<CommandResult> {
  const { stderr, clock, flags } = context;
  // The lines would be mixed with what the command draws on the terminal.
  const isSilent = flags.quiet || (command.length > 0 && stderr.isTTY);
  const server = await startEmulator({
    scenario,
    port,
    speed,
    nowMs: () => clock.nowMs(),
    onRequest: isSilent ? undefined : (line) => stderr.write(`${cleanLine(line)}\n`),
  }).catch(cannotStart);
  const variables = {
    RUNCTL_BASE_URL: server.url,
    RUNCTL_API_KEY: emulatorApiKey,
    RUNCTL_PROJECT: projectId,
  };
  if (command.length > 0 && !flags.quiet) {
    stderr.write(`emulator: listening on ${server.url} until the command exits\n`);
  }
  try {
    const exitCode =
      command.length > 0
        ? await runCommand(command, variables, context)
        : await waitForSignal(variables, context);
    stderr.write(`${server.summary()}\n`);
    return { reports: [], show: 'text', exitCode };
  } finally {
    await server.close();
  }
}

function cannotStart({ message }: Error): never {
  throw new Problem(`the emulator can't start: ${message}`);
}

/** Prints the variables for a shell, and returns the exit code once a signal has come. */
async function waitForSignal(
  variables: { RUNCTL_BASE_URL: string },
  { stdout, stderr, signal, flags }: Context,
): Promise<number> {
  for (const [name, value] of Object.entries(variables)) {
    stdout.write(`export ${name}=${value}\n`);
  }
  if (!flags.quiet) {
    const { port } = new URL(variables.RUNCTL_BASE_URL);
    stderr.write(
      `Listening until Ctrl-C. Paste these lines into another shell. --port ${port} keeps the address.\n`,
    );
  }
  await new Promise<void>((resolve) => onSignal(signal, resolve));
  // The terminal has written ^C.
  if (stderr.isTTY) stderr.write('\n');
  return exitCodeOf('interrupted', signal);
}

function onSignal(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/** Runs a command against the emulator, with settings and a journal of its own: its exit code. */
async function runCommand(
  [file = '', ...args]: readonly string[],
  variables: Record<string, string>,
  { env, signal }: Context,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'runctl-')).catch(cannotStart);
  const childEnv = {
    ...environmentWithoutSettings(env),
    ...variables,
    RUNCTL_STATE_DIR: join(folder, 'state'),
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
  };
  try {
    return await new Promise<number>((resolve, reject) => {
      const child = spawn(file, args, { stdio: 'inherit', env: childEnv });
      // A terminal sends Ctrl-C to the command, too.
      onSignal(signal, () => signal.reason !== 'SIGINT' && child.kill(signal.reason));
      child.on('error', ({ code, message }: NodeJS.ErrnoException) => {
        const why = code === 'ENOENT' ? 'it was not found' : message;
        const text = `the command "${file}" can't be run: ${why}`;
        reject(new Problem(text, { command: 'runctl help emulator' }));
      });
      child.on('exit', (code, killer) =>
        resolve(code ?? 128 + constants.signals[killer as NodeJS.Signals]),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without the settings of runctl, and so that no proxy stands before the emulator. */
function environmentWithoutSettings(env: Context['env']): Record<string, string | undefined> {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('RUNCTL_'));
  const exceptions = [env.no_proxy || env.NO_PROXY, '127.0.0.1', 'localhost'];
  const noProxy = exceptions.filter(Boolean).join(',');
  return { ...Object.fromEntries(others), NO_PROXY: noProxy, no_proxy: noProxy };
}
