import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { config as command } from '../../src/commands/config.ts';
import type { Context } from '../../src/context.ts';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { Problem } from '../../src/problems/problem.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const project = '123e4567-e89b-42d3-a456-426614174000';
const apiKey = 'test-key-4f1b7c9d2e';
const questions = /base URL of the service|API key \(it is not shown\)|project ID/g;

/** `runctl config` on a terminal where these are typed, each once something is asked; and what is stored before. */
async function answered(answers: (string | ((url: string) => string))[], stored?: object, scenario: Scenario = {}) {
  const { emulator } = await withEmulator(scenario, { apiKey });
  const folder = temporaryFolder();
  const file = join(folder, 'config.json');
  if (stored) writeFileSync(file, JSON.stringify(stored), { mode: 0o600 });
  const context = createMemory({ RUNCTL_CONFIG_DIR: folder, RUNCTL_STATE_DIR: folder });
  Object.assign(context.stdin, { isTTY: true, setRawMode() {} });
  Object.assign(context.stderr, { isTTY: true });
  let shown = '';
  context.terminal.setEncoding('utf8').on('data', (text) => {
    shown += text;
  });
  const asked = () => (shown + context.err()).match(questions)?.length ?? 0;
  const running = setUp(context).catch((error: unknown) => error);
  for (const [index, answer] of answers.entries()) {
    await vi.waitUntil(() => asked() > index, { timeout: 10_000, interval: 2 });
    context.stdin.write(`${typeof answer === 'string' ? answer : answer(emulator.url)}\r`);
  }
  const end = await running;
  const config = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  return { end, url: emulator.url, config, requests: emulator.requests, shown: shown + context.err() };
}

/** `runctl config` alone. */
const setUp = async (context: Context) => command.run?.({}, {}, context);

const address = (url: string) => url;

test('the answers are stored, checked with requests that start nothing, and followed by the next step', async () => {
  const { end, url, config, requests, shown } = await answered([address, apiKey, project]);
  expect(end).toBe(0);
  expect(config.profiles.default).toEqual({ baseUrl: url, apiKey, project });
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  expect(shown).toContain('answers and accepts this API key');
  expect(shown).toContain('runctl trigger <automation> --watch');
  expect(shown).not.toContain(apiKey);
});

test('an answer that is refused is asked for again, and so is one that is needed and empty', async () => {
  const { end, config, shown } = await answered([
    'ftp://x.example',
    '',
    address,
    '',
    'a key → of another kind',
    apiKey,
    '',
  ]);
  expect(end).toBe(0);
  expect(config.profiles.default).not.toHaveProperty('project');
  expect(shown).toContain('does not begin with https://');
  expect(shown).toContain('holds a blank or another character');
  expect(shown).toContain('runctl trigger <projectId>/<automation> --watch');
});

test('Enter keeps what is stored, a dash removes what may be left out, and a stored key is shown masked', async () => {
  const stored = { profiles: { default: { baseUrl: 'https://old.example', apiKey, project } } };
  const { end, url, config, shown } = await answered([address, '', '-'], stored);
  expect(end).toBe(0);
  expect(config.profiles.default).toEqual({ baseUrl: url, apiKey });
  expect(shown).toContain('[https://old.example]');
  expect(shown).not.toContain(apiKey);
});

test('an API key that the service refuses is asked for again, and kept only where it is wanted', async () => {
  const { end, config } = await answered([address, 'another-key-0123456789', '', project]);
  expect(config.profiles.default.apiKey).toBe('another-key-0123456789');
  expect(end).toBeInstanceOf(Problem);
  expect(end).toMatchObject({
    exitCode: 7,
    message: expect.stringContaining('they do not work: the API key was refused (HTTP 401'),
  });
});

test('Ctrl-C at a question leaves everything as it is', async () => {
  const { end, config, requests } = await answered([address, 'half a key\u0003']);
  expect(end).toMatchObject({ exitCode: 130 });
  expect([config, requests.length]).toEqual([undefined, 0]);
});

test('without a terminal nobody is asked, and the other ways are named', async () => {
  const context = createMemory({ RUNCTL_CONFIG_DIR: temporaryFolder() });
  await expect(setUp(context)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('set'),
  });
});
