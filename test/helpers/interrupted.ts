import type { ChildProcess } from 'node:child_process';
import { vi } from 'vitest';
import type { FaultyEmulator } from '../fault-kit/start.ts';
import { atOnceAfter } from './real-time.ts';
import { entry, runCommand } from './run-process.ts';

/** For a busy machine to start the program. */
export const longest = { timeout: 25_000, interval: 10 };

/** Sends a signal to the program as soon as it is ready for that. */
export const interrupted = (args: string[], when: Interruption) =>
  interruptedCommand([process.execPath, entry, ...args], when);

/** The same for any command. `lastedMs` is what it ran on after the signal, `atOnceMs` the most that counts as at once. */
export async function interruptedCommand(
  argv: string[],
  { env, signal = 'SIGINT', isReady, words, ...asked }: Interruption,
) {
  let child: ChildProcess | undefined;
  let stderr = '';
  const running = runCommand(argv, {
    env,
    onStart: (process) => {
      child = process;
    },
    onOutput: (_stdout, text) => {
      stderr = text;
    },
  });
  const { emulator, requests = 0 } = asked;
  const before = emulator?.requests.length ?? 0;
  const isAsked = () => (emulator?.requests.length ?? 0) >= before + requests;
  const isTold = () => !words || words.test(stderr);
  const startMs = performance.now();
  const hasStarted = () => stderr !== '' || (emulator ? emulator.requests.length > before : isReady?.(child?.pid));
  await vi.waitUntil(hasStarted, longest);
  const atOnceMs = atOnceAfter(performance.now() - startMs);
  await vi.waitUntil(() => isAsked() && isTold() && isReady?.(child?.pid) !== false, longest);
  // The request has arrived; now it is waited for.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const killedMs = performance.now();
  child?.kill(signal);
  const ended = await running;
  return { ...ended, lastedMs: performance.now() - killedMs, atOnceMs };
}

export interface Interruption {
  env: Record<string, string>;
  signal?: NodeJS.Signals;
  /** Ready once these stand on stderr, */
  words?: RegExp;
  /** and this has been asked so many times, */
  emulator?: FaultyEmulator;
  requests?: number;
  /** and this is true. */
  isReady?(pid: number | undefined): boolean;
}
