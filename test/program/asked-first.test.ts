// What must be known or allowed before anything is sent.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test, vi } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

test.each([
  ['n', 0],
  ['', 0],
  ['y', 1],
])('`doctor --try-key` that is answered with "%s" starts so many runs: %d', async (answer, runs) => {
  const { env, emulator, clock } = await withEmulator({ automations: { '*': { duration: '10s' } } });
  const keyboard = Object.assign(new PassThrough(), { isTTY: true });
  const screen = new ScreenStream(new Terminal({ allowProposedApi: true }));
  const ended = runProgram(['doctor', '--try-key', 'nightly'], { env, clock, input: keyboard, screen });
  await vi.waitUntil(() => screen.written.includes('[y/N]'), { timeout: 10_000, interval: 5 });
  expect(emulator.requests).toEqual([]);
  keyboard.write(`${answer}\r`);
  expect((await ended).code).toBe(0);
  expect(emulator.runs()).toHaveLength(runs);
  expect(emulator.requests.length > 0).toBe(runs > 0);
});

const full = `${projectId}/nightly/${executionId}`;

test.each([
  ['the variable', 'environment', ['trigger', 'nightly']],
  ['the variable', 'environment', ['status', full]],
  ['the profile', 'profile', ['trigger', 'nightly']],
  ['the profile', 'profile', ['watch', full]],
  ['the flag', 'flag', ['trigger', 'nightly']],
  ['the flag', 'flag', ['result', full]],
])('an API key that is a part of the base URL in %s (%s) is neither sent nor shown by %j', async (_, where, argv) => {
  const { env, emulator } = await withEmulator({});
  const { RUNCTL_API_KEY: apiKey = '', RUNCTL_BASE_URL: url = '', RUNCTL_CONFIG_DIR: folder = '', ...others } = env;
  const baseUrl = `${url}/${apiKey}`;
  mkdirSync(folder);
  const profile = where === 'profile' ? { baseUrl, apiKey } : { apiKeyCommand: 'exit 1' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { default: profile } }), { mode: 0o600 });
  const outside = where === 'profile' ? {} : { RUNCTL_API_KEY: apiKey };
  const variable = where === 'environment' ? { RUNCTL_BASE_URL: baseUrl } : {};
  const flags = where === 'flag' ? ['--base-url', baseUrl] : [];
  const { code, stdout, stderr } = await runProgram([...argv, ...flags], {
    env: { ...others, RUNCTL_CONFIG_DIR: folder, ...outside, ...variable },
  });
  expect([code, emulator.requests]).toEqual([2, []]);
  expect(stderr).toMatch(/^runctl: \S/);
  expect(stdout + stderr).not.toContain(apiKey);
});

test.each([
  ['recover', true],
  ['recover --resend', false],
])('`%s` says whether it may be repeated: %s', async (line, safeToRepeat) => {
  const { env, clock } = await withEmulator({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
  expect((await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env, clock })).code).toBe(12);
  const { stdout } = await runProgram([...line.split(' '), '--json'], { env, clock });
  expect(jsonLines(stdout)).toMatchObject([{ runctl: { trigger: { safeToRepeat } } }]);
});
