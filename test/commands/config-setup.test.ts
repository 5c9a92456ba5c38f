import { expect, test } from 'vitest';
import { Problem } from '../../src/problems/problem.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { answered, apiKey, setUp } from '../helpers/config-guide.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const project = '123e4567-e89b-42d3-a456-426614174000';
const address = (url: string) => url;

test('the answers are stored, checked with requests that start nothing, and followed by the next step', async () => {
  const { end, url, config, requests, shown } = await answered([address, apiKey, project]);
  expect(end).toBe(0);
  expect(config.profiles.default).toEqual({ baseUrl: url, apiKey, project });
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  expect(shown).toContain('responds and accepts this API key');
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
  expect(shown).toContain("doesn't begin with https://");
  expect(shown).toContain('contains a space or another character');
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
    message: expect.stringContaining("don't work: the API key was refused (HTTP 401"),
  });
});

test('Ctrl-C at a question leaves everything as it is', async () => {
  const { end, config, requests } = await answered([address, 'half a key\u0003']);
  expect(end).toMatchObject({ exitCode: 130 });
  expect([config, requests.length]).toEqual([undefined, 0]);
});

test('a signal while the settings are tried decides the exit code', async () => {
  const scenario: Scenario = { faults: [{ on: 'status', nth: 2, do: 'hang' }] };
  const { end } = await answered([address, apiKey, ''], undefined, { scenario, interruptedAt: 2 });
  expect(end).toMatchObject({ exitCode: 143 });
});

test('an API key that was just typed is not shown, even if the service repeats it', async () => {
  const body = { message: `no user has ${apiKey}` };
  const scenario: Scenario = { faults: [{ on: 'status', nth: 1, do: 'status', status: 400, body }] };
  const { shown } = await answered([address, apiKey, '', ''], undefined, { scenario });
  expect(shown).toContain('no user has');
  expect(shown).not.toContain(apiKey);
});

test('where a command prints the API key, none is asked for', async () => {
  const apiKeyCommand = `echo ${apiKey}`;
  const stored = { profiles: { default: { baseUrl: 'https://old.example', apiKeyCommand } } };
  const { url, config } = await answered([address, project], stored);
  expect(config.profiles.default).toEqual({ baseUrl: url, apiKeyCommand, project });
});

test('a variable that overrides an answer is named', async () => {
  const env = { RUNCTL_PROJECT: project };
  const { end, shown } = await answered([address, apiKey, project.replace('1', '2')], undefined, { env });
  expect(end).toBe(0);
  expect(shown).toMatch(/RUNCTL_PROJECT .*stored project/);
});

test.each([
  ['on stdin', {}, { isTTY: true }],
  ['on stderr', { isTTY: true }, {}],
])('without a terminal %s nobody is asked, and the other ways are named', async (_, stdin, stderr) => {
  const context = createMemory({ RUNCTL_CONFIG_DIR: temporaryFolder() }, '');
  Object.assign(context.stdin(), stdin);
  Object.assign(context.stderr, stderr);
  await expect(setUp(context)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('set'),
  });
});
