// A config file holds shell commands and says where the API key is sent, so one that others may write to is not obeyed.
import { execSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import { program } from '../../src/program.ts';
import { shellWord } from '../../src/run/quote.ts';
import { withMachine } from '../helpers/machine.ts';
import { executionId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A machine whose config file holds commands that would be noticed. */
async function withConfigFile({ mode = 0o600, folderMode = 0o700 }) {
  const { emulator, env, run, store, configFile } = await withMachine({ automations: { '*': { duration: '1ms' } } });
  const ran = join(temporaryFolder(), 'ran');
  const hook = `touch '${ran}'; echo ${emulator.apiKey}`;
  store({ default: { baseUrl: env.RUNCTL_BASE_URL, apiKeyCommand: hook, onExit: hook } });
  chmodSync(configFile, mode);
  chmodSync(dirname(configFile), folderMode);
  const own = { RUNCTL_API_KEY: '', PATH: process.env.PATH };
  return {
    file: configFile,
    folder: dirname(configFile),
    run: (line: string, changes = {}) =>
      run(line === '' ? [] : line, { env: { ...own, ...changes }, clock: systemClock }),
    /** Has anything been run or sent? */
    isActive: () => existsSync(ran) || emulator.requests.length > 0,
  };
}

const refusing = [
  ...['trigger nightly', 'list', 'recover', `agent status ${executionId} ${executionId}`],
  ...[`status ${executionId}`, `result ${executionId}`, `watch ${executionId}`],
  // Its profiles aren't read, so none is missing.
  'trigger nightly --profile staging',
];
const reading = [
  ...['config list', 'config get baseUrl', 'config path', 'help', 'help settings', 'trigger --help'],
  ...['version', 'explain 2', 'completion bash', ''],
];

describe.each([
  ['that others may write to', { mode: 0o620 }, 'file'],
  ['in a folder in which others can replace it', { folderMode: 0o777 }, 'folder'],
] as const)('a config file %s', (_, modes, shared) => {
  test.each(refusing)('is refused by `%s`', async (line) => {
    const { run, isActive, ...paths } = await withConfigFile(modes);
    const { code, stderr } = await run(line);
    expect([code, stderr, isActive()]).toEqual([
      2,
      expect.stringContaining(`chmod go-w ${shellWord(paths[shared])}`),
      false,
    ]);
    expect(stderr).toContain('RUNCTL_CONFIG_DIR');
  });

  test.each(reading)('does not stop `%s`, which runs nothing of what is stored', async (line) => {
    const { run, isActive } = await withConfigFile(modes);
    expect([(await run(line)).code, isActive()]).toEqual([0, false]);
  });

  test('is reported by doctor, which runs nothing of what is stored', async () => {
    const { run, isActive, ...paths } = await withConfigFile(modes);
    const { code, documents } = await run('doctor --json');
    const failed = documents[0].runctl.doctor.find(({ result }: { result: string }) => result === 'failed');
    const advice = expect.stringContaining(`'chmod go-w ${shellWord(paths[shared])}'`);
    expect([code, failed, isActive()]).toEqual([2, expect.objectContaining({ name: 'settings', advice }), false]);
  });

  test.each(['config set requestTimeout 5s', 'config unset requestTimeout'])(
    'is repaired by `%s`, which says so',
    async (line) => {
      const { run, file, folder } = await withConfigFile(modes);
      const { code, stderr } = await run(line);
      expect([code, stderr]).toEqual([0, expect.stringContaining("'runctl config list'")]);
      expect([statSync(file).mode & 0o022, statSync(folder).mode & 0o022]).toEqual([0, 0]);
      expect((await run('trigger nightly')).code).toBe(0);
    },
  );
});

describe('in a Kubernetes volume that a group can write to', () => {
  /** Types the command that a message ends with. */
  const repairAsTold = (stderr: string) => execSync(/^ *(?:→|->)? *(chmod .*)$/m.exec(stderr)?.[1] ?? 'false');
  const groupModes = { mode: 0o660, folderMode: 0o2770 };

  test('the one command that is printed repairs the config file and its folder', async () => {
    const { run } = await withConfigFile(groupModes);
    const { code, stderr } = await run('trigger nightly');
    expect([code, stderr]).toEqual([2, expect.stringContaining('fsGroupChangePolicy: OnRootMismatch')]);
    repairAsTold(stderr);
    expect((await run('trigger nightly')).code).toBe(0);
  });

  test('the one command that is printed repairs the folder of the journal and every file of it', async () => {
    const { run } = await withConfigFile({});
    const folder = join(temporaryFolder(), 'a b');
    mkdirSync(folder);
    const files = ['journal.jsonl', 'journal-1.jsonl', 'journal-2.jsonl'].map((name) => join(folder, name));
    for (const file of files) writeFileSync(file, '');
    for (const file of files) chmodSync(file, groupModes.mode);
    chmodSync(folder, groupModes.folderMode);
    const list = (line: string) => run(line, { RUNCTL_STATE_DIR: folder });
    const { stderr } = await list('list --offline');
    expect(stderr).toContain('fsGroupChangePolicy: OnRootMismatch');
    expect(stderr).not.toContain('RUNCTL_STATE_DIR');
    repairAsTold(stderr);
    expect(files.map((file) => statSync(file).mode & 0o022)).toEqual([0, 0, 0]);
    expect((await list('list --offline')).stderr).not.toContain('others');
  });

  test.each([0, 2])(
    'a journal of which only file %i can be written to by others is repaired as told',
    async (index) => {
      const { run } = await withConfigFile({});
      const folder = temporaryFolder();
      const files = ['journal.jsonl', 'journal-1.jsonl', 'journal-2.jsonl'].map((name) => join(folder, name));
      for (const file of files) writeFileSync(file, '', { mode: 0o600 });
      chmodSync(files[index] ?? '', 0o660);
      const { stderr } = await run('list --offline', { RUNCTL_STATE_DIR: folder });
      repairAsTold(stderr);
      expect((await run('list --offline', { RUNCTL_STATE_DIR: folder })).stderr).not.toContain('journal in');
    },
  );
});

test('every command is in one of these tables, except the emulator', () => {
  const covered = new Set([...refusing, ...reading, 'doctor', 'emulator'].map((line) => line.split(' ')[0]));
  expect(program.commands.map((command) => command.name()).filter((name) => !covered.has(name))).toEqual([]);
});

describe('a folder that others can write to', () => {
  test('is refused for settings and not changed if it is shared on purpose, such as /tmp', async () => {
    const { run, folder } = await withConfigFile({ folderMode: 0o1777 });
    for (const line of ['trigger nightly', 'config set requestTimeout 5s'])
      expect(await run(line)).toMatchObject({ code: 2, stderr: expect.not.stringContaining('chmod') });
    expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  });

  test('is refused only if there is a config file: without one, the variables do', async () => {
    const { run, file } = await withConfigFile({ folderMode: 0o777 });
    rmSync(file);
    expect((await run('list --offline')).code).toBe(0);
  });

  test('may contain a folder of the user', async () => {
    const { run, folder } = await withConfigFile({});
    chmodSync(dirname(folder), 0o777);
    expect((await run('trigger nightly')).code).toBe(0);
  });

  test('is not used for the journal, and the folder that the hint names is used instead', async () => {
    const { run } = await withConfigFile({});
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    const { code, stderr } = await run('trigger nightly', { RUNCTL_STATE_DIR: folder });
    const [, named = ''] = /RUNCTL_STATE_DIR='?([^',]+)/.exec(stderr) ?? [];
    expect([code, named, readdirSync(folder)]).toEqual([0, join(folder, 'runctl'), []]);
    const inside = await run('trigger nightly', { RUNCTL_STATE_DIR: named });
    expect(inside).toMatchObject({ code: 0, stderr: expect.not.stringContaining('journal') });
    expect(statSync(named).mode & 0o777).toBe(0o700);
  });
});
