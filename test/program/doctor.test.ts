// What doctor finds on broken machines: the first check that is marked, the exit code, and what its advice names.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { createProcesses } from '../../src/journal/processes.ts';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { type Machine, withMachine } from '../helpers/machine.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import type { Ended } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { target } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

type Env = Record<string, string>;

const otherKey = 'another-key-0123456789';
const bound = JSON.stringify({ profiles: { default: { apiKey: otherKey, baseUrl: 'https://a.test' } } });
const old = JSON.stringify({ profiles: { default: { onExit: 'mail' } } });
const noKey = { RUNCTL_API_KEY: '' };

const env = (changes: Env) => async () => changes;
const config =
  (text: string, mode = 0o600, changes: Env = {}) =>
  async ({ configFile, store }: Machine) => {
    store({});
    writeFileSync(configFile, text);
    chmodSync(configFile, mode);
    return changes;
  };
const network =
  (name: keyof typeof networkFaults, changes: Env = {}) =>
  async () => ({ ...(await networkFaults[name]?.())?.env, ...changes });
/** Nothing else ends these. */
const soon = { RUNCTL_REQUEST_TIMEOUT: '300ms' };
const answering = (status: number, body?: string) => async () =>
  (await startFaultyService(() => answer(status, body))).env;

const noProject = JSON.stringify({ code: 'projectNotFound', message: 'There is no project 42' });

type Row = [machine: string, found: string, names: RegExp, change: (machine: Machine) => Promise<Env>];

const rows: Row[] = [
  ['a config file that is no JSON', 'settings failed 2', /config\.json/, config('{')],
  ['a config file that others can write to', 'settings failed 2', /chmod go-w/, config(bound, 0o620)],
  ['a config file that others can read', 'settings warning 0', /chmod 600/, config(bound, 0o644)],
  ['a stored setting that is none', 'settings warning 0', /runctl config unset onExit$/, config(old)],
  ['a profile that is not there', 'settings failed 2', /"prod"/, env({ RUNCTL_PROFILE: 'prod' })],
  ['a bad request timeout', 'settings failed 2', /RUNCTL_REQ/, env({ RUNCTL_REQUEST_TIMEOUT: 'soon' })],
  ['a bad setting for keys', 'settings failed 2', /RUNCTL_IDEM/, env({ RUNCTL_IDEMPOTENCY_KEYS: 'yes' })],
  ['a misspelt variable', 'variables warning 0', /RUNCTL_PROFLE.*help settings/, env({ RUNCTL_PROFLE: 'prod' })],
  ['a bad base URL', 'base_url failed 2', /RUNCTL_BASE_URL/, env({ RUNCTL_BASE_URL: 'api.example.com' })],
  [
    'a base URL whose certificate nobody checks',
    'base_url warning 10',
    /NODE_TLS_REJECT_UNAUTHORIZED=0.*NODE_EXTRA_CA_CERTS$/,
    network('unknown authority', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
  ],
  ['no API key', 'api_key failed 2', /'runctl config'$/, env(noKey)],
  ['two API keys in the environment', 'api_key failed 2', /_FILE/, env({ RUNCTL_API_KEY_FILE: '/dev/null' })],
  ['the API key of another base URL', 'api_key failed 2', /https:\/\/a\.test/, config(bound, 0o600, noKey)],
  ['no project', 'project warning 0', /'runctl config set project <uuid>'/, env({ RUNCTL_PROJECT: '' })],
  ['a failing command for the API key', 'service failed 2', /3/, env({ ...noKey, RUNCTL_API_KEY_COMMAND: 'exit 3' })],
  ['no DNS', 'service failed 10', /no-such-host/, network('unresolvable', soon)],
  ['nobody who listens', 'service failed 10', /127\.0\.0\.1/, network('refused')],
  ['a stranger in between', 'service failed 10', /authority/, network('unknown authority')],
  ['a proxy that wants a password', 'service failed 10', /HTTPS_PROXY/, network('proxy 407')],
  ['a host that hangs', 'service failed 10', /127\.0\.0\.1/, network('TLS stall', soon)],
  ['a base URL of something else', 'service failed 10', /404/, answering(404, '<html>')],
  ['a firewall that sends a page', 'service failed 10', /proxy.*login page/, answering(403, '<html>')],
  ['a page in place of a refusal for lack of credits', 'service failed 10', /page/, answering(402, '<html>')],
  ['a page that limits the rate', 'service failed 10', /page/, answering(429, '<html>')],
  ['a login page', 'service failed 10', /login page/, answering(200, '<html>')],
  ['a gateway that takes no body of any size', 'service failed 10', /413/, answering(413)],
  ['a page of a gateway', 'service failed 10', /page/, answering(502, '<html><title>Bad Gateway</title></html>')],
  ['a project that the service does not know', 'project failed 6', /42.*config list/, answering(422, noProject)],
  ['a project that is not found by its path', 'project failed 6', /42.*config list/, answering(404, noProject)],
  ['a service that is down', 'service failed 10', /503/, answering(503)],
  ['a service that limits its rate', 'service warning 0', /429/, answering(429)],
  ['a revoked API key', 'service failed 7', /'runctl config list'/, answering(401)],
  ['no home', 'journal failed 74', /RUNCTL_STATE_DIR/, env({ RUNCTL_STATE_DIR: '' })],
  ['a file in place of the state folder', 'journal failed 74', /null/, env({ RUNCTL_STATE_DIR: '/dev/null' })],
];

interface Finding {
  name: string;
  result: 'ok' | 'warning' | 'failed' | 'skipped';
  message: string;
  advice: string | null;
}

const findingsOf = ({ documents: [{ runctl }] }: Ended): Finding[] => runctl.doctor;
const named = (name: string, ended: Ended) => findingsOf(ended).find((finding) => finding.name === name);
const isMarked = ({ result }: Finding) => result === 'warning' || result === 'failed';

test.each(rows)('on a machine with %s the cause is marked first: %s', async (_, found, names, change) => {
  const machine = await withMachine();
  const changes = { HOME: '', ...(await change(machine)) };
  const ended = await machine.run('doctor --json', { env: changes });
  const marked = findingsOf(ended).filter(isMarked);
  const [first] = marked;
  expect(`${first?.name} ${first?.result} ${ended.code}`).toBe(found);
  expect(`${first?.message} ${first?.advice}`).toMatch(names);
  for (const { name, advice } of marked) expect(advice, name).not.toBeNull();
  for (const secret of [machine.emulator.apiKey, otherKey, 'proxy-password'])
    expect(ended.stdout + ended.stderr).not.toContain(secret);
});

const checks = ['settings', 'variables', 'base_url', 'api_key', 'service', 'project', 'clock', 'journal', 'open'];

test('on a healthy machine every check passes except the one of the project, with one GET, and --quiet prints nothing', async () => {
  const { run, emulator } = await withMachine();
  const ended = await run('doctor --json');
  expect(findingsOf(ended).map(({ name, result }) => `${name} ${result}`)).toEqual(
    checks.map((name) => `${name} ${name === 'project' ? 'skipped' : 'ok'}`),
  );
  const inProject = expect.stringContaining(`/${emulator.projectId}/`);
  expect([ended.code, emulator.requests]).toEqual([0, [expect.objectContaining({ method: 'GET', url: inProject })]]);
  expect(await run('doctor --quiet')).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('without a project, a service that does not know the generated one is no problem', async () => {
  const { env } = await startFaultyService(() => answer(422, noProject));
  const { run } = await withMachine();
  const ended = await run('doctor --json', { env: { ...env, RUNCTL_PROJECT: '' } });
  expect([ended.code, named('service', ended)?.result, named('project', ended)?.result]).toEqual([0, 'ok', 'warning']);
});

test('a check is skipped if it needs one that failed, or needs the service with --offline', async () => {
  const { run, emulator } = await withMachine();
  const skippedWith = async (changes: Env, flag = '') =>
    findingsOf(await run(`doctor --json${flag}`, { env: changes })).flatMap(({ name, result }) =>
      result === 'skipped' ? name : [],
    );
  const online = ['service', 'project', 'clock'];
  expect(await skippedWith({ RUNCTL_PROFILE: 'prod' })).toEqual(['base_url', 'api_key', ...online, 'open']);
  expect(await skippedWith(noKey)).toEqual(online);
  expect(await skippedWith({ RUNCTL_STATE_DIR: '/dev/null' }, ' --offline')).toEqual([...online, 'open']);
  expect(await skippedWith({}, ' --offline')).toEqual(online);
  expect(emulator.requests).toEqual([]);
});

test('warnings and then failures come last, and --quiet prints nothing else', async () => {
  const { run } = await withMachine();
  const wrong = { env: { RUNCTL_API_KEY: 'wrong-key-0123456789', RUNCTL_PROJECT: '' } };
  const marksOf = ({ stdout }: Ended) => (stdout.match(/^[v!x-](?= )/gm) ?? []).join('');
  const ended = await run('doctor', wrong);
  expect([ended.code, marksOf(ended)]).toEqual([7, expect.stringMatching(/^[v-]+!x$/)]);
  expect(marksOf(await run('doctor --quiet', wrong))).toBe('!x');
});

test.each<[string, Scenario, number, string, RegExp]>([
  ['is named with the time that it is off', {}, 300_000, 'warning', /5m.* ahead/],
  ['is named if it is behind', {}, -300_000, 'warning', /5m.* behind/],
  ['is right within ten seconds', {}, 5_000, 'ok', /./],
  ['is unknown if another may have answered', { faults: [{ do: 'html', status: 403 }] }, 300_000, 'skipped', /./],
])('the clock %s', async (_, scenario, aheadMs, result, says) => {
  const clock = createLeapingClock(Date.parse('2026-01-02T03:04:05Z'));
  const { run } = await withMachine(scenario, {}, clock);
  const wrong = { ...clock, nowMs: () => clock.nowMs() + aheadMs };
  expect(named('clock', await run('doctor --json', { clock: wrong }))).toMatchObject({
    result,
    message: expect.stringMatching(says),
  });
});

describe('the check of unresolved triggers and unfinished runs', () => {
  const long: Scenario = { automations: { '*': { duration: '9d' } } };
  const lost: Scenario = { faults: [loseResponse()] };

  test.each<[string, hours: number, Scenario, object]>([
    ['a trigger without a response', 23, lost, { result: 'warning', advice: 'runctl recover' }],
    ['a trigger without a response', 25, lost, { result: 'ok', advice: null }],
    ['an unfinished run', 23, long, { result: 'ok', advice: 'runctl watch --all' }],
    ['an unfinished run', 25, long, { result: 'ok', advice: null }],
  ])('reports %s for a day, with its command and at its service: %d h ago', async (_, hours, scenario, finding) => {
    const { run, env, clock } = await withMachine(scenario);
    await run('trigger nightly --give-up-after 1ms');
    clock.leap(hours * 3_600_000);
    expect(named('open', await run('doctor --offline --json'))).toMatchObject(finding);
    const elsewhere = { RUNCTL_BASE_URL: env.RUNCTL_BASE_URL?.replace('127.0.0.1', 'localhost') };
    const there = await run('doctor --offline --json', { env: elsewhere });
    expect(named('open', there)).toMatchObject({ result: 'ok', advice: null });
  });

  const own = createProcesses().own;
  const sent = { idempotencyKey: 'k', attempt: '1', account: 'a', body: '{}', userProvided: false, first: true };
  const killed = own.replace(/ \d+ /, ' 999999999 ');
  const sending = ({ env }: Machine, process: string, others: object = {}) =>
    openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onFailure() {} }).append({
      ...{ type: 'triggered', baseUrl: env.RUNCTL_BASE_URL ?? '', target, ...sent, process, ...others },
    });

  test.each([
    ['still runs', own, false],
    ['may still run in another container', 'another-host 8 1', false],
    ['was killed', killed, true],
  ])('agrees with the warning of the next trigger if the process of a trigger %s', async (_, process, isNamed) => {
    const machine = await withMachine(long);
    sending(machine, process);
    const { code, stderr } = await machine.run(`trigger ${target.projectId}/nightly`);
    expect([code, stderr.includes('runctl recover')]).toEqual([0, isNamed]);
  });

  test('reports a lost trigger even if its key is being sent for another automation and to another service', async () => {
    const machine = await withMachine(long);
    sending(machine, killed);
    sending(machine, own, { target: { ...target, automationName: 'weekly' } });
    sending(machine, own, { baseUrl: 'http://127.0.0.1:1' });
    const open = named('open', await machine.run('doctor --offline --json'));
    expect(open).toMatchObject({ message: '1 unresolved trigger, 1 trigger being sent, 0 unfinished runs' });
    expect((await machine.run('list --offline')).stderr).toMatch(/^1 trigger has no recorded response/);
    const screen = new ScreenStream(new Terminal({ allowProposedApi: true }));
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const { stdout } = await machine.run([], { screen, input, env: { NO_COLOR: '1' } });
    expect(stdout.match(/UNKNOWN \w+/g)).toEqual(['UNKNOWN nightly']);
  });
});

test.each([' --json', ' --field runctl.doctor', ''])(
  'no finding shows the API key or the command that prints it: doctor%s',
  async (flag) => {
    const { run, emulator } = await withMachine();
    const folder = `${temporaryFolder()}/${emulator.apiKey}`;
    mkdirSync(folder);
    writeFileSync(`${folder}/config.json`, '{}');
    chmodSync(`${folder}/config.json`, 0o622);
    const { stdout, stderr } = await run(`doctor --offline${flag}`, { env: { RUNCTL_CONFIG_DIR: folder } });
    expect(stdout).toContain('chmod go-w');
    expect(stdout + stderr).not.toContain(emulator.apiKey);
    const command = { ...noKey, RUNCTL_API_KEY_COMMAND: 'echo secret-token' };
    const printed = await run(`doctor --offline${flag}`, { env: command });
    expect(printed.stdout).toContain('RUNCTL_API_KEY_COMMAND');
    expect(printed.stdout).not.toContain('secret-token');
  },
);
