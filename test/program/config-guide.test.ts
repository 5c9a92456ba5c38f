// `runctl config` alone asks for the settings on a terminal, stores them, and tries them with requests that start nothing.
import { writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test } from 'vitest';
import { answered, apiKey } from '../helpers/config-guide.ts';
import { type ProgramOptions, runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const project = '123e4567-e89b-42d3-a456-426614174000';
const old = 'https://old.example';
const address = (url: string) => url;
const stored = (profile: object) => ({ profiles: { default: profile } });

test('the answers are stored, tried, and followed by the next step', async () => {
  const { end, url, config, requests, shown } = await answered([address, apiKey, project]);
  expect([end, config]).toEqual([0, stored({ baseUrl: url, apiKey, project })]);
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  expect(shown).toContain('runctl trigger <automation> --watch');
  expect(shown).not.toContain(apiKey);
});

test('Enter keeps what is stored, a dash removes an optional setting, and a stored API key is shown masked', async () => {
  const before = stored({ baseUrl: old, apiKey, project });
  const { end, url, config, shown } = await answered([address, '', '-'], before);
  expect([end, config]).toEqual([0, stored({ baseUrl: url, apiKey })]);
  expect(shown).toContain(`[${old}]`);
  expect(shown).not.toContain(apiKey);
});

test('an API key that the service refuses is asked for again, and kept only if the user wants that', async () => {
  const { end, config } = await answered([address, 'another-key-0123456789', '', project]);
  expect(config.profiles.default.apiKey).toBe('another-key-0123456789');
  expect(end).toMatchObject({ facts: { name: 'unauthorized', message: expect.stringContaining('HTTP 401') } });
});

test('an API key that was just typed is not shown, even if the service repeats it', async () => {
  const body = { message: `no user has ${apiKey}` };
  const scenario = { faults: [{ on: 'status', nth: 1, do: 'status', status: 400, body }] } as const;
  const { shown } = await answered([address, apiKey, '', ''], undefined, { scenario });
  expect(shown).toContain('no user has');
  expect(shown).not.toContain(apiKey);
});

test('no API key is asked for if a command prints it', async () => {
  const apiKeyCommand = `echo ${apiKey}`;
  const { url, config } = await answered([address, project], stored({ baseUrl: old, apiKeyCommand }));
  expect(config).toEqual(stored({ baseUrl: url, apiKeyCommand, project }));
});

test('a variable that overrides an answer is named', async () => {
  const situation = { env: { RUNCTL_PROJECT: project } };
  const { end, shown } = await answered([address, apiKey, project.replace('1', '2')], undefined, situation);
  expect([end, shown]).toEqual([0, expect.stringMatching(/RUNCTL_PROJECT .*stored project/)]);
});

test('a profile that another command changed meanwhile is not overwritten', async () => {
  const others = stored({ baseUrl: 'https://other.example', apiKey });
  const change = (_: string, file: string) => {
    writeFileSync(file, JSON.stringify(others));
    return project;
  };
  const { end, config } = await answered([address, '', change], stored({ baseUrl: old, apiKey }));
  expect([end, config]).toMatchObject([
    { facts: { name: 'usage', message: expect.stringContaining('nothing was saved') } },
    others,
  ]);
});

test('another profile that is stored meanwhile stays', async () => {
  const other = { staging: { baseUrl: 'https://staging.example' } };
  const change = (_: string, file: string) => {
    writeFileSync(file, JSON.stringify({ profiles: other }), { mode: 0o600 });
    return project;
  };
  const { config, url } = await answered([address, apiKey, change]);
  expect(config).toEqual({ profiles: { ...other, default: { baseUrl: url, apiKey, project } } });
});

test('Ctrl-C at a question leaves everything as it is', async () => {
  const { end, config, requests } = await answered([address, 'half a key\u0003']);
  expect([end, config, requests]).toMatchObject([{ facts: { name: 'interrupted' } }, undefined, []]);
});

test('a signal while the settings are tried decides the exit code', async () => {
  const scenario = { faults: [{ on: 'status', nth: 2, do: 'hang' }] } as const;
  const { end } = await answered([address, apiKey, ''], undefined, { scenario, interruptedAt: 2 });
  expect(end).toMatchObject({ facts: { name: 'interrupted_terminated' } });
});

test.each<[string, ProgramOptions]>([
  ['standard input', { screen: new ScreenStream(new Terminal({ allowProposedApi: true })) }],
  ['standard error', { input: Object.assign(new PassThrough(), { isTTY: true }) }],
])('if %s is no terminal, nothing is asked, and the message names the other ways', async (_, options) => {
  const env = { RUNCTL_CONFIG_DIR: temporaryFolder() };
  const { code, stderr } = await runProgram(['config'], { env, ...options });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/get, set, unset, list, path/)]);
});
