// What only a terminal of the system shows: keys, a change of its size, and how it is left. The rest is in test/program.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { going, withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openScreen, type ScreenOptions } from '../helpers/screen.ts';
import { atTheEnd, type Screen } from '../helpers/screen-reader.ts';

const esc = '\u001B';
const ctrlC = '\u0003';

/** The built program on a terminal, beside an emulator of its own. */
async function onScreen(argv: string[], scenario: Scenario, { env = {}, ...size }: Partial<ScreenOptions> = {}) {
  const served = await withEmulator(scenario);
  const around = { ...served.env, ...env };
  const screen = openScreen(argv, { ...size, env: around });
  onTestFinished(screen.kill);
  return { ...served, ...screen, env: around };
}

/** Waits until the cursor is shown: the end of a process is heard of before its last words. */
const hasCursor = (screen: Screen) =>
  vi.waitFor(() => {
    const written = screen.written();
    expect(written).toContain(`${esc}[?25l`);
    expect(written.lastIndexOf(`${esc}[?25h`)).toBeGreaterThan(written.lastIndexOf(`${esc}[?25l`));
  });

describe('a watch on a terminal', () => {
  const watching = ['--watch', '--interval', '50ms'];

  test('that becomes narrower leaves nothing behind, and the cursor is shown again', async () => {
    const screen = await onScreen(['trigger', 'nightly', ...watching], going);
    await screen.sees(/RUNNING/);
    screen.resize(40, 20);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
    await hasCursor(screen);
  });

  test('of several runs leaves no half-drawn board when Ctrl-C is pressed, and names each run', async () => {
    const names = ['a-name-of-some-length', 'another-name-of-some-length', 'c'];
    const screen = await onScreen(['trigger', ...names, ...watching], going, { columns: 120 });
    await screen.sees(/^ {2}c +RUNN/);
    screen.type(ctrlC);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(130);
    expect(text).not.toContain('RUNNING');
    for (const { executionId } of screen.emulator.runs()) expect(text).toContain(`runctl watch ${executionId}`);
    await hasCursor(screen);
  });
});

describe('the guide of `runctl config`', () => {
  const env = { RUNCTL_API_KEY: '', RUNCTL_BASE_URL: '', RUNCTL_PROJECT: '' };

  test('asks for base URL, key and project, and does not show the key', async () => {
    const screen = await onScreen(['config'], {}, { env });
    const { url, apiKey, projectId } = screen.emulator;
    for (const [question, answer] of [
      [/base URL/, url],
      [/API key/, apiKey],
      [/project/, projectId],
    ] as const) {
      await screen.sees(question);
      screen.type(`${answer}\r`);
    }
    expect(await screen.exit).toBe(0);
    expect(screen.written()).not.toContain(apiKey);
    expect(await runProgram(['trigger', 'nightly'], { env: screen.env })).toMatchObject({ code: 0 });
  });
});
