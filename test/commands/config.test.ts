import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configGet, configList, configPath } from '../../src/commands/config.ts';
import { configSet, configUnset } from '../../src/commands/config-change.ts';
import type { SettingFlags } from '../../src/config/settings.ts';
import type { Problem } from '../../src/problems/problem.ts';
import { printResult } from '../../src/render/output.ts';
import { createReporter } from '../../src/render/reporter.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const project = '123e4567-e89b-42d3-a456-426614174000';

/** A folder of settings; every command runs in a context of its own. */
function createConfig(config?: unknown, env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const path = join(folder, 'config.json');
  if (config !== undefined) writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  const openMemory = (input?: string) => {
    const memory = createMemory({ RUNCTL_CONFIG_DIR: folder, ...env }, input);
    return Object.assign(memory, { reporter: createReporter({ quiet: true }, memory) });
  };
  return {
    path,
    content: () => JSON.parse(readFileSync(path, 'utf8')),
    async set(
      key: string,
      value?: string,
      options: SettingFlags & { json?: boolean; quiet?: boolean } = {},
      input?: string,
    ) {
      const memory = openMemory(input);
      printResult(await configSet(key, value, options, memory), options, memory);
      return memory;
    },
    async unset(key: string, options: SettingFlags & { json?: boolean } = {}) {
      const memory = openMemory();
      printResult(await configUnset(key, options, memory), options, memory);
      return memory;
    },
    async get(key: string, options: SettingFlags & { json?: boolean } = {}) {
      const memory = openMemory();
      printResult(await configGet(key, options, memory), options, memory);
      return memory.out();
    },
    async notesOfList() {
      const memory = openMemory();
      printResult(await configList({}, memory), {}, memory);
      return memory.err();
    },
    async list(options: SettingFlags & { json?: boolean } = {}) {
      const memory = openMemory();
      printResult(await configList(options, memory), options, memory);
      return memory.out();
    },
  };
}

const problemOf = (command: Promise<unknown>) =>
  command.then(
    () => undefined,
    (error: Problem) => error,
  );

test('a stored setting that the environment hides is said to be hidden', async () => {
  const { set } = createConfig(undefined, { RUNCTL_PROJECT: project });
  expect((await set('project', project)).err()).toContain('RUNCTL_PROJECT in the environment overrides');
  expect((await set('project', project, { quiet: true })).err()).toContain(
    'RUNCTL_PROJECT in the environment overrides',
  );
  const { runctl } = JSON.parse((await set('project', project, { json: true })).out());
  expect(runctl.warnings).toMatchObject([{ name: 'setting_overridden' }]);
  expect((await set('baseUrl', 'https://a.example')).err()).not.toContain('overrides');
});

test.each<[string, Record<string, string>, Record<string, string>, string]>([
  ['the variable', {}, { RUNCTL_API_KEY: 'sk-live-0123' }, 'RUNCTL_API_KEY in the environment overrides the stored'],
  ['the variable with a command', {}, { RUNCTL_API_KEY_COMMAND: 'b' }, 'RUNCTL_API_KEY_COMMAND in the environment'],
  ['the stored API key', { apiKey: 'sk-live-0123' }, {}, 'the stored apiKey overrides the stored apiKeyCommand'],
])('a stored apiKeyCommand that %s overrides is said to be overridden', async (_, profile, env, note) => {
  const { set } = createConfig({ profiles: { default: { baseUrl: 'https://a.example', ...profile } } }, env);
  expect((await set('apiKeyCommand', 'a')).err()).toContain(note);
});

test("a setting that was stored is said to be stored where the file can't be read again", async () => {
  const { path } = createConfig({});
  const env = {
    get RUNCTL_CONFIG_DIR() {
      const isStored = readFileSync(path, 'utf8').includes(project);
      if (isStored) writeFileSync(path, 'broken by another program meanwhile');
      return dirname(path);
    },
  };
  const memory = { ...createMemory(), env };
  printResult(await configSet('project', project, {}, memory), {}, memory);
  expect(memory.err()).toBe(`Stored project for profile "default" in ${path}.\n`);
});

test('a stored apiKeyCommand that is in force is stored without a note', async () => {
  const { set } = createConfig({ profiles: { default: { baseUrl: 'https://a.example' } } });
  expect((await set('apiKeyCommand', 'a')).err()).not.toContain('overrides');
});

describe('config set', () => {
  test.each([
    ['baseUrl', 'https://API.example.com/v0/', 'https://api.example.com'],
    ['project', project.toUpperCase(), project],
    ['requestTimeout', '1m30s', '1m30s'],
  ])('stores %s %s as %s', async (key, value, stored) => {
    const config = createConfig();
    const { err, out } = await config.set(key, value);
    expect(config.content()).toEqual({ profiles: { default: { [key]: stored } } });
    expect(statSync(config.path).mode & 0o777).toBe(0o600);
    expect(err()).toBe(`Stored ${key} for profile "default" in ${config.path}.\n`);
    expect(out()).toBe('');
  });

  test.each([
    ['the flag', { profile: 'team.prod' }, {}, undefined, 'team.prod'],
    ['the variable', {}, { RUNCTL_PROFILE: 'prod' }, undefined, 'prod'],
    ['the file', {}, {}, 'prod', 'prod'],
  ])('writes to the profile that %s names, there or not', async (_, options, env, top, profile) => {
    const config = createConfig({ profile: top, note: 1, profiles: { other: { project, note: 2 } } }, env);
    await config.set('requestTimeout', '5s', options);
    expect(config.content()).toEqual({
      ...(top && { profile: top }),
      note: 1,
      profiles: { other: { project, note: 2 }, [profile]: { requestTimeout: '5s' } },
    });
  });

  test('keeps the other settings of the profile', async () => {
    const config = createConfig({ profiles: { default: { project, note: 2, requestTimeout: '5s' } } });
    await config.set('requestTimeout', '6s');
    expect(config.content()).toEqual({ profiles: { default: { project, note: 2, requestTimeout: '6s' } } });
  });

  test('takes the key from a pipe', async () => {
    const config = createConfig();
    await config.set('apiKey', undefined, {}, 'test-key-123\n');
    expect(config.content().profiles.default.apiKey).toBe('test-key-123');
  });

  test('asks for the key on a terminal', async () => {
    const folder = temporaryFolder();
    const memory = createMemory({ RUNCTL_CONFIG_DIR: folder });
    Object.assign(memory.stdin(), { isTTY: true });
    memory.stdin().write('test-key-123\r');
    await configSet('apiKey', undefined, {}, memory);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toContain('test-key-123');
    expect(memory.err()).toContain('API key: ');
    expect(memory.err() + memory.out()).not.toContain('test-key-123');
  });

  test.each([
    ['apiKey', 'test-key-123', 'every user of this machine'],
    ['baseUrl', 'http://api.example.com', 'must begin with https://'],
    ['baseUrl', undefined, 'no value was given for baseUrl'],
    ['project', 'nightly', 'is not a UUID'],
    ['requestTimeout', '30', 'is not a duration'],
    ['requestTimeout', '1h', 'is not between'],
    ['profile', 'prod', 'there is no profile "prod"'],
    ['profile', undefined, 'no value was given for profile'],
    ['theme', 'dark', 'there is no setting "theme"'],
    ['apiKey=test-key-123', undefined, 'two arguments'],
    ['theme=test-key-123', undefined, 'there is no setting "theme"'],
  ])('refuses %s %s and writes nothing', async (key, value, why) => {
    const config = createConfig();
    const problem = await problemOf(config.set(key, value));
    expect(problem).toMatchObject({ exitCode: 2, message: expect.stringContaining(why) });
    expect(problem?.message + String(problem?.facts.hint)).not.toContain('test-key-123');
    expect(existsSync(config.path)).toBe(false);
  });

  test.each(['', 'a b', '-x', 'a\u001b'])('refuses to make the profile %j', async (profile) => {
    const problem = await problemOf(createConfig().set('project', project, { profile }));
    expect(problem).toMatchObject({ exitCode: 2, message: expect.stringContaining('the profile name') });
  });

  test('asks nobody to type an API key on the command line', async () => {
    expect((await problemOf(createConfig().set('API_KEY=x', undefined)))?.facts.hint).toBe(
      '`runctl config set apiKey`',
    );
  });

  test('reads the API key from standard input for `-`, as `--api-key-file` does', async () => {
    const config = createConfig();
    await config.set('apiKey', '-', {}, 'test-key-123\n');
    expect(config.content()).toEqual({ profiles: { default: { apiKey: 'test-key-123' } } });
  });

  test('lists the settings where there is none of that name', async () => {
    const problem = await problemOf(createConfig().set('no-such', 'x'));
    expect(problem?.facts.hint).toBe(
      'settings: apiKey, apiKeyCommand, baseUrl, project, profile, requestTimeout, idempotencyKeys',
    );
  });

  test('takes the name of a setting that is typed like its flag', async () => {
    const config = createConfig();
    await config.set('request-timeout', '5s');
    expect(config.content()).toEqual({ profiles: { default: { requestTimeout: '5s' } } });
  });

  test('chooses a profile that is there, or the default', async () => {
    const config = createConfig({ profiles: { prod: {} } });
    await config.set('profile', 'prod');
    expect(config.content()).toEqual({ profile: 'prod', profiles: { prod: {} } });
    await config.set('profile', 'default');
    expect(config.content().profile).toBe('default');
  });

  test('leaves a broken file alone', async () => {
    const config = createConfig();
    writeFileSync(config.path, '{ "profiles": ');
    expect(await problemOf(config.set('project', project))).toMatchObject({ exitCode: 2 });
    expect(readFileSync(config.path, 'utf8')).toBe('{ "profiles": ');
  });

  test('without a home says what to set', async () => {
    const problem = await problemOf(configSet('project', project, {}, createMemory()));
    expect(problem?.facts.hint).toContain('RUNCTL_CONFIG_DIR');
  });
});

describe('config unset', () => {
  test('removes a setting of a profile and nothing else', async () => {
    const config = createConfig({ profiles: { a: { project, note: 1 }, default: { project } } });
    await config.unset('project', { profile: 'a' });
    expect(config.content()).toEqual({ profiles: { a: { note: 1 }, default: { project } } });
  });

  test('removes whatever the profile holds, also what is no setting', async () => {
    const config = createConfig({ profiles: { default: { project, onExit: 'mail' } } });
    await config.unset('onExit');
    expect(config.content()).toEqual({ profiles: { default: { project } } });
    expect(await problemOf(config.unset('onExit'))).toMatchObject({ facts: { name: 'usage' } });
  });

  test('removes a profile in force that does not exist', async () => {
    const config = createConfig({ profile: 'gone' });
    await config.unset('profile');
    expect(config.content()).toEqual({});
  });

  test('removes the profile in force, and keeps the profiles', async () => {
    const profiles = { a: { project }, default: { project } };
    const config = createConfig({ profile: 'a', profiles });
    await config.unset('profile');
    expect(config.content()).toEqual({ profiles });
  });

  test('of what is not stored says so and writes nothing', async () => {
    const config = createConfig();
    const { err } = await config.unset('project');
    expect(err()).toContain('project was not stored');
    expect(existsSync(config.path)).toBe(false);
  });
});

describe('config get', () => {
  test.each([
    ['apiKey', '****-123\n'],
    ['baseUrl', 'https://a.example\n'],
    ['requestTimeout', '30s\n'],
    ['profile', 'default\n'],
  ])('prints %s as %j', async (key, printed) => {
    const config = createConfig({ profiles: { default: { apiKey: 'test-key-123', baseUrl: 'https://a.example' } } });
    expect(await config.get(key)).toBe(printed);
  });

  test('prints one document with --json', async () => {
    const config = createConfig(undefined, { RUNCTL_PROJECT: project });
    expect(JSON.parse(await config.get('project', { json: true }))).toMatchObject({
      runctl: { config: { project: { value: project, source: 'RUNCTL_PROJECT' } } },
    });
  });

  test('of a setting that is not set ends with 2 and the way to set it', async () => {
    const problem = await problemOf(createConfig().get('project'));
    expect(problem).toMatchObject({ exitCode: 2, message: 'project is not set' });
    expect(problem?.facts.hint).toContain('runctl config set project <value>');
  });
});

describe('config list', () => {
  test('show every setting and where it comes from', async () => {
    const config = createConfig(
      { profiles: { a: { apiKey: 'test-key-123' } } },
      { RUNCTL_PROFILE: 'a', RUNCTL_STATE_DIR: '/state', RUNCTL_PROJECT: 'x' },
    );
    expect(await config.list({ requestTimeout: '5s' })).toBe(
      [
        'apiKey           ****-123 (profile "a")',
        'apiKeyCommand    not set',
        'baseUrl          not set',
        'project          refused: the project (RUNCTL_PROJECT) is not a UUID',
        'requestTimeout   5s (flag --request-timeout)',
        'idempotencyKeys  honored (default)',
        'profile          a (RUNCTL_PROFILE)',
        `configFolder     ${join(config.path, '..')} (RUNCTL_CONFIG_DIR)`,
        'stateFolder      /state (RUNCTL_STATE_DIR)',
        '',
      ].join('\n'),
    );
  });

  test('names the other profiles beside it', async () => {
    const config = createConfig({ profiles: { default: {}, staging: {}, prod: {} } }, { RUNCTL_PROFILE: 'staging' });
    expect(await config.notesOfList()).toContain('Other profiles: default, prod');
  });

  test('is one document with --json', async () => {
    const text = await createConfig(undefined, { RUNCTL_PROJECT: 'x' }).list({ json: true });
    const document = JSON.parse(text).runctl.config;
    expect(document.baseUrl).toEqual({ value: null, source: null });
    expect(document.requestTimeout).toEqual({ value: '30s', source: 'default' });
    expect(document.project).toMatchObject({ value: null, source: 'RUNCTL_PROJECT', problem: expect.any(String) });
  });
});

test('config path prints the path of the file and the folder of the journal, whether or not they are there', async () => {
  const memory = createMemory({ HOME: '/home/somebody' });
  printResult(await configPath(memory), {}, memory);
  const [config, journal] = ['/home/somebody/.config/runctl/config.json', '/home/somebody/.local/state/runctl'];
  expect(memory.out()).toBe(`${config}\n${journal}\n`);
  expect((await configPath(memory)).documents?.[0]?.json.runctl).toMatchObject({ config: { path: config, journal } });
});

describe('the API key', () => {
  // Long enough for its last four characters not to be the whole of it, and unlike any word of ours.
  const key = fc
    .tuple(fc.stringMatching(/^[!-~]{3}[\dA-Z]{12,30}$/), fc.constantFrom('', '\n', '\u0007', '\u2026'))
    .map((parts) => parts.join(''));

  test('is in no output of any command, however it is given', async () => {
    await fc.assert(
      fc.asyncProperty(key, fc.constantFrom('pipe', 'argument', 'variable', 'file', 'url'), async (text, way) => {
        const config = createConfig(
          undefined,
          way === 'variable'
            ? { RUNCTL_API_KEY: text }
            : way === 'url'
              ? { RUNCTL_BASE_URL: `https://${encodeURIComponent(text)}@x` }
              : {},
        );
        if (way === 'file') writeFileSync(config.path, `{"profiles":{"default":{"apiKey":${JSON.stringify(text)}`);
        const memory = createMemory({ RUNCTL_CONFIG_DIR: join(config.path, '..') }, text);
        const said: string[] = [];
        const hear = async (command: Promise<unknown>) => {
          const end = await command.then(String, (error: Problem) => JSON.stringify(error) + error.stack);
          said.push(end);
        };
        await hear(configSet('apiKey', way === 'argument' ? text : undefined, {}, memory));
        await hear(config.get('apiKey'));
        await hear(config.get('apiKey', { json: true }));
        await hear(config.get('baseUrl'));
        await hear(config.list());
        await hear(config.list({ json: true }));
        await hear(config.unset('apiKey'));
        said.push(memory.out(), memory.err());
        // The part that no quoting changes.
        expect(said.join('\n')).not.toContain(text.slice(3, 11));
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
