import { expect, test } from 'vitest';
import { createBoard } from '../../src/render/board.ts';
import type { RunEvent } from '../../src/runs/events.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run } from '../helpers/scripted-service.ts';

/** A run that has to end before ours can start (`--if-active wait`). */
const execution = { executionId: run.executionId, status: 'RUNNING', isFinal: false, document: {} };
const inTheWay: RunEvent = { event: 'status', run, isActiveRun: true, execution, changed: true };

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
