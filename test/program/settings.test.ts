// Settings of the environment, of profiles and of flags: which service gets the API key, and what is refused before anything
// is sent.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { environment } from '../helpers/leaks.ts';
import { withMachine } from '../helpers/machine.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const full = `${projectId}/nightly/${executionId}`;

test.each(['trigger nightly', `status ${full}`, 'recover', 'config get apiKey'])(
  'the API key of a profile goes to no other base URL: `%s` ends with 2',
  async (line) => {
    const { run, emulator: own, store } = await withMachine();
    const { emulator: other } = await withMachine();
    store({ default: { apiKey: own.apiKey, baseUrl: own.url } });
    const { code, stderr } = await run(line, { env: { RUNCTL_API_KEY: '', RUNCTL_BASE_URL: other.url } });
    expect([code, own.requests, other.requests]).toEqual([2, [], []]);
    for (const named of [own.url, other.url, 'RUNCTL_BASE_URL']) expect(stderr).toContain(named);
  },
);

test.each([
  ['environment', `trigger nightly`],
  ['environment', `status ${full}`],
  ['profile', 'trigger nightly'],
  ['profile', `watch ${full}`],
  ['flag', 'trigger nightly'],
  ['flag', `result ${full}`],
])(
  'an API key that is a part of the base URL (%s) is refused before anything is sent, and not shown: %s',
  async (where, line) => {
    const { run, emulator, store } = await withMachine();
    const { apiKey, url } = emulator;
    const baseUrl = `${url}/${apiKey}`;
    store({ default: where === 'profile' ? { baseUrl, apiKey } : { apiKeyCommand: 'exit 1' } });
    const { code, stdout, stderr } = await run(where === 'flag' ? `${line} --base-url ${baseUrl}` : line, {
      env: {
        RUNCTL_BASE_URL: where === 'environment' ? baseUrl : '',
        ...(where === 'profile' && { RUNCTL_API_KEY: '' }),
      },
    });
    expect([code, emulator.requests]).toEqual([2, []]);
    expect(stdout + stderr).not.toContain(apiKey);
  },
);

describe('a command whose journal is for two services', () => {
  /** A machine that uses two services, `here` and `there`, with the same project. */
  async function machine(scenarioThere: Scenario = {}) {
    const { run, elsewhere, emulator, clock } = await withMachine({ automations: { '*': { duration: '10m' } } });
    const { emulator: other } = await withMachine(scenarioThere, { nowMs: clock.nowAtServiceMs });
    const there = { env: { RUNCTL_BASE_URL: other.url } };
    return { here: run, there: (line: string) => run(line, there), elsewhere, emulator };
  }

  test('does not take a run of the other service for the active one', async () => {
    const { here, there, elsewhere } = await machine();
    expect((await there('trigger nightly')).code).toBe(0);
    await elsewhere('trigger nightly');
    const { code, documents } = await here('trigger nightly --json');
    expect([code, documents[0].runctl.activeExecutionId]).toEqual([5, undefined]);
  });

  test('does not suggest to recover a trigger of the other service because a run is active', async () => {
    const { here, there, elsewhere } = await machine({ faults: [loseResponse({ nth: 1 })] });
    expect((await there('trigger nightly --give-up-after 1ms')).code).toBe(12);
    await elsewhere('trigger nightly');
    const { code, stderr } = await here('trigger nightly');
    expect([code, stderr]).toEqual([5, expect.not.stringContaining('runctl recover')]);
  });

  test.each(['recover', 'recover --resend', 'watch --all', 'list'])(
    'sends no request to one service about the other: %s',
    async (line) => {
      const { here, there, emulator } = await machine({ faults: [loseResponse({ nth: 1 })] });
      expect((await there('trigger nightly --give-up-after 1ms')).code).toBe(12);
      expect((await there('trigger weekly')).code).toBe(0);
      expect([(await here(line)).code, emulator.requests]).toEqual([0, []]);
      expect((await here('trigger nightly')).stderr).not.toContain('runctl recover');
    },
  );

  test('does not take a run of the other service for a later run of a lost trigger, which recover sends', async () => {
    const { here, there } = await machine({ faults: [loseResponse({ nth: 1 })] });
    expect((await there('trigger nightly --give-up-after 1ms')).code).toBe(12);
    await here('trigger nightly');
    const { documents } = await there('recover --json');
    expect(documents).toMatchObject([{ runctl: { trigger: { how: 'recovered' } } }]);
  });

  test('does not warn of a run that was active at the other service', async () => {
    const { here, there } = await machine();
    expect((await here('trigger nightly --watch')).code).toBe(0);
    const codes = [(await there('trigger nightly')).code, (await there('trigger nightly')).code];
    expect(codes).toEqual([0, 5]);
    expect(await here('status @last')).toMatchObject({ code: 0, stderr: '' });
  });

  test('is told that its base URL may be wrong, though the other service has responded', async () => {
    const { here, there, emulator } = await machine();
    await there('trigger nightly');
    await emulator.close();
    expect((await here('trigger nightly --give-up-after 1ms')).stderr).toContain('check the network and the base URL');
  });

  test('has no record of automations of the other service, and recover says so', async () => {
    const { here, there } = await machine({ faults: [loseResponse({ nth: 1 })] });
    expect((await there('trigger nightly --give-up-after 1ms')).code).toBe(12);
    await here('trigger weekly');
    expect((await there('recover weekly')).code).toBe(6);
  });

  test('takes a command for the name of an automation only if the service has run it', async () => {
    const { here, there } = await machine();
    await there(`trigger ${projectId}/list`);
    const codes = [(await here('trigger list --dry-run')).code, (await there('trigger list --dry-run')).code];
    expect(codes).toEqual([2, 0]);
  });

  test('suggests the automations of the service if none is named', async () => {
    const { here, there } = await machine();
    await there('trigger nightly');
    expect([(await here('trigger')).stderr, (await there('trigger')).stderr]).toEqual([
      expect.not.stringContaining('nightly'),
      expect.stringContaining('nightly'),
    ]);
  });
});

describe('escape sequences are not sent to a terminal', () => {
  const hostile = 'x\u001B[31m\u001B]0;owned\u0007\u009B2J\u202Ey\u{E0041}\u206A\u0085z';
  const unsafe = /(?!\n)[\p{Cc}\u202E\u206A\u{E0041}]/u;
  const folder = () => join(temporaryFolder(), hostile);
  const file = () => {
    const path = folder();
    writeFileSync(path, '{');
    return path;
  };
  const project = ['project', projectId];

  test.each<[string, string[], (() => Record<string, string>)?]>([
    ['the state folder', ['list'], () => ({ RUNCTL_STATE_DIR: join(file(), 'state') })],
    ['the config folder', ['config', 'list'], () => ({ RUNCTL_CONFIG_DIR: file() })],
    ['the config folder, written to', ['config', 'set', ...project], () => ({ RUNCTL_CONFIG_DIR: folder() })],
    ['the config folder, without it', ['config', 'unset', 'project'], () => ({ RUNCTL_CONFIG_DIR: folder() })],
    ['the key file', ['status', 'x'], () => ({ RUNCTL_API_KEY: '', RUNCTL_API_KEY_FILE: `/${hostile}` })],
    ['a proxy', ['status', 'x'], () => ({ RUNCTL_BASE_URL: 'https://service.test', HTTPS_PROXY: hostile })],
    ['RUNCTL_PROFILE', ['status', '@last'], () => ({ RUNCTL_PROFILE: hostile })],
    ['RUNCTL_BASE_URL', ['status', '@last'], () => ({ RUNCTL_BASE_URL: hostile })],
    ['RUNCTL_PROJECT', ['trigger', 'nightly'], () => ({ RUNCTL_PROJECT: hostile })],
    ['--profile', ['status', '@last', '--profile', hostile]],
    ['a scenario', ['emulator', '--scenario', hostile]],
    ['a command', [hostile]],
    ['a flag', [`--${hostile}`]],
    ['an automation', ['trigger', hostile]],
    ['a run', ['status', hostile]],
    ['a field', ['list', '--field', hostile]],
    ['a duration', ['watch', '@last', '--timeout', hostile]],
    ['an exit code', ['explain', hostile]],
  ])('in %s', async (_, argv, env = () => ({})) => {
    const nowhere = environment({ RUNCTL_BASE_URL: 'http://127.0.0.1:9' });
    const { code, stdout, stderr } = await runProgram(argv, { env: { ...nowhere, ...env() } });
    expect(code).not.toBe(70);
    expect(stdout + stderr).not.toMatch(unsafe);
  });
});

test.each([' prod', 'prod\n', '-p'])(
  'no message suggests to create the profile %j, which is no valid name',
  async (profile) => {
    const { code, stderr } = await runProgram(['list'], { env: environment({ RUNCTL_PROFILE: profile }) });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^runctl: the profile name .*\n.*use a name like prod/)]);
  },
);

describe('a carriage return or quotes that came along with a value', () => {
  const crs = ['RUNCTL_BASE_URL', 'RUNCTL_PROJECT', 'RUNCTL_PROFILE', 'RUNCTL_API_KEY', 'RUNCTL_REQUEST_TIMEOUT'];
  test.each([...crs, 'RUNCTL_IDEMPOTENCY_KEYS', 'RUNCTL_STATE_DIR', 'RUNCTL_CONFIG_DIR'])(
    'in %s are named for what they are, and nothing is sent',
    async (variable) => {
      const { env, emulator } = await withMachine();
      const { [variable]: value = variable === 'RUNCTL_IDEMPOTENCY_KEYS' ? 'honored' : '30s' } = env;
      const tried = [`${value}\r`, `"${value}"`, `'${value}'`];
      for (const text of tried) {
        const { code, stderr } = await runProgram(['trigger', 'nightly'], { env: { ...env, [variable]: text } });
        expect([code, stderr]).toEqual([2, expect.stringMatching(/carriage return|has quotes around it/)]);
      }
      expect(emulator.requests).toEqual([]);
    },
  );

  test('are not stored by `config set`', async () => {
    const { env } = await withMachine();
    for (const [key, value] of [
      ['baseUrl', '"https://a.example"'],
      ['project', "'x'"],
      ['requestTimeout', '5s\r'],
    ] as const) {
      const { code, stderr } = await runProgram(['config', 'set', key, value], { env });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/carriage return|has quotes around it/)]);
    }
    const { code, stderr } = await runProgram(['config', 'set', 'apiKey'], { env, input: '"another-key-123456"\n' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('has quotes around it')]);
  });
});
