import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/problems/exit-codes.ts';
import { isInstalled, needs } from '../helpers/needs.ts';
import { type Machine, withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

const crontab = blockOf('cron', 'crontab');

/** What cron makes of it: variables, and what each line hands to the shell. */
function readCrontab() {
  const lines = crontab.split('\n').filter((line) => line !== '');
  const env = Object.fromEntries(lines.filter(isVariable).map((line) => line.split(/=(.*)/).slice(0, 2)));
  const commands = lines.filter((line) => !isVariable(line)).map((line) => line.split(/\s+/).slice(5).join(' '));
  // crontab(5): what is behind a bare % is the command's input.
  return { env, commands: commands.map((command) => command.split(/(?<!\\)%/)[0]?.replaceAll('\\%', '%') ?? '') };
}
const isVariable = (line: string) => /^[A-Z_]+=/.test(line);

/** As cron would run it, but against the emulator and with a shorter splay. */
function asCron(machine: Machine, command: string) {
  const { emulator, keyFile, env } = machine;
  const own = { RUNCTL_BASE_URL: emulator.url, RUNCTL_API_KEY_FILE: keyFile, ...env };
  const argv = ['/bin/sh', '-c', command.replace('--splay 5m', '--splay 50ms')];
  return machine.run(argv, { env: { ...readCrontab().env, ...own } });
}

// Debian's cron checks with -n; others mean something else by it.
const checksSyntax = isInstalled('crontab') && spawnSync('crontab', ['-h']).stderr.includes('dry run');

test('the crontab is one that cron takes', async (context) => {
  needs(context, 'cron', checksSyntax);
  const { folder, run } = await withBareMachine();
  writeFileSync(join(folder, 'crontab'), crontab);
  const { code, stderr } = await run(['crontab', '-n', 'crontab'], { env: { PATH: process.env.PATH ?? '' } });
  expect(code, stderr).toBe(0);
});

test.each(readCrontab().commands)('cron mails nothing where nothing fails: %s', async (command) => {
  const machine = await withBareMachine();
  expect(await asCron(machine, command)).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('cron mails where a run fails', async () => {
  const machine = await withBareMachine({ automations: { nightly: { duration: '1ms', outcome: 'FAILED' } } });
  const { code, stdout } = await asCron(machine, readCrontab().commands[0] ?? '');
  expect(code).toBe(exitCodeOf('run_failed'));
  expect(stdout).toContain('FAILED nightly');
});

test('a line with the key of the day starts one run, however often it is tried', async () => {
  const machine = await withBareMachine();
  const [command = ''] = readCrontab().commands;
  const tries = await Promise.all([asCron(machine, command), asCron(machine, command)]);
  tries.push(await asCron(machine, command));
  expect(tries.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(machine.emulator.runs()).toHaveLength(1);
});

test('a command needs no HOME, no locale, no state folder, no input and no writable folder', async () => {
  const { env, settings, run } = await withBareMachine(undefined, { isProcess: true });
  const variables = Object.entries({ PATH: env.PATH, LC_ALL: 'nonsense', ...settings }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const script = 'cd /proc && runctl trigger nightly --watch --quiet <&- && echo ended';
  const { code, stdout, stderr } = await run(['env', '-i', ...variables, '/bin/sh', '-c', script]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'ended\n' });
  // The journal is done without, and that is said once.
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
