import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pty from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { afterAll, vi } from 'vitest';
import type { Automations } from '../src/emulator/scenarios.ts';
import { emulatorApiKey, startEmulator } from '../src/emulator/server.ts';
import { projectId } from './given.ts';

/** The built program, as words of a command. */
export const runctl = [process.execPath, join(import.meta.dirname, '../bin/runctl.js')];

const root = mkdtempSync(join(tmpdir(), 'runctl-test-'));
const ends: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
afterAll(() => Promise.all(ends.map((end) => end())));

export const temporaryFolder = (): string => mkdtempSync(join(root, 'folder-'));

/** An emulator of runs of an hour, with a state folder and an environment for its clients. */
export async function serve(automations: Automations = {}, speed = 1) {
  const folder = temporaryFolder();
  let passedMs = 0;
  const server = await startEmulator({
    automations: { '*': { durationMs: 3_600_000 }, ...automations },
    speed,
    nowMs: () => Date.now() + passedMs,
  });
  ends.push(server.close);
  return {
    /** Oldest first. */
    runs: server.runs,
    /** Every run that was started so far finishes. */
    finishRuns() {
      passedMs += 24 * 3_600_000;
    },
    env: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      RUNCTL_STATE_DIR: folder,
      RUNCTL_CONFIG_DIR: folder,
      RUNCTL_BASE_URL: server.url,
      RUNCTL_API_KEY: emulatorApiKey,
      RUNCTL_PROJECT: projectId,
    } as NodeJS.ProcessEnv,
    journal: join(folder, 'journal'),
  };
}

export const linesIn = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '');

/** The records of a journal, without those of which only a part was written. */
export const recordsIn = (folder: string): Record<string, string>[] =>
  linesIn(folder)
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line));

/**
 * Runs a command to its end. `exitCode` is null if a signal has ended it. `onRun` is called once
 * stderr says that a run was started.
 */
export async function run(
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  onRun?: (child: ChildProcess) => void,
) {
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  ends.push(() => child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    const hadRun = stderr.includes(' started,');
    stderr += chunk;
    if (!hadRun && stderr.includes(' started,')) onRun?.(child);
  });
  const [exitCode, signal] = await once(child, 'close');
  return { exitCode, signal, stdout, stderr };
}

const busyMachine = { timeout: 20_000, interval: 20 };

/** Runs a command on a pseudo-terminal of 80 columns. */
export function openTerminal(
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  rows = 24,
) {
  const screen = new Terminal({ cols: 80, rows, allowProposedApi: true });
  const child = pty.spawn(file, args, { cols: 80, rows, name: 'xterm-256color', env });
  let hasExited = false;
  ends.push(() => hasExited || child.kill('SIGKILL'));
  let written = '';
  child.onData((data) => {
    written += data;
    screen.write(data);
  });
  const exit = new Promise<{ exitCode: number; signal?: number }>((resolve) =>
    child.onExit((ended) => {
      hasExited = true;
      resolve(ended);
    }),
  );
  const text = async () => {
    await new Promise<void>((resolve) => screen.write('', resolve));
    const { active } = screen.buffer;
    const lines = Array.from({ length: active.length }, (_, y) =>
      active.getLine(y)?.translateToString(true),
    );
    return lines.filter(Boolean).join('\n');
  };
  return {
    exit,
    /** What is on the screen, without empty lines. */
    text,
    /** Every byte so far. */
    written: () => written,
    type: (keys: string) => child.write(keys),
    sees: (pattern: RegExp) =>
      vi.waitFor(async () => {
        const seen = await text();
        if (!pattern.test(seen)) throw new Error(`${pattern} isn't on the screen:\n${seen}`);
      }, busyMachine),
  };
}
