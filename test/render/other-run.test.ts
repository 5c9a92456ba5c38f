import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createBoard } from '../../src/render/board.ts';
import { createEventReporter } from '../../src/render/events.ts';
import type { ReportedEvent } from '../../src/render/reporter.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run } from '../helpers/scripted-service.ts';

/** A run that has to end before ours can start (`--if-active wait`). */
const execution = { executionId: run.executionId, status: 'RUNNING', document: {} };
const inTheWay: ReportedEvent = { event: 'status', run, isOther: true, execution, changed: true };

test('a run that is in the way is an event, but not the run that the last event is about', () => {
  const memory = createMemory();
  const { observe, last } = createEventReporter(memory, 1);
  observe(inTheWay);
  last?.([{}], true);
  const events = memory.out().trim().split('\n');
  expect(events.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'status', executionId: run.executionId },
    { event: 'problem', executionId: null },
  ]);
});

test.each([
  [1, true],
  [2, false],
])('a run that is in the way of %i is on the board: %s', async (runs, isShown) => {
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 80,
    cursorTo() {},
    clearLine() {},
    moveCursor() {},
  }) as unknown as NodeJS.WriteStream;
  const board = await createBoard({ runs, history: () => [] }, { ...createMemory(), terminal });
  board.observe(inTheWay);
  board.stop();
  expect(String(terminal.read?.() ?? '').includes('RUNNING')).toBe(isShown);
});
