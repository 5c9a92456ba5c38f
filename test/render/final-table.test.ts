import { expect, test } from 'vitest';
import { finalTable } from '../../src/render/tables.ts';
import { createTheme } from '../../src/render/theme.ts';
import { widthOf } from '../../src/render/width.ts';
import type { Execution } from '../../src/runs/service.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
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
  { target: of('north'), execution: state('COMPLETED', { ...times, creditsCharged: 12 }), whenNoStatus: '' },
  {
    target: of('a-rather-long-name-of-an-automation'),
    execution: state('FAILED', times),
    result: {
      status: 'FAILED',
      isFinal: true,
      error: { type: 'step_failed', message: 'Step "import" failed\nin line 3' },
      document: {},
    },
    whenNoStatus: '',
  },
  { target: of('west'), execution: state('RUNNING'), whenNoStatus: '' },
  { target: of('east'), whenNoStatus: 'not started' },
];
const tableAt = (columns?: number) => finalTable(rows, theme, { columns }).trimEnd().split('\n');

test('several runs end as one table, in the order of the arguments', () => {
  expect(tableAt()).toEqual([
    'STATUS       AUTOMATION                           DURATION  CREDITS  ERROR',
    'COMPLETED    north                                      6m       12  -',
    'FAILED       a-rather-long-name-of-an-automation        6m        -  step_failed: Step "import" failed',
    'RUNNING      west                                        -        -  -',
    'not_started  east                                        -        -  -',
  ]);
});

test.each([40, 60, 80, 120, 200])('no line of the table is wider than %i columns', (columns) => {
  const lines = tableAt(columns);
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
});

test('the error, which follows in full, gives way to the whole names', () => {
  expect(tableAt(80)[0]).toBe('STATUS         AUTOMATION                           DURATION  CREDITS');
  expect(tableAt(80).join()).toContain('a-rather-long-name-of-an-automation');
});
