import { execFileSync } from 'node:child_process';
import { chmodSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { SettingName } from '../../src/config/setting-table.ts';
import { need, resolveSettings, resolveWithoutApiKey, type SettingFlags } from '../../src/config/settings.ts';
import type { Invocation } from '../../src/context.ts';
import { systemClock } from '../../src/process.ts';
import { createLogReporter } from '../../src/render/log-reporter.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const uuid = (digit: string) => `${digit.repeat(8)}-0000-4000-8000-000000000000`;

/** Every source of every setting, the strongest first: what it gives and what it is called. */
const sources = {
  apiKey: [
    ['flag', 'key-of-flag', 'flag --api-key-file'],
    ['RUNCTL_API_KEY', 'key-of-variable', 'RUNCTL_API_KEY'],
    ['RUNCTL_API_KEY_FILE', 'key-of-file', 'RUNCTL_API_KEY_FILE'],
    ['profile', 'key-of-profile', 'profile "default" in'],
    ['none', undefined, undefined],
  ],
  baseUrl: [
    ['flag', 'https://flag.example', 'flag --base-url'],
    ['RUNCTL_BASE_URL', 'https://variable.example', 'RUNCTL_BASE_URL'],
    ['profile', 'https://profile.example', 'profile "default" in'],
    ['none', undefined, undefined],
  ],
  project: [
    ['flag', uuid('a'), 'flag --project'],
    ['RUNCTL_PROJECT', uuid('b'), 'RUNCTL_PROJECT'],
    ['profile', uuid('c'), 'profile "default" in'],
    ['none', undefined, undefined],
  ],
  requestTimeout: [
    ['flag', '1s', 'flag --request-timeout'],
    ['RUNCTL_REQUEST_TIMEOUT', '2s', 'RUNCTL_REQUEST_TIMEOUT'],
    ['profile', '3s', 'profile "default" in'],
    ['default', '30s', 'default'],
  ],
} as const;

type Key = keyof typeof sources;
type Row = readonly [from: string, value: string | undefined, source: string | undefined];

const pairs = Object.entries(sources).flatMap(([key, rows]) =>
  (rows as readonly Row[]).flatMap((stronger, index) =>
    rows
      .slice(index + 1)
      .map((weaker): [Key, string, string, Row, Row] => [key as Key, stronger[0], weaker[0], stronger, weaker as Row]),
  ),
);

interface Inputs {
  flags: SettingFlags;
  env: Record<string, string>;
  profile: Record<string, string>;
}

function give(key: Key, [from, value]: Row, folder: string, { flags, env, profile }: Inputs): void {
  if (value === undefined || from === 'default') return;
  const text = from.endsWith('_FILE') || (key === 'apiKey' && from === 'flag') ? join(folder, value) : value;
  if (text !== value) writeFileSync(text, `${value}\n`);
  if (from === 'flag') flags[key === 'apiKey' ? 'apiKeyFile' : key] = text;
  else if (from === 'profile') profile[key] = text;
  else env[from] = text;
}

function contextOf({ env, profile }: Inputs, folder: string) {
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { default: profile } }), { mode: 0o600 });
  return createMemory({ RUNCTL_CONFIG_DIR: folder, ...env });
}

const resolve = (inputs: Inputs, folder = temporaryFolder()) =>
  resolveSettings(inputs.flags, contextOf(inputs, folder));

/** Where a setting is said to come from. */
async function sourceOf(key: SettingName, flags: SettingFlags, context: Invocation) {
  return (await resolveSettings(flags, context))[key].source;
}

function withFile(config: unknown, mode = 0o600): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  chmodSync(join(folder, 'config.json'), mode);
  return folder;
}

describe('a setting', () => {
  test.each(pairs)(
    '%s from %s is stronger than from %s, or both are refused',
    async (key, _from, _than, stronger, weaker) => {
      const folder = temporaryFolder();
      const inputs: Inputs = { flags: {}, env: {}, profile: {} };
      give(key, stronger, folder, inputs);
      give(key, weaker, folder, inputs);
      const areBothVariables = [stronger, weaker].every(([from]) => from.startsWith('RUNCTL_'));
      if (areBothVariables) return expect((await resolve(inputs, folder))[key].problem?.message).toContain('both give');
      const settings = await resolve(inputs, folder);
      expect(settings[key].text).toBe(stronger[1]);
      expect(await sourceOf(key, inputs.flags, contextOf(inputs, folder))).toContain(stronger[2]);
    },
  );

  test.each([
    ['RUNCTL_API_KEY', 'apiKey'],
    ['RUNCTL_API_KEY_FILE', 'apiKey'],
    ['RUNCTL_BASE_URL', 'baseUrl'],
    ['RUNCTL_PROJECT', 'project'],
    ['RUNCTL_REQUEST_TIMEOUT', 'requestTimeout'],
  ] as const)('is unset by an empty %s', async (variable, key) => {
    const profile = { apiKey: 'kkkk', baseUrl: 'https://p.example', project: uuid('c'), requestTimeout: '3s' };
    const settings = await resolve({ flags: {}, env: { [variable]: '' }, profile });
    expect(settings[key].text).toBe(profile[key]);
  });

  test('that is wrong stops only those who need it', async () => {
    const env = { RUNCTL_PROJECT: 'x', RUNCTL_BASE_URL: 'https://a.example', RUNCTL_API_KEY_FILE: '/nowhere/key' };
    const settings = await resolve({ flags: {}, env, profile: {} });
    expect(need('baseUrl', settings)).toBe('https://a.example');
    expect(() => need('project', settings)).toThrow('the project (RUNCTL_PROJECT) is not a UUID');
    expect(() => need('apiKey', settings)).toThrow("/nowhere/key can't be read (ENOENT)");
  });

  test.each([
    ['apiKey', 'API key', ['--api-key-file <path>', 'RUNCTL_API_KEY', '`runctl config`']],
    ['baseUrl', 'base URL', ['--base-url <url>', 'RUNCTL_BASE_URL', '`runctl config`']],
    ['project', 'project', ['--project <uuid>', 'RUNCTL_PROJECT', '`runctl config`']],
  ] as const)('%s that is missing is refused with the ways to give it', async (key, name, ways) => {
    const settings = await resolve({ flags: {}, env: {}, profile: {} });
    expect(() => need(key, settings)).toThrow(expect.objectContaining({ exitCode: 2, message: `no ${name} is set` }));
    for (const way of ways) {
      expect(() => need(key, settings)).toThrow(
        expect.objectContaining({ facts: expect.objectContaining({ hint: expect.stringContaining(way) }) }),
      );
    }
  });

  test.each(['99ms', '11m', '30', '30 s', '', 'x'])('of %j is no request timeout', async (requestTimeout) => {
    const settings = await resolve({ flags: { requestTimeout }, env: {}, profile: {} });
    expect(() => need('requestTimeout', settings)).toThrow('the request timeout (flag --request-timeout) is not');
  });

  test.each([
    ['100ms', 100],
    ['10m', 600_000],
  ])('of %s is a request timeout', async (requestTimeout, ms) => {
    const settings = await resolve({ flags: { requestTimeout }, env: {}, profile: {} });
    expect(need('requestTimeout', settings)).toBe(ms);
  });

  test('project is written in lower case', async () => {
    const settings = await resolve({ flags: { project: uuid('A') }, env: {}, profile: {} });
    expect(settings.project.value).toBe(uuid('a'));
  });

  test('needs no config file and no home', async () => {
    const settings = await resolveSettings({}, createMemory({ RUNCTL_BASE_URL: 'https://a.example' }));
    expect(settings.baseUrl.value).toBe('https://a.example');
    expect(settings.profile.value).toBe('default');
  });
});

test('the other settings are found without reading the API key', () => {
  const env = { RUNCTL_API_KEY_FILE: '/nowhere/key', RUNCTL_BASE_URL: 'https://a.example' };
  const settings = resolveWithoutApiKey({ project: 'x' }, env);
  expect(settings.baseUrl).toMatchObject({ value: 'https://a.example', source: 'RUNCTL_BASE_URL' });
  expect(settings.project.problem?.message).toBe('the project (flag --project) is not a UUID');
  expect(settings).not.toHaveProperty('apiKey');
});

describe('the profile', () => {
  const profiles = { default: {}, a: { baseUrl: 'https://a.example' }, b: { baseUrl: 'https://b.example' } };

  test.each([
    ['the flag before the variable', { profile: 'a' }, { RUNCTL_PROFILE: 'b' }, 'b', 'a', 'flag --profile'],
    ['the flag before the file', { profile: 'a' }, {}, 'b', 'a', 'flag --profile'],
    ['the variable before the file', {}, { RUNCTL_PROFILE: 'a' }, 'b', 'a', 'RUNCTL_PROFILE'],
    ['the file where the variable is empty', {}, { RUNCTL_PROFILE: '' }, 'a', 'a', 'config.json'],
    ['the default at last', {}, {}, undefined, 'default', 'default'],
  ])('is chosen by %s', async (_, flags, env, profile, chosen, source) => {
    const memory = createMemory({ RUNCTL_CONFIG_DIR: withFile({ profile, profiles }), ...env });
    const settings = await resolveSettings(flags, memory);
    expect(settings.profile.value).toBe(chosen);
    expect(await sourceOf('profile', flags, memory)).toContain(source);
    expect(settings.baseUrl.value).toBe(chosen === 'a' ? 'https://a.example' : undefined);
  });

  test.each([
    ['flag --profile', { profile: 'nope' }, {}, {}],
    ['RUNCTL_PROFILE', {}, { RUNCTL_PROFILE: 'nope' }, {}],
    ['config.json', {}, {}, { profile: 'nope' }],
    ['flag --profile', { profile: 'constructor' }, {}, {}],
    ['flag --profile', { profile: '__proto__' }, {}, {}],
  ])('that is not there is refused, named by %s (%#)', async (source, flags, env, top) => {
    const memory = createMemory({ RUNCTL_CONFIG_DIR: withFile({ ...top, profiles }), ...env });
    await expect(resolveSettings(flags, memory)).rejects.toThrow(/there is no profile ".+" \(.*\)/);
    await expect(resolveSettings(flags, memory)).rejects.toThrow(source);
  });

  test('default need not be there', async () => {
    const memory = createMemory({ RUNCTL_CONFIG_DIR: withFile({ profiles: {} }) });
    expect((await resolveSettings({ profile: 'default' }, memory)).profile.value).toBe('default');
  });
});

test.each([
  ['for the base URL stored with it', { baseUrl: 'https://a.example' }, 'https://a.example/v0', {}, 'ignored'],
  ['for any, if none is stored with it', {}, 'https://a.example', {}, 'ignored'],
  ['for no other', { baseUrl: 'https://a.example' }, 'https://b.example', {}, 'honored'],
  [
    'unless a variable says more',
    { baseUrl: 'https://a.example' },
    'https://b.example',
    { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' },
    'ignored',
  ],
])('what a profile says about idempotency keys holds %s', async (_, profile, baseUrl, env, expected) => {
  const settings = await resolve({ flags: { baseUrl }, env, profile: { idempotencyKeys: 'ignored', ...profile } });
  expect(settings.idempotencyKeys.value).toBe(expected);
});

describe('the API key of a profile', () => {
  const apiKey = 'test-key-123';
  const resolveWith = (profile: Record<string, string>, flags: SettingFlags, env = {}) =>
    resolve({ flags, env, profile: { apiKey, ...profile } });

  test.each([
    ['https://a.example', 'https://a.example'],
    ['https://a.example', 'https://A.EXAMPLE:443/v0/'],
    ['https://a.example/gate', 'https://a.example/gate//'],
    ['http://localhost:8080/v0', 'http://localhost:8080'],
  ])('that is stored with %s goes to %s', async (baseUrl, inForce) => {
    expect(need('apiKey', await resolveWith({ baseUrl }, { baseUrl: inForce }))).toBe(apiKey);
    expect(need('apiKey', await resolveWith({ baseUrl }, {}, { RUNCTL_BASE_URL: inForce }))).toBe(apiKey);
    expect(need('apiKey', await resolveWith({ baseUrl }, {}))).toBe(apiKey);
  });

  test.each([
    ['another scheme', 'https://localhost', 'http://localhost'],
    ['another host', 'https://a.example', 'https://b.example'],
    ['a host below it', 'https://a.example', 'https://x.a.example'],
    ['another port', 'https://a.example', 'https://a.example:8443'],
    ['a longer path prefix', 'https://a.example', 'https://a.example/gate'],
    ['another path prefix', 'https://a.example/gate', 'https://a.example/Gate'],
  ])('does not go to %s, and the refusal names both base URLs', async (_, baseUrl, inForce) => {
    for (const [flags, env, source] of [
      [{ baseUrl: inForce }, {}, 'flag --base-url'],
      [{}, { RUNCTL_BASE_URL: inForce }, 'RUNCTL_BASE_URL'],
    ] as const) {
      const settings = await resolveWith({ baseUrl }, flags, env);
      const { value, problem } = settings.apiKey;
      expect([value, problem?.exitCode]).toEqual([undefined, 2]);
      expect(problem?.message).toMatch(/^the API key in profile "default" in /);
      expect(problem?.message.endsWith(` is for ${baseUrl}, so it isn't sent to ${inForce} (${source})`)).toBe(true);
      for (const way of ['--api-key-file', 'RUNCTL_API_KEY', '--profile']) expect(problem?.facts.hint).toContain(way);
      expect(() => need('apiKey', settings)).toThrow(problem);
    }
  });

  test('that has no base URL beside it is sent nowhere', async () => {
    const { problem } = (await resolveWith({}, { baseUrl: 'https://b.example' })).apiKey;
    expect(problem).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/no base URL stored with it.*b\.ex/),
    });
    expect(problem?.facts.hint).toContain('runctl config set baseUrl <url> --profile default');
  });

  test('is sent nowhere if the base URL beside it is refused, which is not quoted', async () => {
    const { problem } = (
      await resolveWith({ baseUrl: 'https://u:pass-word@a.example' }, { baseUrl: 'https://a.example' })
    ).apiKey;
    expect(problem).toMatchObject({ exitCode: 2, message: expect.stringContaining('profile "default"') });
    expect(problem?.message).not.toContain('pass-word');
  });

  test('is refused for no base URL where another API key is in force', async () => {
    const env = { RUNCTL_API_KEY: 'key-of-variable', RUNCTL_BASE_URL: 'https://b.example' };
    expect(need('apiKey', await resolveWith({ baseUrl: 'https://a.example' }, {}, env))).toBe('key-of-variable');
  });
});

describe('the API key', () => {
  test('comes from standard input for `-`', async () => {
    const memory = createMemory({}, 'key-of-pipe\r\n');
    expect((await resolveSettings({ apiKeyFile: '-' }, memory)).apiKey.value).toBe('key-of-pipe');
  });

  test('is asked for where standard input is a terminal', async () => {
    const memory = createMemory();
    Object.assign(memory.stdin(), { isTTY: true });
    memory.stdin().write('key-typed\r');
    expect((await resolveSettings({ apiKeyFile: '-' }, memory)).apiKey.value).toBe('key-typed');
  });

  test('is waited for no longer than until Ctrl-C', async () => {
    const memory = createMemory();
    const resolving = resolveSettings({ apiKeyFile: '-' }, memory);
    memory.interrupt('SIGINT');
    await expect(resolving).rejects.toMatchObject({ exitCode: 130 });
  });

  test('is scrubbed from stderr from then on', async () => {
    const memory = createMemory({ RUNCTL_API_KEY: 'test-key-123\n' });
    await resolveSettings({}, memory);
    expect(memory.secrets.scrub('it is test-key-123!')).toBe('it is [secret]!');
  });

  test.each([
    ['a folder', 'is neither a file nor a pipe', (path: string) => mkdirSync(path)],
    ['larger than 64 KiB', 'is larger than 64 KiB', (path: string) => writeFileSync(path, 'k'.repeat(65_537))],
    ['empty', 'is empty', (path: string) => writeFileSync(path, '\n')],
  ])('in a file that is %s is refused', async (_, why, make) => {
    const path = join(temporaryFolder(), 'key');
    make(path);
    const settings = await resolveSettings({ apiKeyFile: path }, createMemory());
    expect(() => need('apiKey', settings)).toThrow(why);
    expect(() => need('apiKey', settings)).toThrow(why === 'is empty' ? 'flag --api-key-file' : path);
  });

  test.each([
    [0o644, 'chmod 600'],
    [0o600, ''],
  ])('in a config file of mode %o is warned of: %j', async (mode, warning) => {
    const folder = withFile({ profiles: { default: { apiKey: 'test-key-123' } } }, mode);
    const memory = createMemory({ RUNCTL_CONFIG_DIR: folder });
    await resolveSettings({}, { ...memory, reporter: createLogReporter(memory) });
    expect(memory.err().split('\n')).toHaveLength(warning ? 2 : 1);
    expect(memory.err()).toContain(warning);
    expect(memory.err()).not.toContain('test-key-123');
  });
});

test('a key file that is a pipe is read when somebody writes to it, and given up when nobody has for 30 s', async () => {
  const path = join(temporaryFolder(), 'key');
  execFileSync('mkfifo', [path]);
  const clock = createLeapingClock();
  const silent = await resolveSettings({ apiKeyFile: path }, { ...createMemory(), clock });
  expect(() => need('apiKey', silent)).toThrow('nothing was written to it');
  expect(clock.sleptMs()).toBe(30_000);
  // Nobody reads it any more, so what is written later is not lost.
  await vi.waitFor(() => expect(() => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)).toThrow('ENXIO'));
  const resolving = resolveSettings({ apiKeyFile: path }, { ...createMemory(), clock: systemClock });
  await writeFile(path, 'test-key-123\n');
  expect(need('apiKey', await resolving)).toBe('test-key-123');
});
