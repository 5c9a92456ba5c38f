import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { createFastClock } from '../helpers/fast-clock.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

const hourMs = 3_600_000;

/** A machine on which runs of nightly take a minute. */
async function machine(scenario: Scenario = { automations: { nightly: { duration: '1m' } } }) {
  const { env, clock, emulator } = await withEmulator(scenario);
  return { env, clock, emulator, run: (...argv: string[]) => runProgram(argv, { env, clock }) };
}

test('an automation that completed within the time is fine', async () => {
  const { run, clock } = await machine();
  await run('trigger', 'nightly', '--watch');
  clock.leap(7 * hourMs);
  expect(await run('check', 'nightly', '--within', '26h')).toMatchObject({
    code: 0,
    stdout: 'nightly completed 7h ago\n',
    stderr: '',
  });
  expect(await run('check', 'nightly', '--within', '26h', '--quiet')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test('a run that was triggered before the time and completed within it is found by a poll', async () => {
  const { run, clock } = await machine({ automations: { nightly: { duration: '2h' } } });
  await run('trigger', 'nightly');
  clock.leap(2.5 * hourMs);
  expect((await run('check', 'nightly', '--within', '1h')).code).toBe(0);
});

test('a time that a damaged record gives does not count', async () => {
  const { run, env } = await machine();
  await run('trigger', 'nightly', '--watch');
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/"completedAt":"[^"]*"/g, '"completedAt":"soon"'));
  const { code, stdout } = await run('check', 'nightly', '--within', '26h', '--json');
  expect([code, JSON.parse(stdout).runctl.check.lastCompletedAt]).toEqual([0, expect.stringMatching(/^\d{4}-/)]);
});

test('a trigger whose response was lost is named by check, and by a trigger that meets its run', async () => {
  const { run } = await machine({
    automations: { nightly: { duration: '1h' } },
    faults: [{ on: 'trigger', nth: 1, do: 'hang', acts: true }],
  });
  const brief = ['--request-timeout', '1s', '--give-up-after', '1s'];
  expect(await run('trigger', 'nightly', ...brief)).toMatchObject({ code: 12 });
  for (const argv of [
    ['check', 'nightly', '--within', '26h'],
    ['trigger', 'nightly'],
  ]) {
    const { code, stderr } = await run(...argv, '--json');
    expect([code, stderr.split('\n').at(-2)]).toEqual([
      argv[0] === 'check' ? 15 : 5,
      expect.stringContaining('runctl recover'),
    ]);
  }
  const { code, stderr } = await run('check', 'weekly', '--within', '26h', '--json');
  expect([code, stderr]).toEqual([15, expect.not.stringContaining('recover')]);
});

test('where a trigger was lost after the last run, check advises to recover it first', async () => {
  const { run, clock } = await machine({
    automations: { nightly: { duration: '1m' } },
    faults: [{ on: 'trigger', nth: 2, do: 'loseAnswer' }],
  });
  await run('trigger', 'nightly', '--watch');
  clock.leap(30 * hourMs);
  expect((await run('trigger', 'nightly', '--give-up-after', '1ms')).code).toBe(12);
  const { code, stderr } = await run('check', 'nightly', '--within', '26h');
  expect([code, stderr]).toEqual([15, expect.stringMatching(/last completed.*\n.*runctl recover/)]);
});

test('one that completed longer ago is overdue, and says what became of its last run', async () => {
  const { run, clock } = await machine({
    automations: { nightly: { duration: '1m', outcome: ['COMPLETED', 'FAILED'] } },
  });
  await run('trigger', 'nightly', '--watch');
  clock.leap(24 * hourMs);
  await run('trigger', 'nightly', '--watch');
  clock.leap(7 * hourMs);
  const { code, stdout, stderr } = await run('check', 'nightly', '--within', '26h', '--quiet');
  expect({ code, stdout }).toEqual({ code: 15, stdout: '' });
  expect(stderr).toContain(
    'runctl: nightly has not completed within 26h: it last completed 1d 7h ago; its last run: FAILED 7h ago\n',
  );
});

test('an automation that nobody started on this machine is overdue', async () => {
  const { run, emulator } = await machine();
  const { code, stderr } = await run('check', 'nightly', '--within', '26h');
  expect(code).toBe(15);
  expect(stderr).toContain('nightly has not completed within 26h: no runs are recorded on this machine');
  expect(emulator.requests).toHaveLength(0);
});

test('an automation whose runs are recorded for another base URL is overdue, and that one is named', async () => {
  const { run, env, clock } = await machine({ faults: [{ on: 'trigger', automation: 'weekly', do: 'loseAnswer' }] });
  await run('trigger', 'nightly', '--watch');
  // A trigger without a known run is none to look for elsewhere.
  await run('trigger', 'weekly', '--give-up-after', '1ms');
  const { RUNCTL_BASE_URL: baseUrl = '' } = env;
  const elsewhere = { ...env, RUNCTL_BASE_URL: baseUrl.replace('127.0.0.1', 'localhost') };
  const { code, stderr } = await runProgram(['check', 'nightly', '--within', '26h'], { env: elsewhere, clock });
  expect(code).toBe(15);
  expect(stderr).toContain(`--base-url ${baseUrl}`);
  const other = await runProgram(['check', 'weekly', '--within', '26h'], { env: elsewhere, clock });
  expect([other.code, other.stderr]).toEqual([15, expect.not.stringContaining('--base-url')]);
});

test.each([
  ['completed since', 'COMPLETED', 0, ''],
  ['failed since', 'FAILED', 15, 'its last run: FAILED'],
] as const)('a run that nobody watched is polled once: it %s', async (_, outcome, code, message) => {
  const { run, clock, emulator } = await machine({ automations: { nightly: { duration: '1m', outcome } } });
  await run('trigger', 'nightly');
  clock.leap(hourMs);
  const ended = await run('check', 'nightly', '--within', '26h');
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(message);
  expect(emulator.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
  // What was learned is in the journal: nobody has to ask again.
  await run('check', 'nightly', '--within', '26h');
  expect(emulator.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
});

test('a run that is not known to have finished and cannot be polled is overdue, and the message says why', async () => {
  const { env, run, clock } = await machine();
  const id = (await run('trigger', 'nightly')).stdout.trim();
  clock.leap(hourMs);
  const { RUNCTL_API_KEY: _, ...keyless } = env;
  const { code, stderr } = await runProgram(['check', 'nightly', '--within', '26h'], { env: keyless, clock });
  expect(code).toBe(15);
  expect(stderr).toContain(`run ${id} couldn't be polled: no API key is set`);
});

test('several automations have a line each, and a document each', async () => {
  const { run } = await machine({ automations: { '*': { duration: '1m' } } });
  await run('trigger', 'nightly', '--watch');
  const text = await run('check', 'nightly', 'weekly', '--within', '26h');
  expect(text.code).toBe(15);
  expect(text.stdout).toMatch(/^nightly completed (just now|\S+ ago)\n$/);
  expect(text.stderr).toContain('weekly has not completed within 26h: no runs are recorded on this machine');
  const { stdout } = await run('check', 'nightly', 'weekly', '--within', '26h', '--json');
  expect(jsonLines(stdout)).toMatchObject([
    {
      automationName: 'nightly',
      runctl: { exitCode: 0, outcome: 'ok', check: { isOverdue: false, lastStatus: 'COMPLETED' } },
    },
    {
      automationName: 'weekly',
      executionId: null,
      runctl: { exitCode: 15, outcome: 'overdue', check: { isOverdue: true } },
    },
  ]);
});

test.each([
  ['no time', []],
  ['no time at all', ['--within', '0']],
  ['nothing', ['--within', '0s']],
  ['no duration', ['--within', '26']],
])('a check without a time is refused: %s', async (_, flags) => {
  const { run, emulator } = await machine();
  expect((await run('check', 'nightly', ...flags)).code).toBe(2);
  expect(emulator.requests).toHaveLength(0);
});

test('runs that failed are skipped for the newest one that completed', async () => {
  const { run, clock } = await machine({
    automations: { nightly: { duration: '1m', outcome: ['COMPLETED', 'FAILED'] } },
  });
  await run('trigger', 'nightly', '--watch');
  for (let day = 0; day < 3; day++) {
    clock.leap(24 * hourMs);
    await run('trigger', 'nightly', '--watch');
  }
  expect((await run('check', 'nightly', '--within', '26h')).stderr).toMatch(/completed 3d( \d+h)? ago/);
});

test('an API key from standard input is read once, whatever is checked', async () => {
  const { env, run, clock } = await machine({ automations: { '*': { duration: '1m' } } });
  await run('trigger', 'nightly', 'weekly');
  clock.leap(hourMs / 2);
  const argv = ['check', 'nightly', 'weekly', '--within', '26h', '--api-key-file', '-'];
  const { code, stderr } = await runProgram(argv, {
    env: { ...env, RUNCTL_API_KEY: '' },
    input: env.RUNCTL_API_KEY,
    clock,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('list --json warns of a run that it could not poll, and list says it once', async () => {
  const { run, emulator, clock } = await machine();
  await run('trigger', 'nightly');
  await emulator.close();
  clock.leap(2 * 60_000);
  const { stdout, stderr } = await run('list', '--json');
  const [listed] = jsonLines(stdout);
  expect(listed).toMatchObject({
    status: 'RUNNING',
    runctl: { lastConfirmed: { status: 'RUNNING' }, warnings: [{ name: 'status_unavailable' }] },
  });
  expect(stderr).toMatch(/^1 run couldn't be polled: .*\n$/);
});

test('list waits three seconds for a service that hangs, and says so', async () => {
  const { env } = await withEmulator({ faults: [{ on: 'status', do: 'hang' }] });
  const clock = createFastClock();
  await runProgram(['trigger', 'nightly'], { env, clock });
  const { stderr } = await runProgram(['list'], { env, clock });
  expect(stderr).toMatch(/^1 run couldn't be polled: no response within 3s\n/);
});

test('list says nothing of polls where nobody polls any more', async () => {
  const { run, clock, emulator } = await machine();
  await run('trigger', 'nightly');
  clock.leap(49 * hourMs);
  const { stdout, stderr } = await run('list', '--json');
  expect(jsonLines(stdout)).toMatchObject([{ status: 'RUNNING', runctl: { warnings: [] } }]);
  expect([stderr, emulator.requests.filter(({ method }) => method === 'GET')]).toEqual(['', []]);
});
