// `runctl config get|set|unset|list|path`: what is in the file afterwards, and what is shown of it.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../helpers/property-runs.ts';
import { type ProgramOptions, runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const project = '123e4567-e89b-42d3-a456-426614174000';
const apiKey = 'test-key-123';

/** A folder of settings. `run` types a command behind `runctl config`. */
function createConfig(config?: unknown, env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const path = join(folder, 'config.json');
  if (config !== undefined) writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return {
    path,
    content: () => JSON.parse(readFileSync(path, 'utf8')),
    run(line: string | string[], options: ProgramOptions = {}) {
      const words = typeof line === 'string' ? line.split(' ') : line;
      return runProgram(['config', ...words], { env: { RUNCTL_CONFIG_DIR: folder, ...env }, ...options });
    },
  };
}

const profiles = (profile: object) => ({ profiles: { default: profile } });

describe('config set', () => {
  test.each([
    ['baseUrl', 'https://API.example.com/v0/', 'https://api.example.com'],
    ['project', project.toUpperCase(), project],
    ['requestTimeout', '1m30s', '1m30s'],
    ['idempotencyKeys', 'ignored', 'ignored'],
  ])('stores %s %s as %s, for the user alone, and says where', async (key, value, stored) => {
    const { run, path, content } = createConfig();
    expect(await run(['set', key, value])).toMatchObject({
      ...{ code: 0, stdout: '' },
      stderr: expect.stringMatching(new RegExp(`${key}.*"default".*${path}`)),
    });
    expect([content(), statSync(path).mode & 0o777]).toEqual([profiles({ [key]: stored }), 0o600]);
  });

  test.each([
    ['the flag', ' --profile team.prod', {}, undefined, 'team.prod'],
    ['the variable', '', { RUNCTL_PROFILE: 'prod' }, undefined, 'prod'],
    ['the file', '', {}, 'prod', 'prod'],
  ])(
    'writes to the profile that %s names, whether or not it exists, and changes nothing else',
    async (_, flag, env, top, name) => {
      const others = { other: { project, note: 2 }, prod: { project } };
      const { run, content } = createConfig({ profile: top, note: 1, profiles: others }, env);
      await run(`set requestTimeout 5s${flag}`);
      const profile = { ...(name === 'prod' && others.prod), requestTimeout: '5s' };
      expect(content()).toEqual({ ...(top && { profile: top }), note: 1, profiles: { ...others, [name]: profile } });
    },
  );

  test.each(['set apiKey', 'set apiKey -'])('takes the API key from a pipe: %s', async (line) => {
    const { run, content } = createConfig();
    await run(line, { input: `${apiKey}\n` });
    expect(content()).toEqual(profiles({ apiKey }));
  });

  test('asks for the API key on a terminal, and does not show it', async () => {
    const { run, content } = createConfig();
    const keyboard = Object.assign(new PassThrough(), { isTTY: true });
    const screen = new ScreenStream(new Terminal({ allowProposedApi: true }));
    keyboard.write(`${apiKey}\r`);
    await run('set apiKey', { input: keyboard, screen });
    expect([content(), screen.written]).toEqual([profiles({ apiKey }), expect.stringContaining('API key: ')]);
    expect(screen.written).not.toContain(apiKey);
  });

  test.each([
    [['apiKey', apiKey], /runctl config set apiKey/],
    [[`API_KEY=${apiKey}`], /runctl config set apiKey$/m],
    [['theme', 'dark'], /apiKey, apiKeyCommand, baseUrl, project, profile, requestTimeout, idempotencyKeys/],
    [['profile', 'prod'], /"prod"/],
    [['profile'], /runctl config set profile <value>/],
    [['project', project, '--profile='], /--profile/],
    ...['a b', '-x', 'a\u001b'].map((name): [string[], RegExp] => [
      ['project', project, `--profile=${name}`],
      /profile name/,
    ]),
  ])('%j is refused, and nothing is written', async (words, says) => {
    const { run, path } = createConfig();
    const { code, stderr } = await run(['set', ...words]);
    expect([code, stderr, existsSync(path)]).toEqual([2, expect.stringMatching(says), false]);
    expect(stderr).not.toContain(apiKey);
  });

  test('accepts the name of a setting that is typed like its flag', async () => {
    const { run, content } = createConfig();
    await run('set request-timeout 5s');
    expect(content()).toEqual(profiles({ requestTimeout: '5s' }));
  });

  test('chooses a profile that exists, or the default', async () => {
    const { run, content } = createConfig({ profiles: { prod: {} } });
    for (const name of ['prod', 'default']) {
      await run(`set profile ${name}`);
      expect(content()).toEqual({ profile: name, profiles: { prod: {} } });
    }
  });

  test('does not change a broken file', async () => {
    const { run, path } = createConfig();
    writeFileSync(path, '{ "profiles": ');
    expect((await run(`set project ${project}`)).code).toBe(2);
    expect(readFileSync(path, 'utf8')).toBe('{ "profiles": ');
  });

  test('says what to set if there is no home folder', async () => {
    const { code, stderr } = await createConfig().run(`set project ${project}`, { env: {} });
    expect([code, stderr]).toEqual([2, expect.stringContaining('RUNCTL_CONFIG_DIR')]);
  });

  test("says that a setting was stored even if the file can't be read again", async () => {
    const { run, path } = createConfig({});
    const env = {
      get RUNCTL_CONFIG_DIR() {
        if (readFileSync(path, 'utf8').includes(project)) writeFileSync(path, 'broken by another program meanwhile');
        return dirname(path);
      },
    };
    const { code, stderr } = await run(`set project ${project}`, { env });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Stored project .*\n$/)]);
  });

  const url = { baseUrl: 'https://a.example' };
  const key = { RUNCTL_API_KEY: 'sk-live-0123' };
  const other = { RUNCTL_API_KEY_COMMAND: 'b' };
  test.each<[string, object, Record<string, string>, RegExp | undefined]>([
    [`project ${project}`, {}, { RUNCTL_PROJECT: project }, /RUNCTL_PROJECT .*project/],
    [`project ${project} --quiet`, {}, { RUNCTL_PROJECT: project }, /RUNCTL_PROJECT .*project/],
    ['baseUrl https://a.example', {}, { RUNCTL_PROJECT: project }, undefined],
    ['apiKeyCommand a', url, {}, undefined],
    ['apiKeyCommand a', url, key, /RUNCTL_API_KEY .*apiKeyCommand/],
    ['apiKeyCommand a', url, other, /RUNCTL_API_KEY_COMMAND .*apiKeyCommand/],
    ['apiKeyCommand a', { ...url, apiKey }, {}, /apiKey .*apiKeyCommand:\n +runctl config unset apiKey/],
    ['apiKeyCommand a --profile b', { ...url, apiKey }, {}, undefined],
  ])('warns about what overrides the setting, if anything does: %s %j %j', async (line, profile, env, says) => {
    const { run } = createConfig(profiles(profile), env);
    const { documents } = await run(`set ${line} --json`);
    const [{ runctl }] = documents;
    expect(runctl.warnings.map(({ name }: { name: string }) => name)).toEqual(says ? ['setting_overridden'] : []);
    expect((await run(`set ${line}`)).stderr).toMatch(says ?? /^Stored .*\n$/);
  });
});

describe('config unset', () => {
  test.each<[string, object, object]>([
    ['project', { note: 1, ...profiles({ project, note: 2 }) }, { note: 1, ...profiles({ note: 2 }) }],
    [
      'project --profile a',
      { profiles: { a: { project, note: 1 }, default: { project } } },
      { profiles: { a: { note: 1 }, default: { project } } },
    ],
    ['onExit', profiles({ project, onExit: 'mail' }), profiles({ project })], // no setting, or no longer
    ['profile', { profile: 'gone' }, {}],
    ['profile', { profile: 'a', profiles: { a: { project } } }, { profiles: { a: { project } } }],
  ])('with %s changes %j to %j', async (line, before, after) => {
    const { run, content } = createConfig(before);
    expect((await run(`unset ${line}`)).code).toBe(0);
    expect(content()).toEqual(after);
  });

  test('says so and writes nothing if the setting is not stored, and refuses a name that is no setting', async () => {
    const { run, path } = createConfig();
    expect(await run('unset project')).toMatchObject({ code: 0, stderr: expect.stringContaining('has no project') });
    expect([(await run('unset onExit')).code, existsSync(path)]).toEqual([2, false]);
  });
});

test('`config set` and `unset` at the same time keep what the others have stored', async () => {
  const { run, content } = createConfig({ profiles: { default: { project, apiKey }, a: {} } });
  const changes = [
    'set requestTimeout 5s',
    'set idempotencyKeys ignored',
    'unset project',
    'set profile a',
    'unset apiKey',
  ];
  await Promise.all(changes.map((line) => run(`${line} --profile default`)));
  const stored = { requestTimeout: '5s', idempotencyKeys: 'ignored' };
  expect(content()).toEqual({ profile: 'a', profiles: { default: stored, a: {} } });
});

describe('config get', () => {
  test.each([
    ['apiKey', '****-123'],
    ['baseUrl', 'https://a.example'],
    ['requestTimeout', '30s'],
    ['profile', 'default'],
  ])('prints %s as %j', async (key, printed) => {
    const { run } = createConfig(profiles({ apiKey, baseUrl: 'https://a.example' }));
    expect((await run(`get ${key}`)).stdout).toBe(`${printed}\n`);
  });

  test('prints one document with --json', async () => {
    const { documents } = await createConfig(undefined, { RUNCTL_PROJECT: project }).run('get project --json');
    expect(documents).toMatchObject([
      { runctl: { config: { project: { value: project, source: 'RUNCTL_PROJECT' } } } },
    ]);
  });

  test('exits with 2 and says how to set a setting that is not set', async () => {
    const { code, stderr } = await createConfig().run('get project');
    expect([code, stderr]).toEqual([2, expect.stringContaining('runctl config set project <value>')]);
  });
});

describe('config list', () => {
  const env = { RUNCTL_PROFILE: 'a', RUNCTL_STATE_DIR: '/state', RUNCTL_PROJECT: 'x' };

  test('shows every setting and where it comes from, and the names of other profiles', async () => {
    const { run, path } = createConfig({ profiles: { a: { apiKey }, b: {} } }, env);
    const { stdout, stderr } = await run('list --request-timeout 5s');
    const refused = expect.stringMatching(/^project refused: .*RUNCTL_PROJECT.*UUID$/);
    expect(stdout.trim().replaceAll(/ +/g, ' ').split('\n')).toEqual([
      'apiKey ****-123 (profile "a")',
      'apiKeyCommand not set',
      'baseUrl not set',
      refused,
      'requestTimeout 5s (flag --request-timeout)',
      'idempotencyKeys honored (default)',
      'profile a (RUNCTL_PROFILE)',
      `configFolder ${dirname(path)} (RUNCTL_CONFIG_DIR)`,
      'stateFolder /state (RUNCTL_STATE_DIR)',
    ]);
    expect(stderr).toMatch(/: b /);
  });

  test('is one document with --json', async () => {
    const { documents } = await createConfig(undefined, { RUNCTL_PROJECT: 'x' }).run('list --json');
    const [{ runctl }] = documents;
    expect(runctl.config).toMatchObject({
      baseUrl: { value: null, source: null },
      requestTimeout: { value: '30s', source: 'default' },
      project: { value: null, source: 'RUNCTL_PROJECT', problem: expect.any(String) },
    });
  });
});

test('config path prints the path of the file and the folder of the journal, whether or not they are there', async () => {
  const env = { HOME: '/home/somebody' };
  const [path, journal] = ['/home/somebody/.config/runctl/config.json', '/home/somebody/.local/state/runctl'];
  expect((await runProgram(['config', 'path'], { env })).stdout).toBe(`${path}\n${journal}\n`);
  const { documents } = await runProgram(['config', 'path', '--json'], { env });
  expect(documents).toMatchObject([{ runctl: { config: { path, journal } } }]);
});

test('no command prints the API key, however it is given', async () => {
  // Long enough for its last four characters not to be the whole of it, and unlike any word of ours.
  const key = fc
    .tuple(fc.stringMatching(/^[!-~]{3}[\dA-Z]{12,30}$/), fc.constantFrom('', '\n', '\u0007', '\u2026'))
    .map((parts) => parts.join(''));
  const ways = fc.constantFrom('pipe', 'argument', 'variable', 'file', 'url');
  await fc.assert(
    fc.asyncProperty(key, ways, async (text, way) => {
      const variable = {
        variable: { RUNCTL_API_KEY: text },
        url: { RUNCTL_BASE_URL: `https://${encodeURIComponent(text)}@x` },
      };
      const { run, path } = createConfig(undefined, variable[way as 'url'] ?? {});
      if (way === 'file') writeFileSync(path, `{"profiles":{"default":{"apiKey":${JSON.stringify(text)}`);
      const first = await run(['set', 'apiKey', ...(way === 'argument' ? [text] : [])], { input: text });
      const said = [first.stdout, first.stderr];
      for (const line of ['get apiKey', 'get apiKey --json', 'get baseUrl', 'list', 'list --json', 'unset apiKey']) {
        const { stdout, stderr } = await run(line);
        said.push(stdout, stderr);
      }
      // The part that no quoting changes.
      expect(said.join('\n')).not.toContain(text.slice(3, 11));
    }),
    { numRuns: propertyRuns(60) },
  );
});
