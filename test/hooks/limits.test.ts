import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFinalHooks } from '../../src/hooks/on-final.ts';
import { systemClock } from '../../src/process.ts';
import { type Reporter, silentReporter } from '../../src/runs/events.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A reporter that keeps the messages. */
function createHearing() {
  const messages: string[] = [];
  const observe = (event: Parameters<Reporter['observe']>[0]) =>
    messages.push('message' in event ? `${event.message}` : '');
  return { messages, reporter: { ...silentReporter, observe } };
}

test('a hook whose turn comes after a signal is not run, and that is said', async () => {
  const { messages, reporter } = createHearing();
  const interrupt = new AbortController();
  const hooks = createFinalHooks('exit 3', {
    ...createMemory({ PATH: process.env.PATH }),
    clock: systemClock,
    signal: interrupt.signal,
    reporter,
  });
  interrupt.abort('SIGTERM');
  void hooks.start(run, { json: {} });
  await hooks.waitForAll();
  expect(messages).toEqual([expect.stringContaining('was not run: interrupted')]);
});

test('of the hooks for runs that finished, eight run at once at most', async () => {
  const folder = temporaryFolder();
  const [log, go] = [join(folder, 'log'), join(folder, 'go')];
  writeFileSync(log, '');
  const command = `printf + >> '${log}'; until [ -e '${go}' ]; do sleep 0.02; done; printf - >> '${log}'`;
  const context = { ...createMemory({ PATH: process.env.PATH }), clock: systemClock };
  const hooks = createFinalHooks(command, context);
  for (let n = 0; n < 12; n++) void hooks.start(run, { json: {} });
  await expect.poll(() => readFileSync(log, 'utf8').length).toBeGreaterThanOrEqual(8);
  writeFileSync(go, '');
  await hooks.waitForAll();
  const signs = readFileSync(log, 'utf8');
  let running = 0;
  const counts = [...signs].map((sign) => (running += sign === '+' ? 1 : -1));
  expect([signs.length, Math.max(...counts)]).toEqual([24, 8]);
});
