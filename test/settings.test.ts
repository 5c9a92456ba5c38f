// Where a setting comes from, which ones are refused, and what `config` writes.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  acceptedAs,
  alreadyActive,
  byName,
  completed,
  executionId,
  given,
  json,
  otherId,
  output,
  projectId,
  running,
  statusOf,
} from './given.ts';

type Options = NonNullable<Parameters<typeof given>[0]>;

const eu = { baseUrl: 'https://eu.example', apiKey: 'sk-live-of-profile-eu' };
const us = { baseUrl: 'https://us.example', apiKey: 'sk-live-of-profile-us' };
const unset = { RUNCTL_BASE_URL: '', RUNCTL_API_KEY: '', RUNCTL_PROJECT: '' };
const profiles = { profile: 'eu', profiles: { eu, us } };
const inProfile = (profile: object) => ({ profiles: { default: profile } });
const byCommand = (apiKeyCommand: string) => inProfile({ baseUrl: eu.baseUrl, apiKeyCommand });
const trigger = `trigger ${projectId}/nightly`;

// FOLDER has a file with an API key.
// biome-ignore format: a table
test.each<[typed: string, config: object, variables: object, printed: string]>([
  ['baseUrl --base-url https://flag.example', profiles, {}, 'https://flag.example'],
  ['baseUrl', profiles, { RUNCTL_BASE_URL: us.baseUrl }, us.baseUrl],
  ['baseUrl', profiles, { RUNCTL_BASE_URL: '' }, eu.baseUrl],
  ['baseUrl --profile us', profiles, {}, us.baseUrl],
  ['baseUrl --profile eu', profiles, { RUNCTL_BASE_URL: us.baseUrl }, eu.baseUrl],
  ['baseUrl --profile us', profiles, { RUNCTL_PROFILE: 'eu' }, us.baseUrl],
  ['baseUrl', profiles, { RUNCTL_PROFILE: 'us' }, us.baseUrl],
  ['baseUrl', profiles, { RUNCTL_PROFILE: 'us', RUNCTL_BASE_URL: 'https://v.test' }, 'https://v.test'],
  ['baseUrl', {}, { RUNCTL_BASE_URL: 'https://API.Example.com/v0/' }, 'https://api.example.com'],
  ['baseUrl', {}, { RUNCTL_BASE_URL: 'https://a.test:443/runs//' }, 'https://a.test/runs'],
  ['baseUrl', {}, { RUNCTL_BASE_URL: 'http://localhost:8080' }, 'http://localhost:8080'],
  ['baseUrl', {}, { RUNCTL_BASE_URL: 'http://[::1]:8080/v0' }, 'http://[::1]:8080'],
  ['apiKey --api-key-file -', inProfile(eu), { RUNCTL_API_KEY: 'other' }, '…tdin'],
  ['apiKey --api-key-file FOLDER/key', inProfile(eu), { RUNCTL_API_KEY: 'other' }, '…file'],
  ['apiKey', inProfile(eu), { RUNCTL_API_KEY_FILE: 'FOLDER/key' }, '…file'],
  ['apiKey', inProfile(eu), { RUNCTL_API_KEY: 'sk-live-of-variable' }, '…able'],
  ['apiKey', inProfile(eu), {}, '…e-eu'],
  ['apiKey', {}, { RUNCTL_API_KEY: 'sk-12345' }, '…'],
  ['apiKey --profile default', inProfile(eu), { RUNCTL_API_KEY: 'sk-live-of-variable' }, '…e-eu'],
  ['apiKey --base-url https://EU.example/v0/', inProfile(eu), {}, '…e-eu'],
  ['apiKey --base-url https://other.example --profile default', inProfile(eu), { RUNCTL_API_KEY: 'sk-live-of-variable' }, '…able'],
  ['apiKey', byCommand('echo sk-live-of-command; echo more'), {}, '…mand'],
  ['apiKey', byCommand("printf 'sk-live-of-command\\r\\nmore'"), {}, '…mand'],
  // An agent that the command has started holds the pipe.
  ['apiKey', byCommand('sleep 60 & printf sk-live-of-command'), {}, '…mand'],
  ['apiKey', byCommand('cat; echo sk-live-of-command'), {}, '…mand'],
  ['stateDir', {}, { HOME: '/h' }, '/h/.local/state/runctl'],
  ['stateDir', {}, { HOME: '/h', XDG_STATE_HOME: '.' }, '/h/.local/state/runctl'],
  ['stateDir', {}, { RUNCTL_STATE_DIR: '/s' }, '/s'],
  ['configDir', {}, { RUNCTL_CONFIG_DIR: '', HOME: '/h' }, '/h/.config/runctl'],
  ['configDir', {}, { RUNCTL_CONFIG_DIR: '', HOME: '/h', XDG_CONFIG_HOME: '/c' }, '/c/runctl'],
])('config get %s, with %j and %j', async (typed, config, variables, printed) => {
  const env = { ...unset, RUNCTL_STATE_DIR: '' };
  const { runctl, folder } = await given({ config, env, stdin: 'sk-live-of-stdin\n' });
  writeFileSync(join(folder, 'key'), 'sk-live-of-file\r\n');
  const inFolder = (text: string) => text.replace('FOLDER', folder);
  const more = Object.entries(variables).map(([name, text]) => [name, inFolder(text)]);

  const { stdout } = await runctl(`config get ${inFolder(typed)}`, Object.fromEntries(more));

  expect(stdout).toBe(`${printed}\n`);
});

const badUrl = 'the base URL (RUNCTL_BASE_URL) must be an https URL';
const badKey = '(RUNCTL_API_KEY) must be one line of visible ASCII';
const otherUrl = 'not to https://other.example (--base-url)';

// biome-ignore format: a table
test.each<[typed: string, options: Options, words: string]>([
  [trigger, { env: { RUNCTL_BASE_URL: 'http://api.example.com' } }, badUrl],
  [trigger, { env: { RUNCTL_BASE_URL: 'http://localhost.example.com' } }, badUrl],
  [trigger, { env: { RUNCTL_BASE_URL: 'http://127.0.0.1.example.com' } }, badUrl],
  [trigger, { env: { RUNCTL_BASE_URL: 'https://user:sk-live@api.example.com' } }, badUrl],
  [trigger, { env: { RUNCTL_BASE_URL: 'https://user:1/sk-live@api.example.com' } }, badUrl],
  [trigger, { env: { RUNCTL_BASE_URL: 'https://api.example.com/?a=b' } }, badUrl],
  [trigger, { env: { RUNCTL_BASE_URL: 'https://api.example.com/#a' } }, badUrl],
  [trigger, { env: { RUNCTL_BASE_URL: 'api.example.com' } }, badUrl],
  ['trigger nightly', { env: { RUNCTL_PROJECT: 'nightly' } }, 'the project (RUNCTL_PROJECT) must be a UUID'],
  ['list', { env: { HOME: '', RUNCTL_STATE_DIR: '' } }, 'set HOME or RUNCTL_STATE_DIR'],
  ['list', { env: { RUNCTL_STATE_DIR: '~/state' } }, 'the state folder (RUNCTL_STATE_DIR) must be an absolute path'],
  ['list --profile ue', { config: { profiles: { eu } } }, 'there is no profile ue (--profile);'],
  ['list', { config: { profiles: { eu } }, env: { RUNCTL_PROFILE: 'ue' } }, '/config.json has eu'],
  ['config get profile --profile ue', { config: { profiles: { eu } } }, 'there is no profile ue (--profile);'],
  ['config list --profile ue', { config: { profiles: { eu } } }, 'there is no profile ue (--profile);'],
  ['config unset project --profile ue', { config: { profiles: { eu } } }, 'there is no profile ue (--profile);'],
  ['list', { config: { baseUrl: 'https://a.example' } }, 'is wrong at baseUrl: it must be'],
  ['list', { config: { profiles: { eu: { theme: 'dark' } } } }, 'is wrong at profiles.eu.theme:'],
  ['list', { config: { profiles: { eu: { requestTimeout: 30 } } } }, 'is wrong at profiles.eu.requestTimeout:'],
  ['list', { config: { profiles: { eu: { profile: 'us' } } } }, 'is wrong at profiles.eu.profile:'],
  ['list', { config: [] }, 'is wrong at its beginning:'],
  [trigger, { env: { RUNCTL_API_KEY: 'sk-1', RUNCTL_API_KEY_FILE: '/k' } }, 'both give the API key'],
  [trigger, { env: unset, config: inProfile({ ...eu, apiKeyCommand: 'x' }) }, 'both give the API key'],
  [trigger, { env: { ...unset, RUNCTL_BASE_URL: eu.baseUrl, RUNCTL_API_KEY_FILE: '/dev/null' } }, '(RUNCTL_API_KEY_FILE) must be one line of visible'],
  [trigger, { env: { ...unset, RUNCTL_BASE_URL: eu.baseUrl, RUNCTL_API_KEY_FILE: '/sk-live' } }, "the API key file (RUNCTL_API_KEY_FILE) can't be read (ENOENT)"],
  [trigger, { env: { RUNCTL_API_KEY: 'sk-live key' } }, badKey],
  [trigger, { env: { RUNCTL_API_KEY: 'sk-live\nkey' } }, badKey],
  [trigger, { env: unset, config: inProfile({ ...eu, apiKey: '' }) }, 'must be one line of visible ASCII'],
  [trigger, { env: unset, config: byCommand('true') }, 'must be one line of visible ASCII'],
  [trigger, { env: unset, config: byCommand('echo sk-live; echo no: sk-live >&2; exit 3') }, 'exited with 3: no: [secret]'],
  [`${trigger} --base-url https://other.example`, { env: unset, config: inProfile(eu) }, otherUrl],
  [`${trigger} --base-url https://other.example --profile default`, { env: unset, config: inProfile(eu) }, otherUrl],
  [trigger, { env: { ...unset, RUNCTL_BASE_URL: 'https://other.example' }, config: inProfile(eu) }, 'not to https://other.example (RUNCTL_BASE_URL)'],
  ['config get project --api-key-file sk-live', { env: unset }, 'runctl config'],
  ['config set apiKey sk-live-1', {}, 'the API key is never an argument'],
  ['config set projct x', {}, 'did you mean project?'],
  ['config set project nightly', {}, 'the project (config set) must be a UUID'],
  ['config set requestTimeout 30', {}, 'must be a duration with a unit'],
  ['config set profile ue', {}, 'there is no profile ue'],
  ['config set baseUrl', {}, 'config set baseUrl needs a value'],
  ['config', {}, 'runctl help config'],
])('%s, with %j, is refused', async (typed, options, words) => {
  const { runctl, requests } = await given(options);

  const { exitCode, stderr } = await runctl(typed);

  expect(exitCode).toBe(2);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain('sk-live');
  expect(requests).toEqual([]);
});

test('a wrong setting stops only commands that need it', async () => {
  const { runctl } = await given({ env: { RUNCTL_PROJECT: 'nightly' } });

  expect((await runctl(`status ${projectId}/nightly/${executionId}`)).exitCode).toBe(0);
});

test('without settings, list shows what the journal has, and trigger says what is missing', async () => {
  const { runctl } = await given({ env: unset });

  expect(await runctl('list')).toMatchObject({ exitCode: 0, stdout: '' });
  const { exitCode, stderr } = await runctl(trigger);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/not set: base URL .*, API key .*, project .*\n.* runctl config\n/);
});

test('a config file may begin with a byte order mark, and is not quoted if it is no JSON', async () => {
  const { runctl, folder } = await given({ env: unset });
  const path = join(folder, 'config.json');
  writeFileSync(path, `\uFEFF${JSON.stringify(inProfile(eu))}`);
  expect((await runctl('config get baseUrl')).stdout).toBe(`${eu.baseUrl}\n`);

  writeFileSync(path, '{ "apiKey": "sk-live-1" "x": 1 }');
  const { exitCode, stderr } = await runctl('list');
  expect(exitCode).toBe(2);
  expect(stderr).toContain("isn't valid JSON");
  expect(stderr).not.toContain('sk-live');
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

test('the API key of a file with line feeds is hidden where the service repeats it', async () => {
  const { runctl, folder } = await given({
    env: { RUNCTL_API_KEY: '' },
    trigger: [json(400, { message: 'the key sk-live-of-file is too old' })],
  });
  writeFileSync(join(folder, 'key'), 'sk-live-of-file\r\n\n');

  const { stdout, stderr } = await runctl(`${trigger} --debug --json --api-key-file ${folder}/key`);

  expect(stdout).toContain('the key [secret] is too old');
  expect(stdout + stderr).not.toContain('sk-live');
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

test('triggers keep the API key that the command began with, because their keys belong to it', async () => {
  const config = (apiKey: string) => JSON.stringify(inProfile({ baseUrl, apiKey }));
  const path = () => join(folder, 'config.json');
  const { runctl, requests, baseUrl, folder } = await given({
    env: { RUNCTL_API_KEY: '' },
    trigger: [byName({ export: acceptedAs(otherId), nightly: alreadyActive })],
    status: [
      (...args) => {
        writeFileSync(path(), config('sk-live-new'));
        json(401, { message: 'expired' })(...args);
      },
      statusOf('COMPLETED'),
    ],
    result: [output],
  });
  writeFileSync(path(), config('sk-live-old'), { mode: 0o600 });

  await runctl('trigger nightly export --watch --if-active wait --timeout 1m');

  const posts = requests.filter(({ method }) => method === 'POST');
  expect(posts.length).toBeGreaterThan(2);
  expect(new Set(posts.map(({ headers }) => headers['x-api-key']))).toEqual(
    new Set(['sk-live-old']),
  );
});

test('an API key from a pipe is read once, because it can be read only once', async () => {
  const pipe = () => join(folder, 'pipe');
  const write = (apiKey: string) => {
    const writer = spawn('sh', ['-c', 'echo "$0" > "$1"', apiKey, pipe()]);
    onTestFinished(() => void writer.kill());
  };
  const { runctl, requests, folder } = await given({
    env: { RUNCTL_API_KEY: '' },
    status: [
      (...args) => {
        write('sk-live-again');
        running(...args);
      },
      json(401, {}),
      completed,
    ],
  });
  execFileSync('mkfifo', [pipe()]);
  write('sk-live-once');

  await runctl(`watch ${projectId}/nightly/${executionId} --api-key-file ${pipe()}`);

  const sent = requests.map(({ headers }) => headers['x-api-key']);
  expect(sent).toEqual(Array(4).fill('sk-live-once'));
});

test('config set and unset write the profile in force, for the user alone', async () => {
  const { runctl, folder } = await given({ env: unset, stdin: 'sk-live-of-pipe\n' });
  const configDir = join(folder, 'new/config');
  const path = join(configDir, 'config.json');
  const stored = () => JSON.parse(readFileSync(path, 'utf8'));
  const config = (typed: string) => runctl(`config ${typed}`, { RUNCTL_CONFIG_DIR: configDir });

  await config('set baseUrl https://EU.example/v0/');
  chmodSync(path, 0o644);
  await config('set apiKeyCommand x');
  await config('set apiKey');
  await config('set requestTimeout 10s --profile us');
  await config('set profile us');

  const ofEu = { baseUrl: eu.baseUrl, apiKey: 'sk-live-of-pipe' };
  const ofUs = { requestTimeout: '10s' };
  expect(stored()).toEqual({ profile: 'us', profiles: { default: ofEu, us: ofUs } });
  expect(statSync(path).mode & 0o777).toBe(0o600);

  await config('set apiKeyCommand x --profile default');
  expect(stored().profiles.default).toEqual({ baseUrl: eu.baseUrl, apiKeyCommand: 'x' });
  await config('set apiKey --profile default');

  await config('unset requestTimeout');
  await config('unset profile');

  expect(stored()).toEqual({ profiles: { default: ofEu, us: {} } });
});

test.each([
  ['', /, but RUNCTL_PROJECT wins$/m],
  ['--profile default', /config\.json$/m],
])('config set %s says if the environment wins', async (flags, said) => {
  const { runctl } = await given();
  const { stderr } = await runctl(`config set project ${executionId} ${flags}`);
  expect(stderr).toMatch(said);
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
