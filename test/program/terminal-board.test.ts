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
    await screen.sees(/2 running/);
    screen.endRuns();
    await screen.sees(/1 running · 1 completed/);
    // A look at the screen may come in the middle of a redraw.
    await vi.waitFor(async () => {
      const lines = await screen.lines();
      expect(lines.filter((line) => /✔ COMPLETED quick/.test(line))).toHaveLength(1);
      expect(lines.at(-1)).toMatch(/^ {2}slow RUNNING \d+s/);
    }, longest);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain(' running');
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
    await board.sees(/1 running · .*1 in doubt/);
    expect((await board.lines()).join(' ')).toContain('busy: already active');
    screen.endRuns();
    // That a run may have been started weighs more than that one was refused.
    expect(await board.exit).toBe(12);
  });

  test('past a screenful shows the counts and as many runs as fit', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `automation-${index}`);
    const screen = await onMemoryScreen(
      ['trigger', ...names, '--watch', '--interval', '500ms', '--rate', '100'],
      going,
      { rows: 10 },
    );
    await screen.sees(/12 running/);
    await screen.sees(/automation-\d+ +RUNNING/);
    await vi.waitFor(async () => {
      const lines = await screen.lines();
      expect(lines.filter((line) => line.includes('RUNNING')).length).toBe(7);
    }, longest);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
    expect(text).toContain('12 completed');
  });
});
