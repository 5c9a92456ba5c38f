// What only a terminal of the system shows: keys, a change of its size, and how it is left. The rest is in test/program.
import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { onScreen } from '../helpers/on-screen.ts';
import { atTheEnd, type Screen } from '../helpers/screen-reader.ts';

const esc = '\u001B';
const ctrlC = '\u0003';
/** Goes on until the test ends it. */
const going: Scenario = { automations: { '*': { duration: '1h' } } };
const watching = ['trigger', 'nightly', '--watch', '--interval', '50ms'];

/** Waits until the cursor is shown: the end of a process is heard of before its last words. */
const hasCursor = (screen: Screen) =>
  vi.waitFor(() => {
    const written = screen.written();
    expect(written.lastIndexOf(`${esc}[?25h`)).toBeGreaterThan(written.lastIndexOf(`${esc}[?25l`));
  });

describe('a watch on a terminal', () => {
  test('that becomes narrower leaves nothing behind', async () => {
    const screen = await onScreen(watching, going);
    await screen.sees(/RUNNING/);
    screen.resize(40, 20);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
  });

  test('hides the cursor, and shows it again at the end', async () => {
    const screen = await onScreen(watching, going);
    await screen.sees(/RUNNING/);
    screen.endRuns();
    await screen.exit;
    expect(screen.written()).toContain(`${esc}[?25l`);
    await hasCursor(screen);
  });

  test('ends at once with Ctrl-C, says that the run continues, and gives the cursor back', async () => {
    const screen = await onScreen(watching, going);
    await screen.sees(/RUNNING/);
    screen.type(ctrlC);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(130);
    expect(text).toContain('the run continues');
    expect(text).toContain(`runctl watch ${screen.emulator.runs()[0]?.executionId}`);
    await hasCursor(screen);
  });
});

test('a board of several runs leaves no half-drawn line when Ctrl-C is pressed', async () => {
  const names = ['a-name-of-some-length', 'another-name-of-some-length', 'c'];
  const screen = await onScreen(['trigger', ...names, '--watch', '--interval', '100ms'], going, { columns: 120 });
  await screen.sees(/^ {2}c +RUNN/);
  screen.type('\u0003');
  const { code, text } = await atTheEnd(screen);
  expect(code).toBe(130);
  expect(text).not.toContain('RUNNING');
  expect(text).not.toMatch(/\d of 3 done/);
  for (const name of names) expect(text).toContain(`stopped watching ${name}; the run continues`);
});
