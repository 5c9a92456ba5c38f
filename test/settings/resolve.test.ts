import { execFileSync } from 'node:child_process';
import { chmodSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/process.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { acceptApiKey } from '../../src/settings/api-key.ts';
import { requiredValue, resolveSettings, resolveWithoutApiKey, type SettingFlags } from '../../src/settings/resolve.ts';
import type { StoredSettingName } from '../../src/settings/table.ts';
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
  ],
  baseUrl: [
    ['flag', 'https://flag.example', 'flag --base-url'],
    ['RUNCTL_BASE_URL', 'https://variable.example', 'RUNCTL_BASE_URL'],
    ['profile', 'https://profile.example', 'profile "default" in'],
  ],
  project: [
    ['flag', uuid('a'), 'flag --project'],
    ['RUNCTL_PROJECT', uuid('b'), 'RUNCTL_PROJECT'],
    ['profile', uuid('c'), 'profile "default" in'],
  ],
  requestTimeout: [
    ['flag', '1s', 'flag --request-timeout'],
    ['RUNCTL_REQUEST_TIMEOUT', '2s', 'RUNCTL_REQUEST_TIMEOUT'],
    ['profile', '3s', 'profile "default" in'],
  ],
  idempotencyKeys: [
    ['RUNCTL_IDEMPOTENCY_KEYS', 'ignored', 'RUNCTL_IDEMPOTENCY_KEYS'],
    ['profile', 'honored', 'profile "default" in'],
  ],
} as const satisfies Record<Exclude<StoredSettingName, 'apiKeyCommand'>, readonly Source[]>;

type Key = keyof typeof sources;
type Source = readonly [from: string, value: string, name: string];

interface Inputs {
  flags?: SettingFlags;
  env?: Record<string, string>;
  profile?: Record<string, string>;
}

function withConfig(config: object, mode = 0o600): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  chmodSync(join(folder, 'config.json'), mode);
  return folder;
}

function resolve({ flags = {}, env = {}, profile = {} }: Inputs) {
  const RUNCTL_CONFIG_DIR = withConfig({ profiles: { default: profile } });
  return resolveSettings(flags, createMemory({ RUNCTL_CONFIG_DIR, ...env }));
}

/** What gives a setting from this source. */
function inputsOf(key: Key, [from, value]: Source): Required<Inputs> {
  const isFile = from.endsWith('_FILE') || (key === 'apiKey' && from === 'flag');
  const text = isFile ? join(temporaryFolder(), 'key') : value;
  if (isFile) writeFileSync(text, `${value}\n`);
  const inputs = { flags: {}, env: {}, profile: {} };
  if (from === 'flag') return { ...inputs, flags: { [key === 'apiKey' ? 'apiKeyFile' : key]: text } };
  return from === 'profile' ? { ...inputs, profile: { [key]: text } } : { ...inputs, env: { [from]: text } };
}

const keys = Object.keys(sources) as Key[];
const pairs = keys.flatMap((key) => {
  const all: readonly Source[] = sources[key];
  return all.flatMap((stronger, at) =>
    [undefined, ...all.slice(at + 1)].map((weaker) => ({ key, stronger, weaker, than: weaker?.[0] ?? 'nothing' })),
  );
});

describe('a setting', () => {
  test.each(pairs)('$key from $stronger.0 is stronger than from $than, or both are refused', async (pair) => {
    const { key, stronger, weaker } = pair;
    const one = inputsOf(key, stronger);
    const other: Inputs = weaker ? inputsOf(key, weaker) : {};
    const part = (name: keyof Inputs) => ({ ...one[name], ...other[name] });
    const found = (await resolve({ flags: part('flags'), env: part('env'), profile: part('profile') }))[key];
    const areBothVariables = [stronger, weaker].every((source) => source?.[0].startsWith('RUNCTL_'));
    if (areBothVariables) return expect(found.problem?.message).toContain(`${stronger[0]} and ${weaker?.[0]}`);
    expect([found.text, found.source]).toEqual([stronger[1], expect.stringContaining(stronger[2])]);
  });

  test.each([
    ['RUNCTL_API_KEY', 'apiKey'],
    ['RUNCTL_API_KEY_FILE', 'apiKey'],
    ['RUNCTL_BASE_URL', 'baseUrl'],
    ['RUNCTL_PROJECT', 'project'],
    ['RUNCTL_REQUEST_TIMEOUT', 'requestTimeout'],
  ] as const)('is not set by an empty %s', async (variable, key) => {
    const profile = { apiKey: 'kkkk', baseUrl: 'https://p.example', project: uuid('c'), requestTimeout: '3s' };
    const settings = await resolve({ env: { [variable]: '' }, profile });
    expect(settings[key].text).toBe(profile[key]);
  });

  test('has a default, and needs no config file and no home', async () => {
    const settings = await resolveSettings({}, createMemory());
    const { profile, requestTimeout, idempotencyKeys } = settings;
    const defaults = [profile, requestTimeout, idempotencyKeys].map(({ text, source }) => `${text} by ${source}`);
    expect(defaults).toEqual(['default by default', '30s by default', 'honored by default']);
  });

  test('stops only the commands that need it if it is wrong', async () => {
    const env = { RUNCTL_PROJECT: 'x', RUNCTL_BASE_URL: 'https://a.example', RUNCTL_API_KEY_FILE: '/nowhere/key' };
    const settings = await resolve({ env });
    expect(requiredValue('baseUrl', settings)).toBe('https://a.example');
    expect(() => requiredValue('project', settings)).toThrow('RUNCTL_PROJECT');
    expect(() => requiredValue('apiKey', settings)).toThrow(/\/nowhere\/key .*RUNCTL_API_KEY_FILE/);
  });

  test.each([
    ['apiKey', ['--api-key-file <path>', 'RUNCTL_API_KEY', '`runctl config`']],
    ['baseUrl', ['--base-url <url>', 'RUNCTL_BASE_URL', '`runctl config`']],
    ['project', ['--project <uuid>', 'RUNCTL_PROJECT', '`runctl config`']],
  ] as const)('%s that is missing is refused with the ways to give it', async (key, ways) => {
    const settings = await resolve({});
    for (const way of ways) {
      const facts = expect.objectContaining({ name: 'usage', hint: expect.stringContaining(way) });
      expect(() => requiredValue(key, settings)).toThrow(expect.objectContaining({ facts }));
    }
  });

  test('is resolved without reading the API key, if it is another one', () => {
    const env = { RUNCTL_API_KEY_FILE: '/nowhere/key', RUNCTL_BASE_URL: 'https://a.example' };
    const settings = resolveWithoutApiKey({ project: 'x' }, env);
    expect(settings.baseUrl).toMatchObject({ value: 'https://a.example', source: 'RUNCTL_BASE_URL' });
    expect(settings.project.problem?.message).toContain('flag --project');
    expect(settings).not.toHaveProperty('apiKey');
  });
});

describe('the profile', () => {
  const profiles = { default: {}, a: { baseUrl: 'https://a.example' }, b: { baseUrl: 'https://b.example' } };
  const inProfile = (flags: SettingFlags, env: Record<string, string>, top: object) =>
    resolveSettings(flags, createMemory({ RUNCTL_CONFIG_DIR: withConfig({ ...top, profiles }), ...env }));

  test.each([
    [
      'the flag before the variable',
      { profile: 'a' },
      { RUNCTL_PROFILE: 'b' },
      { profile: 'b' },
      'a',
      'flag --profile',
    ],
    ['the flag before the file', { profile: 'a' }, {}, { profile: 'b' }, 'a', 'flag --profile'],
    ['the variable before the file', {}, { RUNCTL_PROFILE: 'a' }, { profile: 'b' }, 'a', 'RUNCTL_PROFILE'],
    ['the file if the variable is empty', {}, { RUNCTL_PROFILE: '' }, { profile: 'a' }, 'a', 'config.json'],
    ['the default at last', {}, {}, {}, 'default', 'default'],
  ])('is chosen by %s', async (_, flags, env, top, chosen, source) => {
    const { profile, baseUrl } = await inProfile(flags, env, top);
    expect([profile.value, profile.source]).toEqual([chosen, expect.stringContaining(source)]);
    expect(baseUrl.value).toBe(chosen === 'a' ? 'https://a.example' : undefined);
  });

  test.each([
    ['flag --profile', { profile: 'nope' }, {}, {}],
    ['RUNCTL_PROFILE', {}, { RUNCTL_PROFILE: 'nope' }, {}],
    ['config.json', {}, {}, { profile: 'nope' }],
    ['flag --profile', { profile: 'constructor' }, {}, {}],
    ['flag --profile', { profile: '__proto__' }, {}, {}],
  ])('is refused if it does not exist, and the message names its source: %s (%#)', async (source, flags, env, top) => {
    const problem = { facts: { name: 'usage', message: expect.stringContaining(source) } };
    await expect(inProfile(flags, env, top)).rejects.toMatchObject(problem);
  });

  test('may be missing if it is `default`', async () => {
    const memory = createMemory({ RUNCTL_CONFIG_DIR: withConfig({ profiles: {} }) });
    expect((await resolveSettings({ profile: 'default' }, memory)).profile.value).toBe('default');
  });
});

const [here, there] = ['https://a.example', 'https://b.example'];

test.each([
  ['for the base URL stored with it', { baseUrl: here }, `${here}/v0`, {}, 'ignored'],
  ['for any, if none is stored with it', {}, here, {}, 'ignored'],
  ['for no other', { baseUrl: here }, there, {}, 'honored'],
  ['unless a variable says more', { baseUrl: here }, there, { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' }, 'ignored'],
])('what a profile says about idempotency keys is used %s', async (_, profile, baseUrl, env, expected) => {
  const settings = await resolve({ flags: { baseUrl }, env, profile: { idempotencyKeys: 'ignored', ...profile } });
  expect(settings.idempotencyKeys.value).toBe(expected);
});

describe('the API key of a profile', () => {
  const resolveWith = (profile: object, flags: SettingFlags, env = {}) =>
    resolve({ flags, env, profile: { apiKey: 'test-key-123', ...profile } });

  test.each([
    [here, 'https://A.EXAMPLE:443/v0/'],
    [`${here}/gate`, `${here}/gate//`],
    ['http://localhost:8080/v0', 'http://localhost:8080'],
  ])('stored with %s is sent to %s', async (baseUrl, inForce) => {
    expect(requiredValue('apiKey', await resolveWith({ baseUrl }, {}))).toBe('test-key-123');
    expect(requiredValue('apiKey', await resolveWith({ baseUrl }, { baseUrl: inForce }))).toBe('test-key-123');
  });

  test.each([
    ['another scheme', 'https://localhost', 'http://localhost'],
    ['another host', here, there],
    ['a host below it', here, 'https://x.a.example'],
    ['another port', here, `${here}:8443`],
    ['a longer path prefix', here, `${here}/gate`],
    ['another path prefix', `${here}/gate`, `${here}/Gate`],
  ])('is not sent to %s, and the message names both base URLs', async (_, baseUrl, inForce) => {
    for (const [flags, env, source] of [
      [{ baseUrl: inForce }, {}, 'flag --base-url'],
      [{}, { RUNCTL_BASE_URL: inForce }, 'RUNCTL_BASE_URL'],
    ] as const) {
      const settings = await resolveWith({ baseUrl }, flags, env);
      const { value, problem } = settings.apiKey;
      expect([value, problem?.facts.name]).toEqual([undefined, 'usage']);
      for (const name of ['profile "default"', `for ${baseUrl},`, `to ${inForce} (${source})`]) {
        expect(problem?.message).toContain(name);
      }
      for (const way of ['--api-key-file', 'RUNCTL_API_KEY', '--profile']) expect(problem?.facts.hint).toContain(way);
      expect(() => requiredValue('apiKey', settings)).toThrow(problem);
    }
  });

  test('is sent nowhere if no base URL is stored with it, or one that is refused, which is not quoted', async () => {
    const without = (await resolveWith({}, { baseUrl: there })).apiKey.problem;
    expect(without).toMatchObject({ facts: { name: 'usage', message: expect.stringContaining(there) } });
    expect(without?.facts.hint).toContain('runctl config set baseUrl <url>`');
    const refused = (await resolveWith({ baseUrl: 'https://u:pass-word@a.example' }, { baseUrl: here })).apiKey.problem;
    expect(refused).toMatchObject({ facts: { name: 'usage', message: expect.stringContaining('profile "default"') } });
    expect(refused?.message).not.toContain('pass-word');
  });

  test('does not matter for any base URL if another API key is used', async () => {
    const env = { RUNCTL_API_KEY: 'key-of-variable', RUNCTL_BASE_URL: there };
    expect(requiredValue('apiKey', await resolveWith({ baseUrl: here }, {}, env))).toBe('key-of-variable');
  });

  test.each([
    [0o644, ['exposed_api_key']],
    [0o600, []],
  ])('in a file of mode %o causes the warnings %j', async (mode, warnings) => {
    const folder = withConfig({ profiles: { default: { apiKey: 'test-key-123' } } }, mode);
    const events: RunEvent[] = [];
    const reporter = { emit: (event: RunEvent) => void events.push(event), stop() {} };
    await resolveSettings({}, { ...createMemory({ RUNCTL_CONFIG_DIR: folder }), reporter });
    expect(events).toMatchObject(warnings.map((name) => ({ event: 'warning', name })));
    expect(JSON.stringify(events)).toMatch(mode === 0o600 ? /^\[\]$/ : /chmod 600/);
    expect(JSON.stringify(events)).not.toContain('test-key-123');
  });
});

describe('the API key', () => {
  test('comes from standard input for `-`, and is asked for at a terminal', async () => {
    const piped = createMemory({}, 'key-of-pipe\r\n');
    expect((await resolveSettings({ apiKeyFile: '-' }, piped)).apiKey.value).toBe('key-of-pipe');
    const terminal = createMemory();
    Object.assign(terminal.stdin(), { isTTY: true });
    terminal.stdin().write('key-typed\r');
    expect((await resolveSettings({ apiKeyFile: '-' }, terminal)).apiKey.value).toBe('key-typed');
  });

  test('is what the command of a variable prints, also if the profile has one', async () => {
    const { apiKey } = await resolve({ env: { RUNCTL_API_KEY_COMMAND: 'p x' }, profile: { apiKey: 'test-key-123' } });
    expect([apiKey.command, apiKey.value]).toEqual(['p x', undefined]);
  });

  test('is not waited for after Ctrl-C', async () => {
    const memory = createMemory();
    const resolving = resolveSettings({ apiKeyFile: '-' }, memory);
    memory.interrupt('SIGINT');
    await expect(resolving).rejects.toMatchObject({ facts: { name: 'interrupted' } });
  });

  test.each(['test-key-123', 'test-key-123\r\n', ' test-key-123', 'test-key-123\u2026'])(
    '%j is protected in output whether it is accepted or refused',
    (text) => {
      const memory = createMemory();
      acceptApiKey(text, 'test', memory);
      expect(memory.secrets.scrub(`it is ${text.trim()}!`)).toBe('it is [secret]!');
    },
  );

  test.each([
    ['a folder', 'neither a file nor a pipe', (path: string) => mkdirSync(path)],
    ['larger than 64 KiB', '64 KiB', (path: string) => writeFileSync(path, 'k'.repeat(65_537))],
    ['empty', 'flag --api-key-file', (path: string) => writeFileSync(path, '\n')],
  ])('is refused if its file is %s', async (_, why, make) => {
    const path = join(temporaryFolder(), 'key');
    make(path);
    const settings = await resolveSettings({ apiKeyFile: path }, createMemory());
    expect(() => requiredValue('apiKey', settings)).toThrow(why);
  });

  test('is read from a pipe as soon as it is written, and not waited for after 30 s', async () => {
    const path = join(temporaryFolder(), 'key');
    execFileSync('mkfifo', [path]);
    const clock = createLeapingClock();
    const silent = await resolveSettings({ apiKeyFile: path }, { ...createMemory(), clock });
    expect(() => requiredValue('apiKey', silent)).toThrow('pipe');
    expect(clock.sleptMs()).toBe(30_000);
    // Nobody reads it any more, so what is written later is not lost.
    await vi.waitFor(() => expect(() => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)).toThrow('ENXIO'));
    const resolving = resolveSettings({ apiKeyFile: path }, { ...createMemory(), clock: systemClock });
    await writeFile(path, 'test-key-123\n');
    expect(requiredValue('apiKey', await resolving)).toBe('test-key-123');
    // Nobody writes it a second time, so a refusal doesn't wait for that.
    expect((await resolving).apiKey.reread).toBeUndefined();
  });
});
