// What a bare `runctl` at a terminal finds in the journal that needs attention. How it reads is in test/words.txt.
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';

const error = { type: 'step_failed', message: 'Step "Post" failed, which takes more words than fit into a line' };
const scenario: Scenario = {
  automations: {
    '*': { duration: '2h', finalStatus: 'FAILED' },
    good: { duration: '1s' },
    bad: { duration: '1s', finalStatus: 'FAILED', error },
    replaced: { duration: '1s' },
    mended: { duration: '1s', finalStatus: ['FAILED', 'COMPLETED'] },
  },
  faults: [loseResponse({ automation: 'lost' }), loseResponse({ automation: 'replaced', to: 2 })],
};
const [bad, mended, lost] = ['trigger bad --watch', 'trigger mended --watch', 'trigger lost --give-up-after 1ms'];
const many = Array.from({ length: 12 }, (_, n) => `a${n}`);

const startMs = Date.parse('2026-01-02T03:04:05Z');

// biome-ignore format: a table
test.each<[string, [afterHours: number, line: string][], string[]]>([
  ['nothing if all is well', [[0, 'trigger good --watch']], []],
  ['an unfinished run', [[0, 'trigger long'], [1, '']], ['long, last seen 1h: watch']],
  ['an unresolved trigger', [[0, lost], [2, '']], ['lost 2h: recover']],
  ['no trigger that a later one supersedes',
    [[0, 'trigger replaced --give-up-after 1ms'], [1, 'trigger replaced --watch'], [0, 'recover']], []],
  ['nothing that is no longer open', [[0, lost], [0, 'trigger long'], [25, '']], []],
  ['a failure', [[0, bad], [3, '']], ['bad 3h: result']],
  ['no failure of the day before', [[0, bad], [25, '']], []],
  ['the failure of a run that began the day before', [[0, 'trigger long'], [2, 'status @last'], [23, '']], ['long 23h: result']],
  ['the newest failure of an automation', [[0, bad], [1, bad]], ['bad 1s: result']],
  ['no failure after which the automation completed', [[0, mended], [0, mended]], []],
  ['a failure after which that name completed in another project', [[0, `${mended} -p ${randomUUID()}`], [1, mended], [0, mended]],
    ['mended 1h: result']],
  ['what is unresolved, unfinished and failed, in this order', [[0, bad], [0, lost], [3, 'trigger long']],
    ['lost 3h: recover', 'long, last seen just: watch', 'bad 3h: result']],
  ['ten at most', [[0, `trigger ${many.join(' ')}`]], many.slice(2).reverse().map((name) => `${name}, last seen just: watch`)],
])('a bare `runctl` shows %s, from the journal alone', async (_, commands, shown) => {
  const { env, clock, emulator } = await withEmulator(scenario, {}, createLeapingClock(startMs));
  const random = () => 0.5;
  for (const [hours, line] of commands) {
    clock.leap(hours * 3_600_000);
    if (line) await runProgram(line.split(' '), { env, clock, random });
  }
  const requests = emulator.requests.length;
  const screen = new ScreenStream(new Terminal({ cols: 80, rows: 30, allowProposedApi: true }));
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const inForce = { ...env, NO_COLOR: '1', LANG: 'C.UTF-8' };
  const { code, stdout } = await runProgram([], { env: inForce, clock, screen, input });
  expect([code, emulator.requests.length]).toEqual([0, requests]);
  const found = stdout.matchAll(/^\S+ [A-Z]+ (?<about>\w+,? (?:last seen )?\w+).* → runctl (?<step>\w+)/gm);
  expect(Array.from(found, ({ groups }) => `${groups?.about}: ${groups?.step}`)).toEqual(shown);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test.each([
  ['if an API key is set, how to start one', {}, /No runs yet\.\n/, /runctl trigger <automation>/],
  ['without an API key, how to set it first', { RUNCTL_API_KEY: '' }, /No runs yet\.\n/, /runctl config/],
])('with an empty journal, a bare `runctl` says so, and %s', async (_, changes, said, next) => {
  const { env } = await withEmulator(scenario);
  const screen = new ScreenStream(new Terminal({ cols: 80, rows: 30, allowProposedApi: true }));
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const { code, stdout, stderr } = await runProgram([], { env: { ...env, ...changes }, screen, input });
  expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(said), expect.stringMatching(next)]);
});

test("if the journal can't be used, a bare `runctl` says that, and not that nothing is open", async () => {
  const { env } = await withEmulator(scenario);
  const screen = new ScreenStream(new Terminal({ cols: 80, rows: 30, allowProposedApi: true }));
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const inForce = { ...env, RUNCTL_STATE_DIR: '/proc/nowhere/state' };
  const { code, stdout, stderr } = await runProgram([], { env: inForce, screen, input });
  expect([code, stdout, stderr]).toEqual([0, '', expect.stringMatching(/can't be written/)]);
});

test('in a pipe, a bare `runctl` shows the help', async () => {
  expect((await runProgram([])).stdout).toMatch(/^Usage: runctl/);
});
