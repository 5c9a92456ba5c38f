import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/run/exit-codes.ts';
import { isInstalled, needs } from '../helpers/needs.ts';
import { firstOf } from '../helpers/rotation.ts';
import { type Machine, withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

const crontab = blockOf('cron', 'crontab');

/** What cron makes of it: variables, and what each line hands to the shell. */
const lines = crontab.split('\n').filter((line) => line !== '');
const isVariable = (line: string) => /^[A-Z_]+=/.test(line);
const variables = Object.fromEntries(lines.filter(isVariable).map((line) => line.split(/=(.*)/).slice(0, 2)));
const commands = lines
  .filter((line) => !isVariable(line))
  .map((line) => line.replace(line.startsWith('@') ? /^\S+\s+/ : /^(\S+\s+){5}/, ''))
  // crontab(5): what is behind a bare % is the command's input.
  .map((command) => command.split(/(?<!\\)%/)[0]?.replaceAll('\\%', '%') ?? '');

function commandWith(words: string): string {
  const [command, ...others] = commands.filter((each) => each.includes(words));
  if (command === undefined || others.length > 0) throw new Error(`no line, or several, with ${words}`);
  return command;
}
const nightly = commandWith('trigger nightly');
const missed = commandWith('list nightly');
const watchAll = commandWith('watch --all');
const resolvers = [commandWith('recover'), watchAll];
const recipes = readFileSync(join(import.meta.dirname, '../../docs/recipes.md'), 'utf8');
const follower = `${watchAll} ${/(?<=add\s+`)--on-final '.*'(?=`)/.exec(recipes)?.[0]}`;

/** As cron would run it, but against the emulator. */
function asCron({ emulator, keyFile, env, folder, run }: Machine, command: string, around = {}) {
  const own = { RUNCTL_BASE_URL: emulator.url, RUNCTL_API_KEY_FILE: keyFile, ...env, ...around };
  const script = command.replace('/tmp/runctl.lock', `'${join(folder, 'lock')}'`);
  return run(['/bin/sh', '-c', script], { env: { ...variables, ...own } });
}

// Debian's cron checks with -n; others mean something else by it.
const checksSyntax = isInstalled('crontab') && spawnSync('crontab', ['-h']).stderr.includes('dry run');

test('cron accepts the crontab', async (context) => {
  needs(context, 'cron', checksSyntax);
  const { folder, run } = await withBareMachine();
  writeFileSync(join(folder, 'crontab'), crontab);
  const { code, stderr } = await run(['crontab', '-n', 'crontab'], { env: { PATH: process.env.PATH ?? '' } });
  expect(code, stderr).toBe(0);
});

test.each(commands.filter((command) => command !== missed))(
  'cron mails nothing if nothing fails: %s',
  async (command) => {
    const machine = await withBareMachine();
    expect(await asCron(machine, command)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  },
);

test('if a run fails, the mail names it and says how to see why', async () => {
  const machine = await withBareMachine({ automations: { nightly: { duration: '1ms', finalStatus: 'FAILED' } } });
  const { code, stdout } = await asCron(machine, nightly);
  expect(code).toBe(exitCodeOf('run_failed'));
  expect(stdout).toContain('FAILED nightly');
  expect(stdout).toContain(machine.emulator.runs()[0]?.executionId);
});

const marchNights = ['2027-03-26', '2027-03-27', '2027-03-28', '2027-03-29'];
const octoberNights = ['2026-10-23', '2026-10-24', '2026-10-25', '2026-10-26'];

test.each([
  ...firstOf(['04:00', '23:30']).map((hour) => ['forward', hour, marchNights] as const),
  ...firstOf(['04:00', '23:30']).map((hour) => ['back', hour, octoberNights] as const),
])('the crontab starts one run a night while clocks go %s, at %s', async (_, hour, nights) => {
  const machine = await withBareMachine();
  for (const night of nights) {
    for (const repeat of ['', ' 20 minutes']) {
      machine.setDate(`${night} ${hour}${repeat}`);
      expect(await asCron(machine, nightly)).toMatchObject({ code: 0 });
    }
  }
  const keys = machine.emulator.runs().map(({ idempotencyKey }) => idempotencyKey);
  expect(keys).toEqual(nights.map((night) => `nightly-${night}`));
});

test('in the morning somebody is told if no run completed in the night, and only then', async () => {
  const machine = await withBareMachine({
    automations: { nightly: { duration: '1ms', finalStatus: ['FAILED', 'COMPLETED'] } },
  });
  const told = { stdout: 'no nightly run completed tonight\n' };
  const nothing = { stdout: '', stderr: '' };
  expect(await asCron(machine, missed)).toMatchObject(told);
  machine.setDate('2026-11-24 04:00');
  expect(await asCron(machine, nightly)).toMatchObject({ code: exitCodeOf('run_failed') });
  expect(await asCron(machine, missed)).toMatchObject(told);
  machine.setDate('2026-11-25 04:00');
  expect(await asCron(machine, nightly)).toMatchObject({ code: 0 });
  expect(await asCron(machine, missed)).toMatchObject(nothing);
});

test('in the morning nobody is told that no run completed if the service cannot be asked', async () => {
  const machine = await withBareMachine({
    automations: { nightly: { duration: '1h' } },
    faults: [{ on: 'status', do: 'status', status: 401 }],
  });
  await machine.run(['runctl', 'trigger', 'nightly', '--quiet'], { env: machine.settings });
  const { stdout, stderr } = await asCron(machine, missed);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: expect.stringMatching(/1 run couldn't be polled/) });
});

test('nothing is triggered in the minutes in which recover runs', () => {
  const minutesOf = (words: string) => {
    const [minutes = ''] = lines.find((line) => line.includes(words))?.split(' ') ?? [];
    const [, step] = /^\*\/(\d+)$/.exec(minutes) ?? [];
    return step
      ? Array.from({ length: 60 / Number(step) }, (_, at) => at * Number(step))
      : minutes.split(',').map(Number);
  };
  const triggering = [...minutesOf('trigger nightly'), ...minutesOf('trigger sync')];
  expect(triggering).toEqual([0, 0, 15, 30, 45]);
  expect(minutesOf('recover').filter((minute) => triggering.includes(minute))).toEqual([]);
});

test.each(['1ms', '5s'])(
  'a trigger without a response is recovered, and its run mailed if it fails after %s',
  async (duration) => {
    const { emulator, ...machine } = await withBareMachine({
      automations: { sync: { duration, finalStatus: 'FAILED' } },
      faults: [{ on: 'trigger', to: 1, do: 'status', status: 501, acts: true }],
    });
    const sync = await machine.run(['runctl', 'trigger', 'sync'], { env: machine.settings });
    expect(sync).toMatchObject({ code: exitCodeOf('outcome_unknown') });
    const resolve = async () => {
      const ended = [];
      for (const command of resolvers) ended.push(await asCron({ emulator, ...machine }, command));
      return ended.map(({ stdout, stderr }) => stdout + stderr).join('');
    };
    expect(await resolve()).toMatch(/FAILED/);
    expect(emulator.runs()).toMatchObject([{ status: 'FAILED' }]);
    expect(await resolve()).toBe('');
  },
);

test('the watch of all runs runs its command for each run that was started without one, and only one such watch runs', async () => {
  const machine = await withBareMachine({ automations: { '*': { duration: '2s' } } }, { isProcess: true });
  const { folder, settings, run, install } = machine;
  install('logger', `echo "$3" >> '${join(folder, 'logged')}'`);
  expect(await run(['runctl', 'trigger', 'nightly', 'sync', '--quiet'], { env: settings })).toMatchObject({ code: 0 });
  const watches = await Promise.all([asCron(machine, follower), asCron(machine, follower)]);
  expect(watches.map(({ code, stdout, stderr }) => [code, stdout, stderr]).toSorted()).toEqual([
    [0, '', ''],
    [1, '', ''], // flock -n: another one runs
  ]);
  const logged = readFileSync(join(folder, 'logged'), 'utf8').trim().split('\n');
  expect(logged.toSorted()).toEqual(['nightly COMPLETED', 'sync COMPLETED']);
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
