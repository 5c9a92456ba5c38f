import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { type FaultyEmulator, startFaultyEmulator } from '../fault-kit/start.ts';
import { quick } from '../helpers/emulator.ts';
import { installProcess, installProgram } from '../helpers/install-program.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { type ProcessEnded, type ProcessOptions, runCommand } from '../helpers/run-process.ts';

/** A machine on which runctl is installed and nothing else is set: no HOME, no locale, no terminal. */
export interface Machine {
  emulator: FaultyEmulator;
  /** Where commands run; empty at first. */
  folder: string;
  /** Holds the emulator's API key. */
  keyFile: string;
  /** Nothing but a PATH and folders for runctl. */
  env: Record<string, string>;
  /** Address, key and project of the emulator. */
  settings: Record<string, string>;
  /** Puts a command on the PATH, before the system's. */
  install(name: string, script: string): void;
  /** Has `date` say a local time in Helsinki, where clocks change on 28 March 2027 and on 25 October 2026. */
  setDate(time: string): void;
  /** Runs a command with `env` and what is given beside it. */
  run(argv: readonly string[], options?: ProcessOptions): Promise<ProcessEnded>;
  /** Lets the most pass on the emulator's clock that a run may take. */
  endRuns(): void;
  dispose(): Promise<void>;
}

/** Not a wrapper that looks for a version first, which takes longer than most scripts, where the system has its own. */
export const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

interface Installation {
  isProcess?: boolean; // the built program, where a process is the point, which a signal ends
}

export async function createBareMachine(scenario: Scenario, { isProcess }: Installation = {}): Promise<Machine> {
  const clock = createLeapingClock();
  const emulator = await startFaultyEmulator(scenario, { nowMs: clock.nowAtServiceMs });
  const root = mkdtempSync(join(tmpdir(), 'runctl-recipe-'));
  const at = (name: string) => join(root, name);
  for (const name of ['bin', 'work']) mkdirSync(at(name));
  const close = isProcess
    ? installProcess(at('bin'))
    : await installProgram(at('bin'), { baseUrl: emulator.url, clock });
  symlinkSync(process.execPath, at('bin/node'));
  const install = (name: string, script: string) =>
    writeFileSync(join(at('bin'), name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(at('api-key'), `${emulator.apiKey}\n`, { mode: 0o600 });
  const env = {
    PATH: `${at('bin')}:/usr/bin:/bin`,
    RUNCTL_STATE_DIR: at('state'),
    RUNCTL_CONFIG_DIR: at('config'),
  };
  return {
    emulator,
    folder: at('work'),
    keyFile: at('api-key'),
    env,
    settings: {
      RUNCTL_BASE_URL: emulator.url,
      RUNCTL_API_KEY: emulator.apiKey,
      RUNCTL_PROJECT: emulator.projectId,
    },
    install,
    setDate: (time) => install('date', `TZ=Europe/Helsinki exec /bin/date --date='TZ="Europe/Helsinki" ${time}' "$@"`),
    run: (argv, options = {}) => runCommand(argv, { cwd: at('work'), ...options, env: { ...env, ...options.env } }),
    endRuns: () => clock.leap(3 * 3_600_000),
    async dispose() {
      close();
      await emulator.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A machine that lives as long as the test. */
export async function withBareMachine(scenario: Scenario = quick, installation?: Installation): Promise<Machine> {
  const machine = await createBareMachine(scenario, installation);
  onTestFinished(machine.dispose);
  return machine;
}
