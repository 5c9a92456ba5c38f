// What the two scripts about hosts that are lost have in common: the service, the fifty tasks, what must come of them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { forkEmulator } from './fork-emulator.mjs';

export const tasks = Array.from({ length: 50 }, (_, n) => n + 1);

const outcomes = { 7: ['FAILED', 1], 8: ['TIMED_OUT', 3], 27: ['CANCELLED', 4] };

/** The emulator in a process of its own, which loses every seventh answer to a trigger and sends one away for hours. */
export async function startService(folder) {
  const automations = Object.fromEntries(
    Object.entries(outcomes).map(([task, [outcome]]) => [`job-${task}`, { duration: '6s', outcome }]),
  );
  const scenario = {
    automations: { '*': { duration: '6s' }, ...automations },
    faults: [
      { on: 'trigger', automation: 'job-30', nth: 1, do: 'status', status: 429, headers: { 'retry-after': '7200' } },
      { on: 'trigger', every: 7, do: 'loseAnswer' },
    ],
  };
  const service = forkEmulator(
    `
      import { startEmulator } from './src/emulator/server.ts';
      const emulator = await startEmulator({ scenario: ${JSON.stringify(scenario)} });
      process.send({ RUNCTL_BASE_URL: emulator.url, RUNCTL_API_KEY: emulator.apiKey, RUNCTL_PROJECT: emulator.projectId });
      process.on('message', () => process.send(emulator.runs().map(({ target }) => target.automationName)));`,
    folder,
  );
  const answer = () => new Promise((resolve) => service.once('message', resolve));
  return {
    settings: await answer(),
    async runs() {
      const names = answer();
      service.send('runs');
      return names;
    },
    stop: () => service.kill(),
  };
}

/** A later try may do what could not be done. */
export const retryable = [9, 10, 13, 14, 124];

/** Prints what came of the tasks, and ends the process with 1 where that is not what must. `codes` is by task. */
export function judge(runs, codes, figures) {
  const expected = (task) => outcomes[task]?.[1] ?? 0;
  const wrong = tasks.filter((task) => codes.get(task) !== expected(task));
  const rows = {
    tasks: tasks.length,
    ...figures,
    'runs started': runs.length,
    'started twice': runs.length - new Set(runs).size,
    'exit code not as expected': wrong.length,
  };
  for (const [what, figure] of Object.entries(rows)) console.log(`${what.padEnd(36)}${figure}`);
  for (const task of wrong) console.log(`job-${task} ended with ${codes.get(task)}, not ${expected(task)}`);
  process.exitCode = wrong.length === 0 && runs.length === tasks.length ? 0 : 1;
}

export const program = join(import.meta.dirname, '../../bin/runctl.js');

/** What a command prints. Throws where it fails. */
export function output(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout.trim();
}
