import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { environmentIn } from '../helpers/environment-in.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Two services, and the environment of somebody whose profile belongs to the first. */
async function startTwo() {
  const own = (await withEmulator({})).emulator;
  const other = (await withEmulator({})).emulator;
  const folder = temporaryFolder();
  const env = environmentIn(folder, own);
  mkdirSync(join(folder, 'config'));
  const storeAll = (profiles: object) =>
    writeFileSync(join(folder, 'config/config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const store = (profile: object) => storeAll({ default: profile });
  store({ apiKey: own.apiKey, baseUrl: own.url });
  return { own, other, store, storeAll, env: { ...env, RUNCTL_API_KEY: '', RUNCTL_BASE_URL: '' } };
}

test('the API key of a profile is sent to its own base URL', async () => {
  const { own, env } = await startTwo();
  const { code } = await runProgram(['trigger', 'nightly'], { env });
  expect([code, own.requests.length]).toEqual([0, 1]);
});

test.each([
  ['a profile', '', true],
  ['the environment', 'another-key-0123456789', false],
])('doctor says where an API key of %s is sent', async (_, apiKey, isBound) => {
  const { env } = await startTwo();
  const { stdout } = await runProgram(['doctor', '--offline', '--json'], { env: { ...env, RUNCTL_API_KEY: apiKey } });
  expect(stdout.includes("sent only to that profile's base URL")).toBe(isBound);
});

test.each(['trigger nightly', 'status nightly/6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11', 'recover', 'config get apiKey'])(
  'the API key of a profile goes to no other base URL: `%s` ends with 2',
  async (line) => {
    const { own, other, env } = await startTwo();
    const { code, stderr } = await runProgram(line.split(' '), { env: { ...env, RUNCTL_BASE_URL: other.url } });
    expect(code).toBe(2);
    expect(stderr).toContain(`is for ${own.url}, so it isn't sent to ${other.url} (RUNCTL_BASE_URL)`);
    expect([...own.requests, ...other.requests]).toEqual([]);
  },
);

test('the API key of a profile without a base URL is sent nowhere', async () => {
  const { own, other, store, env } = await startTwo();
  store({ apiKey: own.apiKey });
  const { code, stderr } = await runProgram(['trigger', 'nightly', '--base-url', other.url], { env });
  expect(code).toBe(2);
  expect(stderr).toContain('has no base URL stored with it');
  expect(other.requests).toEqual([]);
});

test('what keeps a stored setting from having an effect is looked for in the profile it is stored in', async () => {
  const { own, env } = await startTwo();
  const set = (...flags: string[]) => runProgram(['config', 'set', 'apiKeyCommand', 'print-key', ...flags], { env });
  const { code, stderr } = await set('--profile', 'staging');
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('overrides')]);
  expect(own.requests).toEqual([]);
  expect((await set()).stderr).toContain('the stored apiKey overrides the stored apiKeyCommand');
});
