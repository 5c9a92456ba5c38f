import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { setUp } from '../../src/commands/config.ts';
import { createReporter } from '../../src/output/reporter.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from './emulator.ts';
import { createMemory } from './memory-context.ts';
import { temporaryFolder } from './temporary-folder.ts';

export const apiKey = 'test-key-4f1b7c9d2e';
const questions = /base URL of the service|API key \(it is not shown\)|project ID/g;

interface Situation {
  scenario?: Scenario;
  env?: Record<string, string>;
  /** A signal comes when this many requests were sent. */
  interruptedAt?: number;
}

/** `runctl config` on a terminal where these are typed, each once something is asked; and what is stored before. */
export async function answered(
  answers: (string | ((url: string, file: string) => string))[],
  stored?: object,
  { scenario = {}, env = {}, interruptedAt }: Situation = {},
) {
  const { emulator } = await withEmulator(scenario, { apiKey });
  const folder = temporaryFolder();
  const file = join(folder, 'config.json');
  if (stored) writeFileSync(file, JSON.stringify(stored), { mode: 0o600 });
  const memory = createMemory({ RUNCTL_CONFIG_DIR: folder, RUNCTL_STATE_DIR: folder, ...env });
  const context = { ...memory, reporter: createReporter({}, memory) };
  Object.assign(context.stdin(), { isTTY: true, setRawMode() {} });
  Object.assign(context.stderr, { isTTY: true, columns: () => 1_000 });
  let shown = '';
  context
    .terminal()
    .setEncoding('utf8')
    .on('data', (text) => {
      shown += text;
    });
  const asked = () => (shown + context.err()).match(questions)?.length ?? 0;
  const running = setUp({}, context).catch((error: unknown) => error);
  for (const [index, answer] of answers.entries()) {
    await vi.waitUntil(() => asked() > index, { timeout: 10_000, interval: 2 });
    context.stdin().write(`${typeof answer === 'string' ? answer : answer(emulator.url, file)}\r`);
  }
  if (interruptedAt !== undefined) {
    await vi.waitUntil(() => emulator.requests.length === interruptedAt, { timeout: 10_000, interval: 2 });
    context.interrupt('SIGTERM');
  }
  const end = await running;
  const config = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  const said = context
    .err()
    .split('\n')
    .filter((line) => line !== '' && line.search(questions) < 0);
  return { end, url: emulator.url, folder, config, requests: emulator.requests, said, shown: shown + context.err() };
}
