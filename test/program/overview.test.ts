// What a bare `runctl` shows on a terminal: what needs attention, from the journal alone.
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { createProcesses } from '../../src/journal/processes.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { target } from '../helpers/scripted-service.ts';

const error = { type: 'step_failed', message: 'Step "Post" failed, which takes more words than fit into a line' };
const scenario: Scenario = {
  automations: {
    '*': { duration: '2h', outcome: 'FAILED' },
    good: { duration: '1s' },
    bad: { duration: '1s', outcome: 'FAILED', error },
    mended: { duration: '1s', outcome: ['FAILED', 'COMPLETED'] },
  },
  faults: [{ on: 'trigger', automation: 'lost', do: 'loseAnswer' }],
};
const [bad, mended] = ['trigger bad --watch', 'trigger mended --watch'];
const lost = 'trigger lost --give-up-after 1ms';
const many = `trigger ${Array.from({ length: 12 }, (_, n) => `a${n}`).join(' ')}`;
const nothing = /^Nothing is unresolved or unfinished, and nothing failed in the last 24 hours\.$/;
const running = /^● RUNNING a\d+ .*→ runctl watch [\da-f]{8}$/;

const keyboard = () => Object.assign(new PassThrough(), { isTTY: true });

type Machine = Pick<Awaited<ReturnType<typeof withEmulator>>, 'env' | 'clock'>;

function bareRunctl({ env, clock }: Machine) {
  const screen = new ScreenStream(new Terminal({ cols: 80, rows: 30, allowProposedApi: true }));
  return runProgram([], { env: { ...env, NO_COLOR: '1', LANG: 'C.UTF-8' }, clock, screen, input: keyboard() });
}

// biome-ignore format: a table
test.each<[string, [afterHours: number, line: string][], RegExp[]]>([
  ['that all is well', [[0, 'trigger good --watch']], [nothing]],
  ['an unfinished run', [[0, 'trigger long'], [1, '']], [/^● RUNNING long 1h ago {2}→ runctl watch [\da-f]{8}$/]],
  ['an unresolved trigger', [[0, lost], [2, '']], [/^⚠ UNKNOWN lost 2h ago {2}→ runctl recover$/]],
  ['nothing that is no longer open', [[0, lost], [0, 'trigger long'], [25, '']], [nothing]],
  ['a failure', [[0, bad], [3, '']], [/^✖ FAILED bad 3h ago: step_failed: Step "Post".*… {2}→ runctl result [\da-f]{8}$/]],
  ['no failure of the day before', [[0, bad], [25, '']], [nothing]],
  ['the failure of a run that began the day before', [[0, 'trigger long'], [2, 'status'], [23, '']], [/^✖ FAILED long 23h ago: /]],
  ['the newest failure of an automation', [[0, bad], [1, bad]], [/^✖ FAILED bad (just now|\ds ago)/]],
  ['no failure after which the automation completed', [[0, mended], [0, mended]], [nothing]],
  ['what is unresolved, unfinished and failed, in this order', [[0, lost], [0, bad], [0, 'trigger long']], [/^⚠ .*lost/, /^● .*long/, /^✖ .*bad/]],
  ['ten lines at most', [[0, many]], [...Array.from({ length: 10 }, () => running), /^and 2 more$/]],
])('a bare `runctl` shows %s', async (_, commands, shown) => {
  const { env, clock, emulator } = await withEmulator(scenario);
  for (const [hours, line] of commands) {
    clock.leap(hours * 3_600_000);
    if (line) await runProgram(line.split(' '), { env, clock });
  }
  const requests = emulator.requests.length;
  const { code, stdout } = await bareRunctl({ env, clock });
  expect([code, emulator.requests.length]).toEqual([0, requests]);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toEqual(shown.map((line) => expect.stringMatching(line)));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

test('a trigger that another process is still sending is not one to recover', async () => {
  const { env, clock } = await withEmulator(scenario);
  const { RUNCTL_STATE_DIR: folder, RUNCTL_BASE_URL: baseUrl = '' } = env;
  const journal = openJournal({ folder, nowMs: clock.nowMs, onTrouble() {} });
  const sent = { type: 'triggered', baseUrl, target, account: 'a', body: '{}', userProvided: false } as const;
  journal.append({ ...sent, idempotencyKey: 'k', attempt: '1', process: createProcesses().own, first: true });
  expect((await bareRunctl({ env, clock })).stdout.trimEnd()).toMatch(nothing);
});

test('without a run it says how to start one, and in a pipe it is the help', async () => {
  const { env, clock } = await withEmulator(scenario);
  expect(await bareRunctl({ env, clock })).toMatchObject({
    stdout: '',
    stderr: '  → start a first run: `runctl trigger <automation> --watch`\n',
  });
  expect((await runProgram([], { env, clock, input: keyboard() })).stdout).toMatch(/^Usage: runctl/);
});
