// Ten broken machines and more: the first line that doctor marks is the cause. In one process with the tests, and here for
// the authority that the processes of these tests trust.
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { createCertificate } from '../helpers/certificates.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { listen } from '../helpers/faulty-server.ts';
import { needs } from '../helpers/needs.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { startProxy } from '../helpers/proxies.ts';
import { type Ended, runProgram } from '../helpers/run-program.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { trustedAuthority } from '../helpers/trusted-authority.ts';

type Env = Record<string, string>;
interface Finding {
  name: string;
  result: string;
  message: string;
  advice: string | null;
}

const findingsOf = ({ stdout }: Ended): Finding[] => JSON.parse(stdout).runctl.doctor;
const isMarked = ({ result }: Finding) => result === 'warning' || result === 'failed';

/** A machine on which all is well but for the shell, which no test should depend on. */
async function healthy(scenario: Scenario = {}) {
  const { emulator, env, clock } = await withEmulator(scenario);
  return { emulator, clock, env: { ...env, HOME: temporaryFolder(), PATH: '/usr/bin:/bin' } };
}

function withConfig(env: Env, profile: object, mode = 0o600): Env {
  const { RUNCTL_CONFIG_DIR: folder = '' } = env;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { default: profile } }));
  chmodSync(join(folder, 'config.json'), mode);
  return env;
}

const faulty = (name: string) => async (env: Env) => ({ ...env, ...(await networkFaults[name]?.())?.env });
const hasty = (name: string) => async (env: Env) => ({ ...(await faulty(name)(env)), RUNCTL_REQUEST_TIMEOUT: '300ms' });
const answering = (status: number, body?: string) => async (env: Env) => ({
  ...env,
  ...(await startFaultyService(() => answer(status, body))).env,
});

type Row = [machine: string, change: (env: Env) => Env | Promise<Env>, cause: string, code: number, message: RegExp];

test.each<Row>([
  ['no API key', (env) => ({ ...env, RUNCTL_API_KEY: '' }), 'api_key', 2, /^not set$/],
  ['two API keys in the environment', (env) => ({ ...env, RUNCTL_API_KEY_FILE: '/dev/null' }), 'api_key', 2, /both/],
  [
    'an API key stored for another base URL',
    (env) =>
      withConfig({ ...env, RUNCTL_API_KEY: '' }, { apiKey: 'another-key-0123456789', baseUrl: 'https://a.test' }),
    'api_key',
    2,
    /is for https:\/\/a\.test/,
  ],
  [
    'an API key command that fails',
    (env) => ({ ...env, RUNCTL_API_KEY: '', RUNCTL_API_KEY_COMMAND: 'exit 3' }),
    'api_key_command',
    2,
    /exited with 3/,
  ],
  ['no project', (env) => ({ ...env, RUNCTL_PROJECT: '' }), 'project', 0, /^not set/],
  ['a bad base URL', (env) => ({ ...env, RUNCTL_BASE_URL: 'api.example.com' }), 'base_url', 2, /base URL/],
  ['a profile that is not there', (env) => ({ ...env, RUNCTL_PROFILE: 'prod' }), 'profile', 2, /no profile "prod"/],
  [
    'a config file that is no JSON',
    (env) => {
      mkdirSync(env.RUNCTL_CONFIG_DIR ?? '');
      writeFileSync(join(env.RUNCTL_CONFIG_DIR ?? '', 'config.json'), '{');
      return env;
    },
    'config_file',
    2,
    /is not JSON/,
  ],
  [
    'a config file that others can read',
    (env) => withConfig(env, { apiKey: 'another-key-0123456789', baseUrl: 'https://a.test' }, 0o644),
    'config_file',
    0,
    /others can read/,
  ],
  ['no DNS', faulty('unresolvable'), 'http', 10, /can't resolve no-such-host/],
  ['nobody who listens', faulty('refused'), 'http', 10, /connection refused/],
  ['an expired certificate', faulty('expired certificate'), 'http', 10, /certificate for 127\.0\.0\.1:\d+ has expired/],
  ['a slow clock for a certificate', faulty('certificate not yet valid'), 'http', 10, /is not yet valid/],
  ['a stranger between', faulty('unknown authority'), 'http', 10, /authority this machine doesn't trust/],
  ['a proxy that refuses', faulty('proxy 403'), 'http', 10, /the proxy .* doesn't allow connections/],
  ['a proxy that wants a password', faulty('proxy 407'), 'http', 10, /rejected the credentials/],
  ['a proxy that is not there', faulty('proxy refused'), 'http', 10, /can't connect to the proxy .*HTTPS_PROXY/],
  ['a proxy that hangs', hasty('proxy hang'), 'http', 10, /no connection to service\.test through the proxy/],
  ['a host that hangs', hasty('TLS stall'), 'http', 10, /no connection to 127\.0\.0\.1/],
  ['a revoked API key', answering(401), 'api_key_accepted', 7, /API key was refused/],
  ['a base URL of something else', answering(404, '<html>'), 'http', 10, /404/],
  ['a service that is down', answering(503), 'http', 10, /503/],
  ['a service that limits its rate', answering(429), 'api_key_accepted', 0, /not known/],
  ['no home', (env) => ({ ...env, RUNCTL_STATE_DIR: '', HOME: '' }), 'state_folder', 74, /no folder/],
  [
    'a file in place of the state folder',
    (env) => {
      writeFileSync(env.RUNCTL_STATE_DIR ?? '', '');
      return env;
    },
    'state_folder',
    74,
    /can't be read \(ENOTDIR/,
  ],
])('on a machine with %s the first line that is marked is the cause', async (_, change, cause, code, message) => {
  const { env } = await healthy();
  const changed = await change(env);
  const ended = await runProgram(['doctor', '--json'], { env: changed });
  expect(ended.stderr).toMatch(code === 0 ? /^$/ : /^runctl: /);
  const marked = findingsOf(ended).filter(isMarked);
  for (const { name, advice } of marked) expect(advice, name).not.toBeNull();
  const [first] = marked;
  expect({ ...first, code: ended.code }).toMatchObject({ name: cause, code, message: expect.stringMatching(message) });
  for (const secret of ['test-key-4f1b7c9d2e', 'another-key-0123456789', 'proxy-password'])
    expect(ended.stdout + ended.stderr).not.toContain(secret);
});

test('on a healthy machine every check of settings, network and journal is passed, with one GET', async () => {
  const { emulator, env } = await healthy();
  const ended = await runProgram(['doctor', '--json'], { env });
  expect(findingsOf(ended).filter((finding) => isMarked(finding) && finding.name !== 'cron_path')).toEqual([]);
  expect(findingsOf(ended).find(({ name }) => name === 'api_key_command')?.message).toBe('not set');
  expect(emulator.requests.map(({ method }) => method)).toEqual(['GET']);
});

test('with --offline nothing is asked', async () => {
  const { emulator, env } = await healthy();
  expect(await runProgram(['doctor', '--offline', '-q'], { env })).toMatchObject({ code: 0 });
  expect(emulator.requests).toEqual([]);
});

test('a clock that is wrong is named with the time that it is off', async () => {
  const { env, clock } = await healthy();
  const late = { ...clock, nowMs: () => Date.now() + 300_000 };
  const ended = await runProgram(['doctor', '--json'], { env, clock: late });
  expect(findingsOf(ended).find(isMarked)).toMatchObject({
    name: 'clock',
    message: expect.stringMatching(/^this machine's clock is (5m|4m 59s).* ahead/),
  });
  expect(ended.code).toBe(0);
});

test('nothing is said of the clock by what may not be the service', async () => {
  const { env, clock } = await healthy({ faults: [{ on: 'status', do: 'html', status: 403 }] });
  const late = { ...clock, nowMs: () => Date.now() + 300_000 };
  const ended = await runProgram(['doctor', '--json'], { env, clock: late });
  expect(findingsOf(ended).find(({ name }) => name === 'clock')).toMatchObject({ result: 'skipped' });
  expect(findingsOf(ended).find(isMarked)).toMatchObject({ name: 'api_key_accepted' });
});

test.each(['directly', 'through a proxy'])('what was asked is named, and the way to it: %s', async (way) => {
  const { env } = await healthy();
  const hosts = ['127.0.0.1', 'service.test'];
  const certificate = createCertificate({ issuer: trustedAuthority(), hosts });
  const notFound = '{"code":"notFound"}';
  const server = createServer(certificate, (_, response) =>
    response.writeHead(422, { 'content-type': 'application/json' }).end(notFound),
  );
  const port = await listen(server);
  const proxy = await startProxy({ credentials: 'user:password' });
  const isDirect = way === 'directly';
  const changes: Env = isDirect
    ? { RUNCTL_BASE_URL: `https://127.0.0.1:${port}` }
    : {
        RUNCTL_BASE_URL: `https://service.test:${port}`,
        HTTPS_PROXY: proxy.url.replace('//', '//user:password@'),
      };
  const found = findingsOf(await runProgram(['doctor', '--json'], { env: { ...env, ...changes } }));
  const { message = '' } = found.find(({ name }) => name === 'http') ?? {};
  expect(message).toContain(isDirect ? `127.0.0.1:${port}` : `service.test:${port}`);
  expect(message.includes('(HTTPS_PROXY)')).toBe(!isDirect);
  expect(found.find(({ name }) => name === 'api_key_accepted')).toMatchObject({ result: 'ok' });
});

test('a state folder of another user is named', async (context) => {
  needs(context, 'root', process.geteuid?.() === 0);
  const { env } = await healthy();
  const folder = join(temporaryFolder(), 'state');
  mkdirSync(folder);
  chownSync(folder, 54_321, 54_321);
  const ended = await runProgram(['doctor', '--json'], { env: { ...env, RUNCTL_STATE_DIR: folder } });
  expect(findingsOf(ended).find(isMarked)).toMatchObject({
    name: 'state_folder',
    message: expect.stringMatching(/another user/),
  });
  expect(ended.code).toBe(74);
});

test('a trigger without an answer is counted, and the next command is to recover it', async () => {
  const { env, clock } = await withEmulator({ faults: [{ on: 'trigger', do: 'loseAnswer' }] });
  await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env, clock });
  const ended = await runProgram(['doctor', '--offline'], { env: { ...env, HOME: temporaryFolder() } });
  expect(ended.stdout).toMatch(/! unresolved triggers +1: .*\n {2}-> `runctl recover`\n/);
});

test('no command for the API key is shown, as it may hold a token', async () => {
  const { env } = await healthy();
  const commands = {
    RUNCTL_API_KEY: '',
    RUNCTL_API_KEY_COMMAND: 'echo secret-token',
  };
  const ended = await runProgram(['doctor', '--offline', '--json'], { env: { ...env, ...commands } });
  expect(findingsOf(ended).find(({ name }) => name === 'api_key')?.message).toMatch(/^printed by a command/);
  expect(ended.stdout).not.toContain('secret-token');
});

test('what is wrong comes last, the failure behind the warnings, and is counted', async () => {
  const { env } = await healthy();
  const ended = await runProgram(['doctor'], {
    env: { ...env, RUNCTL_API_KEY: 'wrong-key-0123456789', RUNCTL_PROJECT: '' },
  });
  const marks = ended.stdout.match(/^[v!x](?= )/gm) ?? [];
  expect(marks.join('')).toMatch(/^v+!+x$/);
  expect(ended.stdout).toMatch(/^! project +not set: .*\n {2}-> .*`runctl config set project <uuid>`/m);
  expect(ended.stdout.trimEnd().split('\n').at(-2)).toMatch(/^x API key accepted +the API key was refused/);
  expect(ended).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/^runctl: 1 check failed: API key accepted\n/),
  });
});
