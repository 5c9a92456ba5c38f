import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '@xterm/headless';
import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { going, withEmulator } from '../helpers/emulator.ts';
import { onMemoryScreen, openMemoryScreen } from '../helpers/memory-screen.ts';
import { runProgram } from '../helpers/run-program.ts';
import { atTheEnd } from '../helpers/screen-reader.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const esc = '\u001B';
const bell = '\u0007';
const failsWithEscapes: Scenario = {
  automations: {
    '*': {
      duration: '1ms',
      finalStatus: 'FAILED',
      error: { type: 'step_failed', message: `Step "Post": ${esc}[2J${esc}]0;owned${bell}the ledger answered 403` },
    },
  },
};
const watching = ['trigger', 'nightly', '--watch', '--interval', '50ms'];

describe('a watch on a terminal', () => {
  test.each([20, 40, 80, 200, 300])('with %i columns uses one line while the run is unfinished', async (columns) => {
    const argv = ['trigger', 'a-name-of-some-length', ...watching.slice(2)];
    const screen = await onMemoryScreen(argv, going, { columns });
    await screen.sees(/RUNNING/);
    await vi.waitUntil(() => screen.written().split('RUNNING').length > 2, { timeout: 10_000 });
    const lines = await screen.lines();
    screen.endRuns();
    expect(lines.filter((line) => line.includes('RUNNING'))).toEqual([lines.at(-1)]);
    // It begins with the spinner, so it is no rest of a line that was wrapped.
    expect(lines.at(-1)).toMatch(/^[\u2800-\u28ff] /);
    expect(lines.at(-1)?.length).toBeLessThan(columns);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
    expect(text).toMatch(/✔ COMPLETED\s/);
  });

  test('shows how long the run usually takes', async () => {
    const { env, endRuns } = await withEmulator(going);
    for (let run = 1; run <= 3; run++) {
      await runProgram(['trigger', 'nightly', '-q'], { env });
      endRuns();
      await runProgram(['watch', '@last', '-q'], { env });
    }
    const screen = openMemoryScreen(watching, { env });
    await screen.sees(/nightly RUNNING \S+ · usually \d+\w$/);
    endRuns();
    expect(await screen.exit).toBe(0);
  });

  test('of several runs ends with a report that is separated by empty lines', async () => {
    const argv = ['trigger', 'a', 'b', ...watching.slice(2)];
    const { code, text } = await atTheEnd(await onMemoryScreen(argv, { automations: { '*': { duration: '1ms' } } }));
    expect([code, text]).toEqual([0, expect.stringMatching(/✔ COMPLETED b .*\n\nSTATUS .*\n\n2 completed$/s)]);
    expect(text).not.toContain(' done');
  });

  test('leaves the cursor as it was after an exception', async () => {
    const { env, clock } = await withEmulator(going);
    // A longer pause is made of several.
    let polls = 0;
    const sleep: typeof clock.sleep = async (ms, signal) => {
      if (ms === 5_000 && ++polls > 3) throw new Error('a fault of ours');
      return clock.sleep(ms, signal);
    };
    const screen = new ScreenStream(new Terminal({ allowProposedApi: true }));
    const { code } = await runProgram(['trigger', 'nightly', '--watch', '--interval', '7s'], {
      env,
      clock: { ...clock, sleep },
      screen,
    });
    expect(code).toBe(70);
    expect(screen.written).toContain('nightly polling');
    expect(screen.written).not.toContain(`${esc}[?`);
  });

  test('is reported in plain lines with TERM=dumb', async () => {
    const env = { TERM: 'dumb' };
    const screen = await onMemoryScreen(watching, { automations: { '*': { duration: '1ms' } } }, { env });
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(screen.written()).not.toContain(esc);
    expect(text).toMatch(/^\d{4}-\d\d-\d\d \S+ \+0000 nightly COMPLETED$/m);
  });
});

describe('color', () => {
  const sgr = new RegExp(`${esc}\\[[\\d;]*m`);

  test('marks the outcome, which is also readable without it, and the service can not control the terminal', async () => {
    const colored = await onMemoryScreen(watching, failsWithEscapes);
    const plain = await onMemoryScreen(watching, failsWithEscapes, { env: { NO_COLOR: '1' } });
    const ends = [await atTheEnd(colored), await atTheEnd(plain)];
    const [withColor, without] = ends.map(({ text }) => text.replaceAll(/[0-9a-f-]{36}/g, '<id>'));
    expect(colored.written()).toContain(`${esc}[31m✖ FAILED`);
    expect(plain.written()).not.toMatch(sgr);
    expect(without?.replaceAll('`', '')).toBe(withColor);
    expect(withColor).toContain('the ledger answered 403');
    expect(colored.written()).not.toContain('owned');
    expect(colored.written()).not.toContain(`${esc}[2J`);
  });

  test('is left out of a report that is written to a file', async () => {
    const { env } = await withEmulator(failsWithEscapes);
    const { stdout, stderr } = await runProgram(watching, { env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' } });
    expect(stdout + stderr).not.toMatch(sgr);
    expect(stdout).toContain('✖ FAILED');
  });
});

test.each(['result @last', 'result @last -q', 'result @last --field output'])(
  'the output of a run can not control the terminal, and is unchanged in a pipe: %s',
  async (line) => {
    const output = `Read 3 lines${esc}[2J${esc}]0;owned${bell}.`;
    const { env, clock, endRuns } = await withEmulator({ automations: { '*': { duration: '1s', output } } });
    await runProgram(['trigger', 'nightly'], { env, clock });
    endRuns();
    expect((await runProgram(line.split(' '), { env, clock })).stdout).toContain(output);
    const screen = openMemoryScreen(line.split(' '), { env });
    const { code, text } = await atTheEnd(screen);
    expect([code, text]).toEqual([0, expect.stringContaining('Read 3 lines')]);
    for (const order of [`${esc}[2J`, `${esc}]`, bell]) expect(screen.written()).not.toContain(order);
  },
);

test('a locale without Unicode gets only ASCII', async () => {
  const screen = await onMemoryScreen(watching, failsWithEscapes, { env: { LANG: 'C' } });
  const { text } = await atTheEnd(screen);
  expect(text).toContain('x FAILED');
  expect(screen.written()).toMatch(/^[\0-\x7f]*$/);
});

test.each([
  [['list'], true],
  [['list', '-q'], false],
])('%j warns on a terminal of an unknown stored setting: %s', async (argv, isSaid) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), '{"profiles":{"default":{"onExit":"mail"}}}', { mode: 0o600 });
  const screen = await onMemoryScreen(argv, {}, { env: { RUNCTL_CONFIG_DIR: folder } });
  expect(await screen.exit).toBe(0);
  expect(screen.written().includes('runctl config unset onExit')).toBe(isSaid);
});
