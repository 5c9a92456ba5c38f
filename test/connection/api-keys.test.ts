import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveSettings } from '../../src/config/settings.ts';
import { createApiKeys } from '../../src/connection/api-keys.ts';
import { systemClock } from '../../src/process.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A command that prints key-number-1, then key-number-2, and so on; `pass` moves the clock. */
async function prepare() {
  const FOLDER = temporaryFolder();
  mkdirSync(join(FOLDER, 'runs'));
  const command = 'mktemp "$FOLDER/runs/XXXXXX" > "$FOLDER/made"; echo key-number-$(ls "$FOLDER/runs" | wc -l)';
  let passedMs = 0;
  const clock = { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + passedMs };
  const env = { PATH: process.env.PATH, FOLDER, RUNCTL_API_KEY_COMMAND: command };
  const context = { ...createMemory(env), clock };
  const apiKeys = createApiKeys(await resolveSettings({}, context), context);
  const pass = (ms: number) => {
    passedMs += ms;
  };
  return { apiKeys, pass };
}

test('a trigger keeps the API key that it was first sent with, whatever is in force by then', async () => {
  const { apiKeys } = await prepare();
  expect(await apiKeys.of('key-a')).toBe('key-number-1');
  await apiKeys.renew();
  expect(await apiKeys.of()).toBe('key-number-2');
  expect(await apiKeys.of('key-a')).toBe('key-number-1');
  expect(await apiKeys.of('key-b')).toBe('key-number-2');
});

test('the command runs again for watches that end together, once', async () => {
  const { apiKeys, pass } = await prepare();
  await apiKeys.of();
  await apiKeys.renew();
  pass(14_000);
  await apiKeys.renew();
  expect(await apiKeys.of()).toBe('key-number-2');
  pass(1_001);
  await apiKeys.renew();
  expect(await apiKeys.of()).toBe('key-number-3');
});
