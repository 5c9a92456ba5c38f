import { expect, test } from 'vitest';
import { finalTable } from '../../src/render/tables.ts';
import { createTheme } from '../../src/render/theme.ts';
import { widthOf } from '../../src/render/width.ts';
import type { Execution } from '../../src/runs/service.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
import { starts } from '../../src/triggering/start-evidence.ts';
import { executionId, target } from '../helpers/scripted-service.ts';

const theme = createTheme({ colors: false, unicode: true });
const state = (status: string, facts: Partial<Execution> = {}): Execution => ({
  executionId,
  status,
  isFinal: isFinalStatus(status),
  document: {},
  ...facts,
});
const of = (automationName: string) => ({ ...target, automationName });
const times = { startedAt: '2026-11-21T02:00:00Z', completedAt: '2026-11-21T02:06:00Z' };
const rows = [
  { target: of('north'), execution: state('COMPLETED', { ...times, creditsCharged: 12 }) },
  {
    target: of('a-rather-long-name-of-an-automation'),
    execution: state('FAILED', times),
    result: {
      status: 'FAILED',
      isFinal: true,
      error: { type: 'step_failed', message: 'Step "import" failed\nin line 3' },
      document: {},
    },
  },
  { target: of('west'), execution: state('RUNNING', times) },
  { target: of('east'), start: { ...starts.refused, idempotencyKey: null } },
];
const tableAt = (columns?: number) => finalTable(rows, theme, { columns }).trimEnd().split('\n');

test('several runs end as one table, in the order of the arguments', () => {
  expect(tableAt()).toEqual([
    'STATUS       AUTOMATION                           DURATION  CREDITS  ERROR',
    'COMPLETED    north                                6m        12       -',
    'FAILED       a-rather-long-name-of-an-automation  6m        -        step_failed: Step "import" failed',
    'RUNNING      west                                 -         -        -',
    'not_started  east                                 -         -        -',
  ]);
});

test.each([
  [40, 'STATUS         AUTOMATION     DURATION'],
  [80, 'STATUS         AUTOMATION                  DURATION  CREDITS  ERROR'],
])('no line of the table is wider than %i columns', (columns, headings) => {
  const lines = tableAt(columns);
  expect(lines).toHaveLength(5);
  expect(lines[0]).toBe(headings);
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
});
