// Paths and names of the environment and of the command line are printed in messages: none may drive a terminal.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environment } from '../helpers/leaks.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const hostile = 'x\u001B[31m\u001B]0;owned\u0007\u009B2J\u202Ey\u{E0041}\u206A\u0085z';
const unsafe = /(?!\n)[\p{Cc}\u202E\u206A\u{E0041}]/u;

const folder = temporaryFolder;
const file = () => {
  const path = join(folder(), hostile);
  writeFileSync(path, '{');
  return path;
};
const nowhere = { RUNCTL_BASE_URL: 'http://127.0.0.1:9' };

test.each<[string, string[], () => Record<string, string>]>([
  ['a state folder that cannot be made', ['list'], () => ({ RUNCTL_STATE_DIR: join(file(), 'state') })],
  ['a state folder', ['trigger', 'nightly', '--give-up-after', '1ms'], () => ({ RUNCTL_STATE_DIR: join(file(), 's') })],
  ["a config folder that can't be read", ['config', 'list'], () => ({ RUNCTL_CONFIG_DIR: file() })],
  [
    'a config folder, written to',
    ['config', 'set', 'project', '0b6f2a64-90f5-4ed2-8c8e-5f0a9f3ad001'],
    () => ({
      RUNCTL_CONFIG_DIR: join(folder(), hostile),
    }),
  ],
  [
    'a config folder, of which nothing is unset',
    ['config', 'unset', 'project'],
    () => ({
      RUNCTL_CONFIG_DIR: join(folder(), hostile),
    }),
  ],
  ['a file with the API key', ['status', 'x'], () => ({ RUNCTL_API_KEY: '', RUNCTL_API_KEY_FILE: `/${hostile}` })],
  ['a profile', ['status', '--profile', hostile], () => ({})],
  ['a profile of the environment', ['status'], () => ({ RUNCTL_PROFILE: hostile })],
  ['a base URL', ['status'], () => ({ RUNCTL_BASE_URL: hostile })],
  ['a project', ['trigger', 'nightly'], () => ({ RUNCTL_PROJECT: hostile })],
  ['a proxy', ['status', 'nightly'], () => ({ RUNCTL_BASE_URL: 'https://service.test', HTTPS_PROXY: hostile })],
  ['a scenario', ['emulator', '--scenario', hostile], () => ({})],
  ['a command', [hostile], () => ({})],
  ['an option', [`--${hostile}`], () => ({})],
  ['an automation', ['trigger', hostile, '--give-up-after', '1ms'], () => ({})],
  ['a run', ['status', hostile], () => ({})],
  ['a field', ['list', '--field', hostile], () => ({})],
  ['a duration', ['watch', '--timeout', hostile], () => ({})],
  ['an exit code', ['explain', hostile], () => ({})],
])('%s with escape sequences in it drives no terminal', async (_, argv, env) => {
  const ended = await runProgram(argv, { env: { ...environment(nowhere), ...env() } });
  expect(ended.code).not.toBe(70);
  expect(ended.stdout + ended.stderr).not.toMatch(unsafe);
});
