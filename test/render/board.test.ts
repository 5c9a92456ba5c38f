import { Terminal } from '@xterm/headless';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createBoard } from '../../src/render/board.ts';
import type { RunEvent } from '../../src/runs/events.ts';
import type { Run } from '../../src/runs/run.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { projectId } from '../helpers/scripted-service.ts';

const minute = 60_000;

// A redraw that is due by the real clock would come between what a test does and what it reads from the screen.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A board on a screen in memory, which shows its text as a person sees it. */
function onBoard({ columns = 80, rows = 24, runs = 2, history = [] as number[] } = {}) {
  const screen = new Terminal({ cols: columns, rows, convertEol: true, allowProposedApi: true, scrollback: 1_000 });
  const memory = createMemory();
  const terminal = new ScreenStream(screen);
  const size = { columns };
  const stderr = Object.assign(Object.create(memory.stderr), {
    isTTY: true,
    write: (text: string) => terminal.write(text),
  });
  stderr.columns = () => size.columns;
  const board = createBoard({ runs, pastDurationsMs: () => history }, { ...memory, stderr, terminal: () => terminal });
  onTestFinished(board.stop);
  return {
    board,
    clock: memory.clock,
    resize(columns: number, rows: number) {
      size.columns = columns;
      terminal.resize(columns, rows);
    },
    async lines() {
      await new Promise<void>((resolve) => screen.write('', resolve));
      const { active } = screen.buffer;
      const all = Array.from({ length: active.length }, (_, row) => active.getLine(row));
      const textOf = (line: (typeof all)[number]) => line?.translateToString(true).trimEnd() ?? '';
      expect(
        all
          .filter((line) => line?.isWrapped)
          .map(textOf)
          .join(''),
      ).toBe('');
      const texts = all.map(textOf);
      return texts.slice(0, texts.findLastIndex((text) => text !== '') + 1);
    },
  };
}

const runOf = (automationName: string): Run => {
  const id = Buffer.from(automationName).toString('hex').slice(-12).padStart(12, '0');
  return { target: { projectId, automationName }, executionId: `00000000-0000-4000-8000-${id}` };
};
const execution = (run: Run, status: string) => ({
  executionId: run.executionId,
  status,
  isFinal: isFinalStatus(status),
  document: {},
});
const status = (run: Run, word = 'RUNNING'): RunEvent => ({
  event: 'status',
  run,
  execution: execution(run, word),
  changed: true,
});
const failed = (run: Run, failures: number): RunEvent => ({
  event: 'attempt_failed',
  operation: 'status',
  run,
  execution: execution(run, 'RUNNING'),
  ageMs: 12_000,
  fault: { kind: 'unavailable', message: 'the service answered 502' },
  failures,
  silentMs: 12_000,
  retryInMs: 1_000,
});
const [nightly, weekly] = [runOf('nightly'), runOf('a-weekly-report')];

describe('a run that is watched alone', () => {
  const history = [20_000, 20_000, 20_000];
  test.each<[number, number, string]>([
    [80, 5_000, 'nightly RUNNING ▓▓░░░░░░ about 15s left'],
    [80, 21_000, 'nightly RUNNING ▓▓▓▓▓▓▓▓ due now'],
    [80, 31_000, 'nightly RUNNING ▓▓▓▓▓▓▓▓ 11s late'],
    [46, 5_000, 'nightly RUNNING ▓▓░░░░░░ about 15s left'],
    [40, 5_000, 'nightly RUNNING 5s · about 15s left'],
    [36, 31_000, 'nightly RUNNING ▓▓▓▓▓▓▓▓ 11s late'],
    [28, 31_000, 'nightly RUNNING 31s'],
  ])('has a bar against its usual duration: at %i columns after %i ms', async (columns, ageMs, line) => {
    const { board, clock, lines } = onBoard({ runs: 1, columns, history });
    board.observe(status(nightly));
    await clock.sleep(ageMs);
    board.above('above');
    expect((await lines())[1]).toMatch(/^. /);
    expect((await lines())[1]?.slice(2)).toBe(line);
  });

  test.each<[string, number[], number]>([
    ['without enough earlier runs', [20_000], 0],
    ['while polls fail', history, 2],
  ])('has none %s', async (_, history, failures) => {
    const { board, lines } = onBoard({ runs: 1, history });
    board.observe(status(nightly));
    if (failures > 0) board.observe(failed(nightly, failures));
    board.above('above');
    expect((await lines())[1]).toMatch(/^. nightly RUNNING 0s/);
  });
});

describe('a board of several runs', () => {
  test('stands in columns that line up, with times in one unit', async () => {
    const { board, clock, lines } = onBoard({ history: [3 * minute, 3 * minute + 9_000, 3 * minute] });
    board.observe(status(nightly));
    await clock.sleep(62_000);
    board.observe(status(weekly, 'QUEUED'));
    board.observe(failed(weekly, 2));
    board.above('above');
    const [, , second, first] = await lines();
    expect(first).toBe('  nightly          RUNNING  1m · about 2m left');
    expect(second).toBe('  a-weekly-report  QUEUED   0s · ⚠ confirmed 12s ago: the service answered 502');
  });

  test('counts a run that has finished once', async () => {
    const { board, lines } = onBoard();
    for (const run of [nightly, weekly]) board.observe(status(run));
    board.observe({ event: 'final', run: weekly, execution: execution(weekly, 'FAILED') });
    const [above, counts, ...below] = await lines();
    expect(above).toContain('✖ FAILED a-weekly-report');
    expect(counts).toContain('1 of 2 finished · 1 running · 1 failed');
    expect(below.join()).not.toContain('a-weekly-report');
  });

  test('shows a failed poll from the second one on', async () => {
    const { board, lines } = onBoard();
    board.observe(status(nightly));
    board.observe(failed(nightly, 1));
    board.above('first');
    expect((await lines()).join('\n')).not.toContain('⚠');
    board.observe(failed(nightly, 2));
    board.above('second');
    expect((await lines()).at(-1)).toContain('⚠ confirmed 12s ago: the service answered 502');
    board.observe(status(nightly));
    board.above('third');
    expect((await lines()).join('\n')).not.toContain('⚠');
  });

  test.each([
    [24, 21],
    [10, 7],
    [6, 3],
    [4, 1],
    [3, 0],
    [2, 0],
  ])('of more runs than fit into %i rows shows %i, those in trouble first', async (rows, shown) => {
    const { board, lines } = onBoard({ rows, runs: 40 });
    const runs = Array.from({ length: 40 }, (_, index) => runOf(`automation-${index}`));
    for (const run of runs) board.observe(status(run));
    board.observe(failed(runs[17] as Run, 3));
    board.above('above');
    const seen = await lines();
    const at = seen.findLastIndex((line) => line.includes('40 '));
    expect(seen.length - at).toBeLessThan(rows);
    const below = seen.slice(at + 1);
    expect(below.filter((line) => line.includes('RUNNING'))).toHaveLength(shown);
    if (shown > 0) expect(below[0]).toContain('automation-17');
    if (rows > 3) expect(below.at(-1)).toBe(`  … and ${40 - shown} more`);
  });
});

const columnsOf = fc.integer({ min: 20, max: 300 });
const names = fc.array(
  fc.constantFrom('a', 'nightly', 'a-name-of-some-length-that-is-long', '漢字漢字漢字', 'b', 'c'),
  {
    minLength: 1,
    maxLength: 6,
  },
);

async function leftBehind(automations: string[], start: [number, number], resizes: [number, number][]) {
  const [columns, rows] = start;
  const { board, lines, resize } = onBoard({ columns, rows, runs: 9 });
  const runs = [...new Set(automations)].map(runOf);
  for (const run of runs) board.observe(status(run));
  board.observe(failed(runs[0] as Run, 2));
  board.above('above');
  await lines();
  for (const [width, height] of resizes) {
    resize(width, height);
    await lines();
  }
  board.stop();
  return lines();
}

test('a board of any size fits, and leaves nothing behind', async () => {
  const rows = fc.integer({ min: 2, max: 40 });
  await fc.assert(
    fc.asyncProperty(names, columnsOf, rows, async (automations, ...size) => {
      expect(await leftBehind(automations, size, [])).toEqual(['above']);
    }),
  );
});

test('a board that is resized leaves nothing behind on a screen that holds it all', async () => {
  const size = fc.tuple(columnsOf, fc.integer({ min: 40, max: 60 }));
  await fc.assert(
    fc.asyncProperty(names, size, fc.array(size, { maxLength: 3 }), async (...given) => {
      expect(await leftBehind(...given)).toEqual(['above']);
    }),
  );
});
