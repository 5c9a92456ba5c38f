// What doctor finds on broken machines: the names of its checks, their results, the exit code and the command to type.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { createProcesses } from '../../src/journal/processes.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { type Ended, runProgram } from '../helpers/run-program.ts';
import { target } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

type Env = Record<string, string>;
interface Finding {
  name: string;
  result: string;
  message: string;
  advice: string | null;
}

const findingsOf = ({ stdout }: Ended): Finding[] => JSON.parse(stdout).runctl.doctor;
const isMarked = ({ result }: Finding) => result === 'warning' || result === 'failed';
const otherKey = 'another-key-0123456789';

function withConfig(env: Env, text: string, mode = 0o600): Env {
  const { RUNCTL_CONFIG_DIR: folder = '' } = env;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), text);
  chmodSync(join(folder, 'config.json'), mode);
  return env;
}

const profile = JSON.stringify({ profiles: { default: { apiKey: otherKey, baseUrl: 'https://a.test' } } });
const faulty = (name: string) => async (env: Env) => ({ ...env, ...(await networkFaults[name]?.())?.env });
const hasty = (name: string) => async (env: Env) => ({ ...(await faulty(name)(env)), RUNCTL_REQUEST_TIMEOUT: '300ms' });
const answering = (status: number, body?: string) => async (env: Env) => ({
  ...env,
  ...(await startFaultyService(() => answer(status, body))).env,
});
const setting = (changes: Env) => (env: Env) => ({ ...env, ...changes });

type Row = [machine: string, change: (env: Env) => Env | Promise<Env>, check: string, code: number, says: RegExp];

const rows: Row[] = [
  ['a config file that is no JSON', (env) => withConfig(env, '{'), 'settings', 2, /is not JSON/],
  ['a config file that others can write to', (env) => withConfig(env, profile, 0o620), 'settings', 2, /chmod go-w/],
  ['a config file that others can read', (env) => withConfig(env, profile, 0o644), 'settings', 0, /chmod 600/],
  [
    'a stored setting that is none',
    (env) => withConfig(env, '{"profiles":{"default":{"onExit":"mail"}}}'),
    'settings',
    0,
    /`runctl config unset onExit`/,
  ],
  ['a profile that is not there', setting({ RUNCTL_PROFILE: 'prod' }), 'settings', 2, /no profile "prod"/],
  ['a bad request timeout', setting({ RUNCTL_REQUEST_TIMEOUT: 'soon' }), 'settings', 2, /request timeout/],
  ['a misspelt variable', setting({ RUNCTL_PROFLE: 'prod' }), 'variables', 0, /RUNCTL_PROFLE.*`runctl help settings`/],
  ['a bad base URL', setting({ RUNCTL_BASE_URL: 'api.example.com' }), 'base_url', 2, /base URL/],
  ['no API key', setting({ RUNCTL_API_KEY: '' }), 'api_key', 2, /`runctl config`/],
  ['two API keys in the environment', setting({ RUNCTL_API_KEY_FILE: '/dev/null' }), 'api_key', 2, /both/],
  [
    'an API key that is stored for another base URL',
    (env) => withConfig({ ...env, RUNCTL_API_KEY: '' }, profile),
    'api_key',
    2,
    /is for https:\/\/a\.test/,
  ],
  ['no project', setting({ RUNCTL_PROJECT: '' }), 'project', 0, /`runctl config set project <uuid>`/],
  [
    'an API key command that fails',
    setting({ RUNCTL_API_KEY: '', RUNCTL_API_KEY_COMMAND: 'exit 3' }),
    'service',
    2,
    /exited with 3/,
  ],
  ['no DNS', faulty('unresolvable'), 'service', 10, /can't resolve no-such-host/],
  ['nobody who listens', faulty('refused'), 'service', 10, /connection refused/],
  ['a stranger in between', faulty('unknown authority'), 'service', 10, /authority this machine doesn't trust/],
  ['a proxy that wants a password', faulty('proxy 407'), 'service', 10, /rejected the credentials/],
  ['a host that hangs', hasty('TLS stall'), 'service', 10, /no connection to 127\.0\.0\.1/],
  ['a base URL of something else', answering(404, '<html>'), 'service', 10, /404/],
  ['a service that is down', answering(503), 'service', 10, /503/],
  ['a service that limits its rate', answering(429), 'service', 0, /isn't known/],
  ['a revoked API key', answering(401), 'service', 7, /API key was refused.*`runctl config list`/],
  ['no home', setting({ RUNCTL_STATE_DIR: '', HOME: '' }), 'journal', 74, /no folder/],
  ['a file in place of the state folder', setting({ RUNCTL_STATE_DIR: '/dev/null' }), 'journal', 74, /can't be read/],
];

test.each(rows)(
  'on a machine with %s the first check that is marked is the cause',
  async (_, change, name, code, says) => {
    const { env } = await withEmulator({});
    const ended = await runProgram(['doctor', '--json'], { env: await change({ ...env, HOME: temporaryFolder() }) });
    const marked = findingsOf(ended).filter(isMarked);
    expect([marked[0]?.name, ended.code]).toEqual([name, code]);
    expect(marked[0]?.result).toBe(code === 0 ? 'warning' : 'failed');
    expect(`${marked[0]?.message} ${marked[0]?.advice}`).toMatch(says);
    for (const { name, advice } of marked) expect(advice, name).not.toBeNull();
    for (const secret of [env.RUNCTL_API_KEY, otherKey, 'proxy-password'])
      expect(ended.stdout + ended.stderr).not.toContain(secret);
  },
);

test('on a healthy machine every check passes, with one GET', async () => {
  const { emulator, env } = await withEmulator({});
  const ended = await runProgram(['doctor', '--json'], { env });
  const results = findingsOf(ended).map(({ name, result }) => [name, result]);
  expect(results).toEqual(
    ['settings', 'variables', 'base_url', 'api_key', 'project', 'service', 'clock', 'journal', 'open'].map((name) => [
      name,
      'ok',
    ]),
  );
  expect([ended.code, emulator.requests.map(({ method }) => method)]).toEqual([0, ['GET']]);
});

test('what needs a check that failed is skipped, and so is with --offline what needs the service', async () => {
  const { emulator, env } = await withEmulator({});
  const skippedWith = async (changes: Env, ...flags: string[]) =>
    findingsOf(await runProgram(['doctor', '--json', ...flags], { env: { ...env, ...changes } })).flatMap(
      ({ name, result }) => (result === 'skipped' ? name : []),
    );
  const online = ['service', 'clock'];
  expect(await skippedWith({ RUNCTL_PROFILE: 'prod' })).toEqual(['base_url', 'api_key', 'project', ...online, 'open']);
  expect(await skippedWith({ RUNCTL_API_KEY: '' })).toEqual(online);
  expect(await skippedWith({ RUNCTL_STATE_DIR: '/dev/null' }, '--offline')).toEqual([...online, 'open']);
  expect(await skippedWith({}, '--offline')).toEqual(online);
  expect(emulator.requests).toEqual([]);
});

test('a clock that is wrong is named with the time that it is off, unless something else may have answered', async () => {
  for (const [scenario, result] of [
    [{}, 'warning'],
    [{ faults: [{ on: 'status', do: 'html', status: 403 }] }, 'skipped'],
  ] as [Scenario, string][]) {
    const { env, clock } = await withEmulator(scenario);
    const late = { ...clock, nowMs: () => Date.now() + 300_000 };
    const found = findingsOf(await runProgram(['doctor', '--json'], { env, clock: late }));
    const { message, ...rest } = found.find(({ name }) => name === 'clock') ?? { message: '' };
    expect(rest).toMatchObject({ result });
    if (result === 'warning') expect(message).toMatch(/(5m|4m 59s).* ahead/);
  }
});

describe('what is open', () => {
  const long: Scenario = { automations: { '*': { duration: '1h' } } };
  const lost: Scenario = { ...long, faults: [{ on: 'trigger', do: 'loseAnswer' }] };
  const openIn = async (env: Env) =>
    findingsOf(await runProgram(['doctor', '--offline', '--json'], { env })).find(({ name }) => name === 'open');

  /** Makes all that is on record so much older. */
  function age(env: Env, hours: number): void {
    const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
    const older = (at: string) => new Date(Date.parse(at) - hours * 3_600_000).toISOString();
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replaceAll(/"at":"([^"]+)"/g, (_, at) => `"at":"${older(at)}"`),
    );
  }

  test.each<[string, Scenario, number, object]>([
    ['a trigger without a response', lost, 23, { result: 'warning', advice: '`runctl recover`' }],
    ['a trigger without a response', lost, 25, { result: 'ok', advice: null }],
    ['an unfinished run', long, 23, { result: 'ok', advice: '`runctl watch --all`' }],
    ['an unfinished run', long, 25, { result: 'ok', advice: null }],
  ])('is %s (%j) of %d h ago with its command, for a day', async (_, scenario, hours, finding) => {
    const { env } = await withEmulator(scenario, { nowMs: Date.now });
    await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env });
    age(env, hours);
    expect(await openIn(env)).toMatchObject(finding);
    const { RUNCTL_BASE_URL: baseUrl = '' } = env;
    const elsewhere = { ...env, RUNCTL_BASE_URL: baseUrl.replace('127.0.0.1', 'localhost') };
    expect(await openIn(elsewhere)).toMatchObject({ result: 'ok', advice: null });
  });

  const sent = {
    idempotencyKey: 'k',
    attempt: '1',
    account: 'a',
    body: '{}',
    userProvided: false,
    first: true,
  } as const;
  const triggered = (env: Env, process: string) =>
    openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onTrouble() {} }).append({
      ...{ type: 'triggered', baseUrl: env.RUNCTL_BASE_URL ?? '', target, ...sent, process },
    });

  test('is no trigger that another process still sends, for list and doctor', async () => {
    const { env } = await withEmulator(long);
    triggered(env, createProcesses().own);
    for (const argv of [['list'], ['doctor', '--offline']]) {
      const { stdout, stderr } = await runProgram(argv, { env });
      expect([argv, stdout + stderr]).toEqual([argv, expect.stringMatching(/being sent/)]);
      expect(stdout + stderr).not.toContain('runctl recover');
    }
  });

  test.each([
    ['still runs', createProcesses().own, false],
    ['may still run in another container', 'another-host 8 1', false],
    ['was killed', createProcesses().own.replace(/ \d+ /, ' 999999999 '), true],
  ])('is named by the next trigger, or not, if its process %s', async (_, process, isNamed) => {
    const { env } = await withEmulator(long);
    triggered(env, process);
    const { code, stderr } = await runProgram(['trigger', `${target.projectId}/nightly`], { env });
    expect([code, stderr.includes('runctl recover')]).toEqual([0, isNamed]);
  });
});

test('what is wrong comes last, the failure after the warnings, and is counted; the rest is left out by --quiet', async () => {
  const { env } = await withEmulator({});
  const wrong = { ...env, RUNCTL_API_KEY: 'wrong-key-0123456789', RUNCTL_PROJECT: '' };
  const marksOf = ({ stdout }: Ended) => (stdout.match(/^[v!x-](?= )/gm) ?? []).join('');
  const ended = await runProgram(['doctor'], { env: wrong });
  expect(marksOf(ended)).toMatch(/^[v-]+!x$/);
  expect(ended).toMatchObject({ code: 7, stderr: expect.stringMatching(/^runctl: 1 check failed: service\n/) });
  expect(marksOf(await runProgram(['doctor', '--quiet'], { env: wrong }))).toBe('!x');
  expect(await runProgram(['doctor', '--quiet'], { env })).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test.each(['--json', '--field runctl.doctor', ''])('neither message nor advice shows the API key: %s', async (line) => {
  const { env } = await withEmulator({});
  const { RUNCTL_API_KEY: apiKey = '' } = env;
  const shared = withConfig({ ...env, RUNCTL_CONFIG_DIR: join(temporaryFolder(), apiKey) }, '{}', 0o622);
  const argv = ['doctor', '--offline', ...line.split(' ').filter(Boolean)];
  const { stdout, stderr } = await runProgram(argv, { env: shared });
  expect(stdout).toContain('chmod go-w');
  expect(stdout + stderr).not.toContain(apiKey);
});

test('a command for the API key is not shown, because it may hold a token', async () => {
  const { env } = await withEmulator({});
  const command = { ...env, RUNCTL_API_KEY: '', RUNCTL_API_KEY_COMMAND: 'echo secret-token' };
  const { stdout } = await runProgram(['doctor', '--offline', '--json'], { env: command });
  expect(stdout).toContain('printed by a command (RUNCTL_API_KEY_COMMAND)');
  expect(stdout).not.toContain('secret-token');
});

test('--debug prints the request', async () => {
  const { env } = await withEmulator({});
  expect((await runProgram(['doctor', '--debug'], { env })).stderr).toMatch(/^debug: .*GET/m);
});
