// A config file holds shell commands and says where the API key is sent, so one that others may write to is not obeyed.
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  ['doctor'],
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

  test('is named by doctor as the first thing that is wrong', async () => {
    const { env, file } = await withConfigFile(modes);
    const { stdout } = await runProgram(['doctor', '--json'], { env });
    const findings: { name: string; result: string }[] = JSON.parse(stdout).runctl.doctor;
    expect(findings.find(({ result }) => result === 'warning')).toMatchObject({
      name: 'config_file',
      advice: expect.stringContaining(`\`chmod go-w ${shellWord(join(file, '../..', shared))}\``),
    });
    expect(findings.find(({ name }) => name === 'base_url')).toMatchObject({ result: 'skipped' });
  });
});

describe('a config file that others may write to', () => {
  test('has every command in one of these tables, but those that are a service of their own', () => {
    const covered = new Set([...refusing, ...reading, ['emulator']].map(([name]) => name));
    expect(program.commands?.filter(({ name }) => !covered.has(name)).map(({ name }) => name)).toEqual([]);
  });

  test('is repaired by `config set`', async () => {
    const { env, file } = await withConfigFile({ mode: 0o666 });
    expect(await runProgram(['config', 'set', 'requestTimeout', '5s'], { env })).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await runProgram(['trigger', 'nightly'], { env })).toMatchObject({ code: 0 });
  });
});

describe('a config file in a folder in which others can replace it', () => {
  test('is neither written nor looked at for its profiles', async () => {
    const { env } = await withConfigFile({ folderMode: 0o777 });
    for (const argv of [
      ['config', 'set', 'requestTimeout', '5s'],
      ['list', '--profile', 'staging'],
    ]) {
      const { code, stderr } = await runProgram(argv, { env });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('chmod go-w') });
    }
  });

  test('is refused only if it is there: without one, the variables do', async () => {
    const { env, file } = await withConfigFile({ folderMode: 0o777 });
    rmSync(file);
    expect((await runProgram(['list', '--offline'], { env })).code).toBe(0);
  });

  test('is read where the folder is sticky', async () => {
    const { env } = await withConfigFile({ folderMode: 0o1777 });
    expect(await runProgram(['trigger', 'nightly'], { env })).toMatchObject({ code: 0 });
  });
});

test('a journal in a folder in which others can replace it is not written, and the trigger works without', async () => {
  const { env } = await withConfigFile({});
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  const state = join(folder, 'state');
  const { code, stderr } = await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: state } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`chmod go-w ${folder}`) });
  expect(existsSync(state)).toBe(false);
});
