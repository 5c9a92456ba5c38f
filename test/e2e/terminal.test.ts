import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { atTheEnd, onScreen } from '../helpers/on-screen.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openScreen } from '../helpers/screen.ts';

const esc = '\u001B';
const ctrlC = '\u0003';
const bell = '\u0007';
/** Goes on until the test ends it. */
const going: Scenario = { automations: { '*': { duration: '1h' } } };
const failing: Scenario = {
  automations: {
    '*': {
      duration: '1ms',
      outcome: 'FAILED',
      error: { type: 'step_failed', message: `Step "Post": ${esc}[2J${esc}]0;owned${bell}the ledger answered 403` },
    },
  },
};
const watching = ['trigger', 'nightly', '--watch', '--interval', '50ms'];

describe('a watch on a terminal', () => {
  test.each([20, 40, 80, 200, 300])('of %i columns keeps to one line while the run is unfinished', async (columns) => {
    const argv = ['trigger', 'a-name-of-some-length', ...watching.slice(2)];
    const screen = await onScreen(argv, going, { columns });
    await screen.sees(/RUNNING/);
    await vi.waitUntil(() => screen.written().split('RUNNING').length > 3, { timeout: 10_000 });
    const lines = await screen.lines();
    screen.endRuns();
    expect(lines.filter((line) => line.includes('RUNNING'))).toEqual([lines.at(-1)]);
    expect(lines.at(-1)?.length).toBeLessThan(columns);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
    expect(text).toMatch(/✔ COMPLETED\s/);
  });

  test.each([
    ['narrower', 40],
    ['wider', 120],
  ])('that becomes %s leaves nothing behind', async (_, columns) => {
    const screen = await onScreen(watching, going);
    await screen.sees(/RUNNING/);
    screen.resize(columns, 20);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
  });

  test('hides the cursor, shows it again, and with --bell rings once, at the end', async () => {
    const screen = await onScreen([...watching, '--bell'], going);
    await screen.sees(/RUNNING/);
    expect(screen.written()).not.toContain(bell);
    screen.endRuns();
    await screen.exit;
    const written = screen.written();
    expect(written).toContain(`${esc}[?25l`);
    expect(written.lastIndexOf(`${esc}[?25h`)).toBeGreaterThan(written.lastIndexOf(`${esc}[?25l`));
    expect(written.split(bell)).toHaveLength(2);
  });

  test('ends at once with Ctrl-C, says that the run was left alone, and gives the cursor back', async () => {
    const screen = await onScreen(watching, going);
    await screen.sees(/RUNNING/);
    screen.type(ctrlC);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(130);
    expect(text).toContain('stopped watching nightly; the run was left alone');
    expect(text).toContain(`runctl watch ${screen.emulator.runs()[0]?.executionId}`);
    const written = screen.written();
    expect(written.lastIndexOf(`${esc}[?25h`)).toBeGreaterThan(written.lastIndexOf(`${esc}[?25l`));
  });

  test('shows the last confirmed status and its age while nothing answers', async () => {
    const faults: Scenario['faults'] = [{ on: 'status', from: 3, do: 'status', status: 502 }];
    const { env } = await withEmulator({ ...going, faults });
    await runProgram(['trigger', 'nightly', '-q'], { env });
    const screen = openScreen(['watch', '--interval', '100ms', '--give-up-after', '2s'], { env });
    await screen.sees(/RUNNING \d+s · ⚠ confirmed \ds ago: the service is unavailable/);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(10);
    expect(text.replace(/\s+/g, ' ')).toContain('the run may still be running, last confirmed RUNNING');
  });

  test('shows how long the automation usually takes', async () => {
    const { env, endRuns } = await withEmulator(going);
    for (let run = 1; run <= 3; run++) {
      await runProgram(['trigger', 'nightly', '-q'], { env });
      endRuns();
      await runProgram(['watch', '-q'], { env });
    }
    const screen = openScreen(watching, { env });
    await screen.sees(/RUNNING.* · usually 1h, 12 credits/);
    endRuns();
    expect(await screen.exit).toBe(0);
  });

  test('of a dumb terminal is reported in plain lines', async () => {
    const screen = await onScreen(watching, { automations: { '*': { duration: '1ms' } } }, { env: { TERM: 'dumb' } });
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(screen.written()).not.toContain(esc);
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\S+Z nightly COMPLETED$/m);
  });
});

describe('colour', () => {
  const sgr = new RegExp(`${esc}\\[[\\d;]*m`);

  test('sets the outcome off, and means the same without; what the service says gives the terminal no orders', async () => {
    const colored = await onScreen(watching, failing);
    const plain = await onScreen(watching, failing, { env: { NO_COLOR: '1' } });
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
    const { env } = await withEmulator(failing);
    const { stdout, stderr } = await runProgram(watching, { env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' } });
    expect(stdout + stderr).not.toMatch(sgr);
    expect(stdout).toContain('✖ FAILED');
  });
});

test('a locale without Unicode gets ASCII alone', async () => {
  const screen = await onScreen(watching, failing, { env: { LANG: 'C' } });
  const { text } = await atTheEnd(screen);
  expect(text).toContain('x FAILED');
  expect(screen.written()).toMatch(/^[\0-\x7f]*$/);
});
