import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { longest } from '../helpers/interrupted.ts';
import { onMemoryScreen, openMemoryScreen } from '../helpers/memory-screen.ts';
import { atTheEnd } from '../helpers/screen-reader.ts';

/** Goes on until the test ends it. */
const going: Scenario = { automations: { '*': { duration: '1h' } } };

describe('a board of several runs', () => {
  test('has a line for each unfinished run, and keeps a line of each finished one', async () => {
    const scenario: Scenario = { automations: { '*': { duration: '5h' }, quick: { duration: '1h' } } };
    const screen = await onMemoryScreen(['trigger', 'quick', 'slow', '--watch', '--interval', '50ms'], scenario);
    await screen.sees(/0 of 2 done/);
    screen.endRuns();
    await screen.sees(/1 of 2 done/);
    // A look at the screen may come in the middle of a redraw.
    await vi.waitFor(async () => {
      const lines = await screen.lines();
      expect(lines.filter((line) => /✔ COMPLETED quick/.test(line))).toHaveLength(1);
      expect(lines.at(-1)).toMatch(/^ {2}slow RUNNING \d+s/);
    }, longest);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain(' done');
    // The summaries stand apart from the talk.
    expect(text).toMatch(/✔ COMPLETED slow 5h \S+\n\nSTATUS /);
    expect(text).toMatch(/\n\n2 completed/);
  });

  test('counts those that were not started, and says why at once', async () => {
    const faults: Scenario['faults'] = [{ on: 'trigger', automation: 'lost', do: 'reset' }];
    const screen = await onMemoryScreen(['trigger', 'busy', '-q'], { ...going, faults });
    await screen.exit;
    const argv = ['trigger', 'busy', 'lost', 'free', '--watch', '--interval', '100ms', '--give-up-after', '2s'];
    const board = openMemoryScreen(argv, { ...screen, columns: 100 });
    await board.sees(/2 of 3 done/);
    const lines = await board.lines();
    expect(
      lines.filter((line) => /^busy: already active|^lost: outcome unknown|^ {2}free +RUNNING/.test(line)),
    ).toHaveLength(3);
    screen.endRuns();
    // That a run may have been started weighs more than that one was refused.
    expect(await board.exit).toBe(12);
  });

  test('has a row for ten runs, and counts the others', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `automation-${index}`);
    const screen = await onMemoryScreen(
      ['trigger', ...names, '--watch', '--interval', '500ms', '--rate', '100'],
      going,
    );
    await screen.sees(/and 2 more/);
    await vi.waitFor(async () => {
      const lines = await screen.lines();
      expect(lines.filter((line) => /automation-\d+ +RUNNING/.test(line)).length).toBe(10);
    }, longest);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
    expect(text).toContain('12 completed');
  });
});
