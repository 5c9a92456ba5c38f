import { expect, test } from 'vitest';
import { createBoard } from '../../src/render/board.ts';
import { createEventReporter } from '../../src/render/event-reporter.ts';
import type { RunEvent } from '../../src/runs/events.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run } from '../helpers/scripted-service.ts';

/** A run that has to end before ours can start (`--if-active wait`). */
const execution = { executionId: run.executionId, status: 'RUNNING', isFinal: false, document: {} };
const inTheWay: RunEvent = { event: 'status', run, isActiveRun: true, execution, changed: true };

test('an event of a run that is in the way names it as the active run, not as that of the command', () => {
  const memory = createMemory();
  createEventReporter(memory).observe(inTheWay);
  expect(JSON.parse(memory.out())).toMatchObject({
    event: 'status',
    executionId: null,
    activeExecutionId: run.executionId,
    automationName: 'nightly',
  });
});

test.each([
  [1, true],
  [2, false],
])('a run that is in the way of %i is on the board: %s', (runs, isShown) => {
  const memory = createMemory();
  const board = createBoard({ runs, pastDurationsMs: () => [] }, memory);
  board.observe(inTheWay);
  board.stop();
  expect(String(memory.terminal().read()).includes('RUNNING')).toBe(isShown);
});
