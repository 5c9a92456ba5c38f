// A config file holds shell commands and says where the API key is sent, so one that others may write to is not obeyed.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shellWord } from '../../src/problems/quote.ts';
import { program } from '../../src/program.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A machine whose config file holds hooks that would be noticed. */
async function withConfigFile({ mode = 0o600, folderMode = 0o700 }) {
  const { emulator, env } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
  const { RUNCTL_API_KEY: _, ...others } = env;
  const [folder, ran] = [join(temporaryFolder(), 'config'), join(temporaryFolder(), 'ran')];
  const file = join(folder, 'config.json');
  const hook = `touch '${ran}'; echo ${env.RUNCTL_API_KEY}`;
  const profile = { baseUrl: env.RUNCTL_BASE_URL, apiKeyCommand: hook, onExit: hook };
  mkdirSync(folder);
  writeFileSync(file, JSON.stringify({ profiles: { default: profile } }));
  chmodSync(file, mode);
  chmodSync(folder, folderMode);
  const all = { ...others, RUNCTL_CONFIG_DIR: folder, PATH: process.env.PATH };
  return { emulator, file, env: all, hasRun: () => existsSync(ran) };
}

const refusing = [
  ['trigger', 'nightly'],
  ['status', executionId],
  ['result', executionId],
  ['watch', executionId],
  ['list'],
  ['recover'],
  ['agent', 'status', executionId, executionId],
];
const reading = [
  ['config', 'list'],
  ['config', 'get', 'baseUrl'],
  ['config', 'path'],
  ['help'],
  ['help', 'settings'],
  ['trigger', '--help'],
  ['version'],
  ['explain', '2'],
  ['completion', 'bash'],
  [],
];

const sharedWays = [
  ['that others may write to', { mode: 0o620 }, 'config/config.json'],
  ['in a folder in which others can replace it', { folderMode: 0o777 }, 'config'],
] as const;

describe.each(sharedWays)('a config file %s', (_, modes, shared) => {
  test.each(refusing)('is refused by %s %s', async (...argv) => {
    const { emulator, file, env, hasRun } = await withConfigFile(modes);
    const { code, stderr } = await runProgram(argv, { env });
    const fix = `chmod go-w ${shellWord(join(file, '../..', shared))}`;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(fix) });
    expect(stderr).toContain('RUNCTL_CONFIG_DIR');
    expect([hasRun(), emulator.requests]).toEqual([false, []]);
  });

  test.each(reading)('stops neither %s %s nor has it run what is stored', async (...argv) => {
    const { emulator, env, hasRun } = await withConfigFile(modes);
    const { code } = await runProgram(argv, { env });
    expect([code, hasRun(), emulator.requests]).toEqual([0, false, []]);
  });

  test('is what doctor finds, and it runs nothing of what is stored', async () => {
    const { emulator, env, file, hasRun } = await withConfigFile(modes);
    const { code, stdout } = await runProgram(['doctor', '--json'], { env });
    const findings: { result: string }[] = JSON.parse(stdout).runctl.doctor;
    expect(code).toBe(2);
    expect(findings.find(({ result }) => result === 'failed')).toMatchObject({
      name: 'settings',
      advice: expect.stringContaining(`\`chmod go-w ${shellWord(join(file, '../..', shared))}\``),
    });
    expect([hasRun(), emulator.requests]).toEqual([false, []]);
  });

  test.each([
    ['config', 'set', 'requestTimeout', '5s'],
    ['config', 'unset', 'requestTimeout'],
  ])('is repaired by %s %s, which says so', async (...argv) => {
    const { env, file } = await withConfigFile(modes);
    const { code, stderr } = await runProgram(argv.filter(Boolean), { env });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/until now: .*`runctl config list`/)]);
    expect([statSync(file).mode & 0o022, statSync(join(file, '..')).mode & 0o022]).toEqual([0, 0]);
    expect(await runProgram(['trigger', 'nightly'], { env })).toMatchObject({ code: 0 });
  });
});

test('every command is in one of these tables, but those that are a service of their own', () => {
  const covered = new Set([...refusing, ...reading, ['doctor'], ['emulator'], ['demo']].map(([name]) => name));
  expect(program.commands?.filter(({ name }) => !covered.has(name)).map(({ name }) => name)).toEqual([]);
});

test('a folder such as /tmp, in which everybody can write, is refused for settings and stays as it is', async () => {
  const { env, file } = await withConfigFile({ folderMode: 0o1777 });
  for (const argv of [
    ['trigger', 'nightly'],
    ['config', 'set', 'requestTimeout', '5s'],
  ])
    expect(await runProgram(argv, { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod go-w') });
  expect(statSync(join(file, '..')).mode & 0o7777).toBe(0o1777);
});

test('a folder that others can write to is refused only if there is a config file: without one, the variables do', async () => {
  const { env, file } = await withConfigFile({ folderMode: 0o777 });
  rmSync(file);
  expect((await runProgram(['list', '--offline'], { env })).code).toBe(0);
});

test('a folder of mine may be in one that everybody can write to', async () => {
  const { env, file } = await withConfigFile({});
  chmodSync(join(file, '../..'), 0o777);
  expect(await runProgram(['trigger', 'nightly'], { env })).toMatchObject({ code: 0 });
});

test('a journal in a folder that others can write to is neither written nor read, and the folder that is named is used', async () => {
  const { env } = await withConfigFile({});
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  const { code, stderr } = await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: folder } });
  const named = /RUNCTL_STATE_DIR=(\S+), which/.exec(stderr)?.[1];
  expect([code, named, readdirSync(folder)]).toEqual([0, join(folder, 'runctl'), []]);
  const inside = await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: named } });
  expect(inside).toMatchObject({ code: 0, stderr: expect.not.stringContaining('journal') });
  expect(statSync(named ?? '').mode & 0o777).toBe(0o700);
});
