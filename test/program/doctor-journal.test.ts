// What doctor says of the journal: its records are of some time ago, and its texts may hold the API key.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storedKeys } from '../../src/config/setting-table.ts';
import type { Env } from '../../src/context.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { createProcesses } from '../../src/journal/processes.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';
import { target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const hour = 3_600_000;
const long: Scenario = { automations: { '*': { duration: '1h' } } };
const lost: Scenario = { ...long, faults: [{ on: 'trigger', do: 'loseAnswer' }] };

/** Makes all that is on record so much older. */
function age(env: Env, hours: number): void {
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  const older = (at: string) => new Date(Date.parse(at) - hours * hour).toISOString();
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replaceAll(/"at":"([^"]+)"/g, (_, at) => `"at":"${older(at)}"`),
  );
}

async function findingsOf(env: Env, ...flags: string[]) {
  const { stdout } = await runProgram(['doctor', '--offline', '--json', ...flags], { env });
  return jsonLines(stdout)[0].runctl.doctor as {
    name: string;
    result: string;
    message: string;
    advice: string | null;
  }[];
}

test.each<[finding: string, what: string, scenario: Scenario, act: string[], hours: number, result: string]>([
  ['unresolved_triggers', 'a trigger without an answer', lost, ['--give-up-after', '1ms'], 23, 'warning'],
  ['unresolved_triggers', 'a trigger without an answer', lost, ['--give-up-after', '1ms'], 25, 'ok'],
  ['unresolved_triggers', 'a trigger with an answer', long, [], 1, 'ok'],
])('%s: %s (%j, %j), %d h ago, is %s', async (name, _, scenario, flags, hours, result) => {
  const { env } = await withEmulator(scenario, { nowMs: Date.now });
  await runProgram(['trigger', 'nightly', '-q', ...flags], { env: { ...env, PATH: process.env.PATH } });
  age(env, hours);
  const finding = (await findingsOf(env)).find((each) => each.name === name);
  expect(finding).toMatchObject({ result });
  if (result === 'warning') expect(finding?.advice).toMatch(/`runctl \w+/);
});

test.each([
  [23, /^1 /],
  [49, /^none/],
])('a run that was unfinished %d h ago is counted among those to be watched, or not: %s', async (hours, says) => {
  const { env } = await withEmulator(long);
  await runProgram(['trigger', 'nightly'], { env });
  age(env, hours);
  expect((await findingsOf(env)).find(({ name }) => name === 'unfinished_runs')?.message).toMatch(says);
});

test.each([
  ['unresolved_triggers', 'a trigger without an answer', lost, ['--give-up-after', '1ms']],
  ['unfinished_runs', 'a run', long, []],
])('%s of this base URL are none where only another has %s', async (name, _, scenario, flags) => {
  const { env } = await withEmulator(scenario);
  await runProgram(['trigger', 'nightly', ...flags], { env });
  const { RUNCTL_BASE_URL: baseUrl = '' } = env;
  const here = { ...env, RUNCTL_BASE_URL: baseUrl.replace('127.0.0.1', 'localhost') };
  expect((await findingsOf(here)).find((each) => each.name === name)?.message).toBe('none');
});

test.each([
  ['the service', undefined, 'ok'],
  ['a login page', 'html', 'skipped'],
] as const)('the clock is compared with that of %s or not', async (_, page, result) => {
  const { env } = await withEmulator({ faults: page ? [{ on: 'any', do: page, status: 403 }] : [] });
  const { stdout } = await runProgram(['doctor', '--json'], { env });
  expect(jsonLines(stdout)[0].runctl.doctor).toContainEqual(expect.objectContaining({ name: 'clock', result }));
});

test('doctor --debug prints its request', async () => {
  const { env } = await withEmulator({});
  expect((await runProgram(['doctor', '--debug'], { env })).stderr).toMatch(/^debug: .*GET/m);
});

test.each(['--json', '--field runctl.doctor', ''])(
  'neither a message nor an advice shows the API key: %s',
  async (line) => {
    const { env } = await withEmulator(long);
    const { RUNCTL_API_KEY: apiKey = '' } = env;
    const folder = join(temporaryFolder(), apiKey);
    mkdirSync(folder);
    const file = join(folder, 'config.json');
    writeFileSync(file, '{}');
    chmodSync(file, 0o622);
    const flags = line.split(' ').filter(Boolean);
    const shared = { ...env, RUNCTL_CONFIG_DIR: folder, LANG: 'C.UTF-8' };
    const { stdout, stderr } = await runProgram(['doctor', '--offline', ...flags], { env: shared });
    expect(stdout).toContain('chmod go-w');
    expect(stdout + stderr).not.toContain(apiKey);
  },
);

test('a trigger that another process still sends is nothing to recover, for list and doctor', async () => {
  const { env } = await withEmulator(long);
  const baseUrl = env.RUNCTL_BASE_URL ?? '';
  const journal = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onTrouble() {} });
  const sent = {
    idempotencyKey: 'k',
    attempt: '1',
    account: 'a',
    body: '{}',
    userProvided: false,
    first: true,
  } as const;
  journal.append({ type: 'triggered', baseUrl, target, ...sent, process: createProcesses().own });
  for (const argv of [['list'], ['doctor', '--offline']]) {
    const { stdout, stderr } = await runProgram(argv, { env });
    expect([argv, stdout + stderr]).toEqual([
      argv,
      expect.stringContaining(`still being sent by process ${process.pid} on`),
    ]);
    expect(stdout + stderr).not.toContain('runctl recover');
  }
});

test.each([
  ['still runs', createProcesses().own, false],
  ['may still run in another container', 'another-host 8 1', false],
  ['was killed', createProcesses().own.replace(/ \d+ /, ' 999999999 '), true],
])('a trigger without an answer whose process %s is named by the next trigger, or not', async (_, process, isNamed) => {
  const { env } = await withEmulator(long);
  const journal = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onTrouble() {} });
  const sent = { idempotencyKey: 'k', attempt: '1', account: 'a', body: '{}', userProvided: false } as const;
  journal.append({ type: 'triggered', baseUrl: env.RUNCTL_BASE_URL ?? '', target, ...sent, first: true, process });
  const { code, stderr } = await runProgram(['trigger', `${target.projectId}/nightly`], { env });
  expect([code, stderr.includes('runctl recover')]).toEqual([0, isNamed]);
});

test('every setting that a profile stores has a finding', async () => {
  const { env } = await withEmulator(long);
  const names = jsonLines((await runProgram(['doctor', '--json'], { env })).stdout)[0].runctl.doctor.map(
    ({ name }: { name: string }) => name,
  );
  const missing = storedKeys.filter(
    (key) => !names.includes(key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  );
  expect(missing).toEqual([]);
});

test('a variable that is none of runctl is named, and one of a hook or of Kubernetes is not', async () => {
  const { env } = await withEmulator(long);
  const odd = {
    ...env,
    RUNCTL_PROFLE: 'staging',
    RUNCTL_EXIT_CODE: '0',
    RUNCTL_PROJCT: '',
    RUNCTL_SERVICE_HOST: '10.0.0.1',
    RUNCTL_PORT_80_TCP: 'tcp://10.0.0.1:80',
  };
  const found = (await findingsOf(odd)).filter(({ name }) => name === 'environment');
  expect(found).toMatchObject([{ result: 'warning', advice: 'see `runctl help settings`' }]);
  expect(found[0]?.message).toContain('RUNCTL_PROFLE');
  const line = "runctl: RUNCTL_PROFLE is set, but isn't a variable of runctl\n";
  for (const [command, said] of Object.entries({
    'list -q': line,
    'explain 2 --json': line,
    version: '',
    'list --help': '',
  }))
    expect([command, (await runProgram(command.split(' '), { env: odd })).stderr]).toEqual([command, said]);
  expect((await runProgram(['doctor', '-q'], { env: odd })).stderr).not.toContain('RUNCTL_PROFLE');
});
