// What a bare `runctl` shows on a terminal: where things stand, from the journal alone.
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { createProcesses } from '../../src/journal/processes.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { executionId, projectId, target } from '../helpers/scripted-service.ts';

const scenario: Scenario = {
  automations: { long: { duration: '1h' }, good: { duration: '1s' }, bad: { duration: '1s', outcome: 'FAILED' } },
  faults: [{ on: 'trigger', automation: 'lost', do: 'loseAnswer' }],
};

const lose = ['trigger', 'lost', '--give-up-after', '1ms'];
const follow = (name: string) => ['trigger', name, '--watch'];

test.each<[string, string[][], RegExp[], RegExp[]]>([
  ['nothing was ever done', [], [/runctl trigger <automation> --watch/], [/unresolved|unfinished/i]],
  ['all is well', [follow('good')], [/Nothing is unresolved, unfinished or failed/], [/runctl trigger/]],
  ['a run is unfinished', [['trigger', 'long']], [/RUNNING.* long /, /runctl watch --all/], [/recover|Failed/]],
  ['a run failed', [follow('good'), follow('bad')], [/FAILED +bad /, /runctl result <automation>/], [/ good /]],
  ['a response was lost', [lose], [/UNKNOWN +lost/, /runctl recover/], [/Failed|watch --all/]],
  ['everything is wrong', [follow('bad'), lose, ['trigger', 'long']], [/lost[\s\S]*long[\s\S]*bad/], [/Nothing is/]],
])('where %s', async (_, lines, shown, notShown) => {
  const { env, clock, emulator } = await withEmulator(scenario);
  for (const argv of lines) await runProgram(argv, { env, clock });
  const requests = emulator.requests.length;
  const { code, stdout, stderr } = await bare(env, clock);
  expect(code).toBe(0);
  for (const text of shown) expect(stdout + stderr).toMatch(text);
  for (const text of notShown) expect(stdout + stderr).not.toMatch(text);
  expect(stdout.split('\n').length).toBeLessThan(16);
  expect(emulator.requests.length, 'nothing is sent').toBe(requests);
});

test('a failure after which the automation completed is not shown', async () => {
  const { env, clock } = await withEmulator({
    automations: { '*': { duration: '1s', outcome: ['FAILED', 'COMPLETED'] } },
  });
  await runProgram(follow('nightly'), { env, clock });
  expect((await bare(env, clock)).stdout).toMatch(/FAILED/);
  await runProgram(follow('nightly'), { env, clock });
  expect((await bare(env, clock)).stdout).toMatch(/Nothing is unresolved/);
});

test('of several failures of one automation, only the newest is shown', async () => {
  const { env, clock } = await withEmulator(scenario);
  for (const name of ['bad', 'bad', 'bad']) await runProgram(follow(name), { env, clock });
  expect((await bare(env, clock)).stdout.match(/FAILED +bad /g)).toHaveLength(1);
});

test.each([
  [23, /FAILED/],
  [25, /Nothing is unresolved/],
])('a run that ended %d h ago, hours after it began, failed since yesterday or not', async (hours, shown) => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '2h', outcome: 'FAILED' } } });
  await runProgram(['trigger', 'nightly'], { env, clock });
  clock.leap(2 * 3_600_000);
  await runProgram(['status', 'nightly'], { env, clock });
  clock.leap(hours * 3_600_000);
  expect((await bare(env, clock)).stdout).toMatch(shown);
});

test('a trigger that another process is still sending is not one to recover', async () => {
  const { env, clock } = await withEmulator(scenario);
  const { RUNCTL_STATE_DIR: folder, RUNCTL_BASE_URL: baseUrl = '' } = env;
  const journal = openJournal({ folder, nowMs: clock.nowMs, onTrouble() {} });
  const sent = { type: 'triggered', baseUrl, target, account: 'a', body: '{}', userProvided: false } as const;
  const process = createProcesses().own;
  journal.append({ ...sent, idempotencyKey: 'k', attempt: '1', process, first: true });
  const { stdout } = await bare({ ...env, RUNCTL_PROJECT: projectId }, clock);
  expect(stdout).not.toContain('runctl recover');
  expect(stdout).toMatch(/Nothing is unresolved/);
});

test('runs of which the newest file has none are no first run to come', async () => {
  const { env, clock } = await withEmulator(scenario);
  const { RUNCTL_STATE_DIR: folder, RUNCTL_BASE_URL: baseUrl = '' } = env;
  const journal = openJournal({ folder, nowMs: clock.nowMs, fileBytes: 1, onTrouble() {} });
  for (const each of [baseUrl, 'https://other.example.com']) {
    journal.append({ type: 'status', baseUrl: each, target, executionId, status: 'COMPLETED', first: true });
    clock.leap(100 * 3_600_000);
  }
  const { stdout } = await bare({ ...env, RUNCTL_PROJECT: projectId }, clock);
  expect(stdout).toMatch(/Nothing is unresolved/);
});

test('in a pipe it is the help', async () => {
  const { env, clock } = await withEmulator(scenario);
  expect((await runProgram([], { env, clock })).stdout).toMatch(/^Usage: runctl/);
});

const bare = (env: Record<string, string>, clock: Awaited<ReturnType<typeof withEmulator>>['clock']) => {
  const screen = new ScreenStream(new Terminal({ cols: 100, rows: 30, allowProposedApi: true }));
  return runProgram([], {
    env: { ...env, NO_COLOR: '1' },
    clock,
    screen,
    input: Object.assign(new PassThrough(), { isTTY: true }),
  });
};
