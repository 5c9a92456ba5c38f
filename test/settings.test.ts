// Where a setting comes from, which ones are refused, and what `config` writes.
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completed, executionId, given, json, projectId, running } from './given.ts';

const eu = { baseUrl: 'https://eu.example', apiKey: 'sk-live-of-profile-eu' };
const us = { baseUrl: 'https://us.example', apiKey: 'sk-live-of-profile-us' };
const unset = { RUNCTL_BASE_URL: '', RUNCTL_API_KEY: '', RUNCTL_PROJECT: '' };
const inProfile = (profile: object) => ({ profiles: { default: profile } });

test.each([
  { typed: '--base-url https://flag.example', printed: 'https://flag.example' },
  { RUNCTL_BASE_URL: us.baseUrl, printed: us.baseUrl },
  { RUNCTL_BASE_URL: '', printed: eu.baseUrl },
  { typed: '--profile us', printed: us.baseUrl },
  { typed: '--profile eu', RUNCTL_BASE_URL: us.baseUrl, printed: eu.baseUrl },
  { typed: '--profile us', RUNCTL_PROFILE: 'eu', printed: us.baseUrl },
  { RUNCTL_PROFILE: 'us', printed: us.baseUrl },
])('the base URL is the flag, the variable or the profile: %j', async (row) => {
  const { typed = '', printed, ...variables } = row;
  const { runctl } = await given({ config: { profile: 'eu', profiles: { eu, us } }, env: unset });

  const { stdout } = await runctl(`config get baseUrl ${typed}`, variables);

  expect(stdout).toBe(`${printed}\n`);
});

test.each([
  ['https://API.Example.com/v0/', 'https://api.example.com'],
  ['https://api.example.com:443/runs//', 'https://api.example.com/runs'],
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://[::1]:8080/v0', 'http://[::1]:8080'],
])('the base URL %s is used as %s', async (text, baseUrl) => {
  const { runctl } = await given();

  expect((await runctl(`config get baseUrl --base-url ${text}`)).stdout).toBe(`${baseUrl}\n`);
});

test.each([
  'http://api.example.com',
  'https://user:secret@api.example.com',
  'https://user:1/secret@api.example.com',
  'https://api.example.com/?a=b',
  'https://api.example.com/#a',
  'api.example.com',
])('the base URL %s is refused', async (text) => {
  const { runctl } = await given({ env: { RUNCTL_BASE_URL: text } });

  const { exitCode, stderr } = await runctl('trigger nightly');

  expect(exitCode).toBe(2);
  expect(stderr).toContain('the base URL (RUNCTL_BASE_URL) must be an https URL');
  expect(stderr).not.toContain('secret');
});

test('a wrong setting stops only commands that need it', async () => {
  const { runctl, requests } = await given({ env: { RUNCTL_PROJECT: 'nightly' } });

  expect((await runctl(`status ${projectId}/nightly/${executionId}`)).exitCode).toBe(0);
  expect(requests).toHaveLength(1);
  const { exitCode, stderr } = await runctl('trigger nightly');
  expect(exitCode).toBe(2);
  expect(stderr).toContain('the project (RUNCTL_PROJECT) must be a UUID');
  expect(requests).toHaveLength(1);
});

test('without settings, list shows what the journal has, and trigger says what is missing', async () => {
  const { runctl } = await given({ env: unset });

  expect(await runctl('list')).toMatchObject({ exitCode: 0, stdout: '' });
  const { exitCode, stderr } = await runctl(`trigger ${projectId}/nightly`);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/not set: base URL .*, API key .*, project .*\n.* runctl config\n/);
});

test.each([
  ['--profile ue', {}, '--profile'],
  ['', { RUNCTL_PROFILE: 'ue' }, 'RUNCTL_PROFILE'],
])(
  'a profile that is named by "%s" %j must exist, but not for config set',
  async (flag, env, source) => {
    const { runctl, folder } = await given({ config: { profiles: { eu } }, env });

    const { exitCode, stderr } = await runctl(`list ${flag}`);

    expect(exitCode).toBe(2);
    expect(stderr).toContain(`there is no profile ue (${source}); ${folder}/config.json has eu`);
    expect((await runctl(`config set project ${projectId} ${flag}`)).exitCode).toBe(0);
    expect(stored(folder)).toEqual({ profiles: { eu, ue: { project: projectId } } });
  },
);

test.each([
  ['{ "apiKey": "sk-live-1" "x": 1 }', "isn't valid JSON"],
  ['{ "baseUrl": "https://a.example" }', 'is wrong at baseUrl: it must be'],
  ['{ "profiles": { "eu": { "theme": "dark" } } }', 'is wrong at profiles.eu.theme:'],
  ['{ "profiles": { "eu": { "requestTimeout": 30 } } }', 'is wrong at profiles.eu.requestTimeout:'],
  ['{ "profiles": { "eu": { "profile": "us" } } }', 'is wrong at profiles.eu.profile:'],
  ['[]', 'is wrong at its beginning:'],
])('the config file %s is refused', async (text, words) => {
  const { runctl, folder } = await given();
  writeFileSync(join(folder, 'config.json'), text);

  const { exitCode, stderr } = await runctl('list');

  expect(exitCode).toBe(2);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain('sk-live');
});

test('a config file may begin with a byte order mark', async () => {
  const { runctl, folder } = await given({ env: unset });
  writeFileSync(join(folder, 'config.json'), `\uFEFF${JSON.stringify(inProfile(eu))}`);

  expect((await runctl('config get baseUrl')).stdout).toBe(`${eu.baseUrl}\n`);
});

test.each([0o644, 0o640, 0o602])(
  'the API key of a config file with mode %o is not used',
  async (mode) => {
    const { runctl, folder } = await given({ config: inProfile(eu), env: unset });
    const path = join(folder, 'config.json');
    chmodSync(path, mode);

    const { exitCode, stderr } = await runctl('config get apiKey');

    expect(exitCode).toBe(2);
    expect(stderr).toContain(`chmod 600 ${path}\n`);
    const ofVariable = await runctl('config get apiKey', { RUNCTL_API_KEY: 'sk-live-of-variable' });
    expect(ofVariable.stdout).toBe('…able\n');
  },
);

const byCommand = (apiKeyCommand: string) => inProfile({ baseUrl: eu.baseUrl, apiKeyCommand });

test.each([
  {
    typed: '--api-key-file -',
    stdin: 'sk-live-of-stdin\n',
    RUNCTL_API_KEY: 'other',
    printed: 'tdin',
  },
  { typed: '--api-key-file FOLDER/key', RUNCTL_API_KEY: 'other', printed: 'file' },
  { RUNCTL_API_KEY_FILE: 'FOLDER/key', printed: 'file' },
  { RUNCTL_API_KEY: 'sk-live-of-variable', printed: 'able' },
  { printed: 'e-eu' },
  { typed: '--profile default', RUNCTL_API_KEY: 'sk-live-of-variable', printed: 'e-eu' },
  { config: byCommand('echo sk-live-of-command; echo more'), printed: 'mand' },
  // An agent that the command has started holds the pipe.
  { config: byCommand('sleep 60 & printf sk-live-of-command'), printed: 'mand' },
])(
  'the API key is that of %j',
  async ({ typed = '', stdin, config = inProfile(eu), printed, ...variables }) => {
    const { runctl, folder } = await given({ config, stdin, env: unset });
    writeFileSync(join(folder, 'key'), 'sk-live-of-file\r\n');
    const inFolder = (text: string) => text.replace('FOLDER', folder);
    const env = Object.entries(variables).map(([name, text]) => [name, inFolder(text)]);

    const { stdout } = await runctl(
      `config get apiKey ${inFolder(typed)}`,
      Object.fromEntries(env),
    );

    expect(stdout).toBe(`…${printed}\n`);
  },
);

test.each<[NonNullable<Parameters<typeof given>[0]>, string]>([
  [{ env: { RUNCTL_API_KEY: 'sk-1', RUNCTL_API_KEY_FILE: '/k' } }, 'both give the API key'],
  [{ config: inProfile({ ...eu, apiKeyCommand: 'x' }) }, 'both give the API key'],
  [
    { env: { RUNCTL_API_KEY_FILE: '/dev/null' } },
    '(RUNCTL_API_KEY_FILE) must be one line of visible',
  ],
  [
    { env: { RUNCTL_API_KEY_FILE: '/sk-live' } },
    "the API key file (RUNCTL_API_KEY_FILE) can't be read",
  ],
  [
    { env: { RUNCTL_API_KEY: 'sk-live key' } },
    '(RUNCTL_API_KEY) must be one line of visible ASCII',
  ],
  [
    { env: { RUNCTL_API_KEY: 'sk-live\nkey' } },
    '(RUNCTL_API_KEY) must be one line of visible ASCII',
  ],
  [{ config: inProfile({ ...eu, apiKey: '' }) }, 'must be one line of visible ASCII'],
  [{ config: byCommand('true') }, 'must be one line of visible ASCII'],
  [
    { config: byCommand('echo sk-live; echo no: sk-live >&2; exit 3') },
    'exited with 3: no: [secret]',
  ],
])('an API key of %j is refused, and not shown', async ({ env, config }, words) => {
  const { runctl } = await given({ config, env: { ...unset, ...env } });

  const { exitCode, stderr } = await runctl(
    `trigger ${projectId}/nightly --base-url ${eu.baseUrl}`,
  );

  expect(exitCode).toBe(2);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain('sk-live');
});

test.each([
  ['--base-url https://other.example', {}, '(--base-url)'],
  ['--base-url https://other.example --profile default', {}, '(--base-url)'],
  ['', { RUNCTL_BASE_URL: 'https://other.example' }, '(RUNCTL_BASE_URL)'],
])("a profile's API key goes only to its own base URL: %s %j", async (flags, env, source) => {
  const { runctl } = await given({ config: inProfile(eu), env: { ...unset, ...env } });

  const { exitCode, stderr } = await runctl(`trigger ${projectId}/nightly ${flags}`);

  expect(exitCode).toBe(2);
  expect(stderr).toContain(`not to https://other.example ${source}`);
  const ofVariable = { RUNCTL_API_KEY: 'sk-live-of-variable' };
  expect((await runctl(`config get apiKey ${flags}`, ofVariable)).stdout).toBe('…able\n');
  const own = await runctl('config get apiKey --base-url https://EU.example/v0/');
  expect(own.stdout).toBe('…e-eu\n');
});

test('an API key that is replaced during a command is read again', async () => {
  const config = (apiKey: string) => JSON.stringify(inProfile({ baseUrl, apiKey }));
  const path = () => join(folder, 'config.json');
  const { runctl, requests, baseUrl, folder } = await given({
    env: { RUNCTL_API_KEY: '' },
    status: [
      running,
      (...args) => {
        writeFileSync(path(), config('sk-live-new'));
        json(401, { message: 'expired' })(...args);
      },
      completed,
    ],
  });
  writeFileSync(path(), config('sk-live-old'), { mode: 0o600 });

  await runctl(`watch ${projectId}/nightly/${executionId}`);

  const sent = requests.map(({ headers }) => headers['x-api-key']);
  expect(sent.slice(0, 3)).toEqual(['sk-live-old', 'sk-live-old', 'sk-live-new']);
});

test.each([
  [{ HOME: '/home/me' }, '/home/me/.config/runctl', '/home/me/.local/state/runctl'],
  [
    { HOME: '/h', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '.' },
    '/c/runctl',
    '/h/.local/state/runctl',
  ],
  [{ RUNCTL_CONFIG_DIR: '/c', RUNCTL_STATE_DIR: '/s' }, '/c', '/s'],
])('with %j, the folders are %s and %s', async (variables, configDir, stateDir) => {
  const { runctl } = await given({ env: { RUNCTL_CONFIG_DIR: '', RUNCTL_STATE_DIR: '' } });

  expect((await runctl('config get configDir', variables)).stdout).toBe(`${configDir}\n`);
  expect((await runctl('config get stateDir', variables)).stdout).toBe(`${stateDir}\n`);
});

test.each([{}, { RUNCTL_STATE_DIR: '~/state' }])(
  'with %j, there is no state folder',
  async (env) => {
    const { runctl } = await given({ env: { HOME: '', RUNCTL_STATE_DIR: '', ...env } });

    const { exitCode, stderr } = await runctl('list');

    expect(exitCode).toBe(2);
    expect(stderr).toContain('RUNCTL_STATE_DIR');
  },
);

const stored = (folder: string) => JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));

test('config set and unset write the profile in force, for the user alone', async () => {
  const { runctl, folder } = await given({
    env: { ...unset, RUNCTL_PROFILE: '' },
    stdin: 'sk-live-of-pipe\n',
  });
  const path = join(folder, 'config.json');

  await runctl('config set baseUrl https://EU.example/v0/');
  await runctl('config set apiKeyCommand x');
  await runctl('config set apiKey');
  await runctl('config set requestTimeout 10s --profile us');
  await runctl('config set profile us');

  const ofEu = { baseUrl: eu.baseUrl, apiKey: 'sk-live-of-pipe' };
  const ofUs = { requestTimeout: '10s' };
  expect(stored(folder)).toEqual({ profile: 'us', profiles: { default: ofEu, us: ofUs } });
  expect(statSync(path).mode & 0o777).toBe(0o600);

  await runctl('config unset requestTimeout');
  await runctl('config unset profile');

  expect(stored(folder)).toEqual({ profiles: { default: ofEu, us: {} } });
});

test.each([
  ['apiKey sk-live-1', 'the API key is never an argument'],
  ['projct x', 'did you mean project?'],
  ['project nightly', 'the project (config set) must be a UUID'],
  ['requestTimeout 30', 'must be a duration with a unit'],
  ['profile ue', 'there is no profile ue'],
  ['baseUrl', 'config set baseUrl needs a value'],
])('config set %s is refused', async (typed, words) => {
  const { runctl } = await given();

  const { exitCode, stderr } = await runctl(`config set ${typed}`);

  expect(exitCode).toBe(2);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain('sk-live');
});

test('config list shows each setting with its source, and the end of the API key', async () => {
  const { runctl, folder } = await given({
    config: inProfile(eu),
    env: { ...unset, RUNCTL_PROJECT: 'nightly', RUNCTL_STATE_DIR: '/s' },
  });

  const { stdout } = await runctl('config list');

  const profile = '(profile default)';
  expect(stdout.replace(/ +/g, ' ').split('\n')).toEqual([
    `apiKey …e-eu ${profile}`,
    'apiKeyCommand -',
    `baseUrl ${eu.baseUrl} ${profile}`,
    expect.stringMatching(/^project the project \(RUNCTL_PROJECT\) must be a UUID/),
    'profile default (default)',
    'requestTimeout 30s (default)',
    'idempotencyKeys honored (default)',
    `configDir ${folder} (RUNCTL_CONFIG_DIR)`,
    'stateDir /s (RUNCTL_STATE_DIR)',
    '',
  ]);
});

test('config says what to type if there is no terminal', async () => {
  const { runctl } = await given();

  const { exitCode, stderr } = await runctl('config');

  expect(exitCode).toBe(2);
  expect(stderr).toContain('runctl config set baseUrl');
});
