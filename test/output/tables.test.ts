import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JournalRun } from '../../src/journal/journal.ts';
import { finalTable, runTable } from '../../src/output/tables.ts';
import { createTheme } from '../../src/output/theme.ts';
import { widthOf } from '../../src/output/width.ts';
import type { Execution } from '../../src/run/service.ts';
import { isFinalStatus } from '../../src/run/statuses.ts';
import { starts } from '../../src/triggering/start-evidence.ts';
import { executionId, target } from '../helpers/scripted-service.ts';

const plain = createTheme({ colors: false, unicode: true });
const nowMs = Date.UTC(2026, 10, 21, 9);
const ago = (ms: number) => new Date(nowMs - ms).toISOString();
const minute = 60_000;

function entry(fields: Partial<JournalRun> & { name?: string } = {}): JournalRun {
  const { name = 'nightly', ...rest } = fields;
  return {
    baseUrl: 'https://service.test',
    target: { ...target, automationName: name },
    executionId,
    status: 'COMPLETED',
    startedAt: ago(5 * minute),
    completedAt: ago(2 * minute),
    creditsCharged: null,
    idempotencyKey: 'key-1',
    at: ago(5 * minute),
    ...rest,
    isFinal: isFinalStatus(rest.status ?? 'COMPLETED'),
  };
}

const linesOf = (text: string) => text.split('\n').slice(0, -1);

test('a row shows status, name, id, age and time taken, and why a run failed if there is room', () => {
  const failure = { status: 'FAILED', error: 'step_failed: Step "mail" failed' };
  expect(runTable([entry(failure)], nowMs, plain, { columns: 80 })).toContain(' step_failed: Step');
  expect(runTable([entry(failure)], nowMs, plain, { columns: 66 })).toMatch(/ step_failed: Step …$/m);
  expect(runTable([entry(failure)], nowMs, plain, { columns: 50 })).not.toContain('ERROR');
  const [, row = ''] = linesOf(runTable([entry()], nowMs, plain, { columns: 80 }));
  expect(row.split(/ {2,}/)).toEqual(['✔ COMPLETED', 'nightly', executionId.slice(0, 8), '5m ago', '3m']);
});

test('in a pipe every row has the same columns, without symbols, and only the error has blanks', () => {
  const rows = [
    entry({ name: 'two words', completedAt: ago(5 * minute - 62_000) }),
    entry({ name: '-', status: 'FAILED', error: 'step_failed: it broke', creditsCharged: 2, startedAt: ago(200) }),
    { ...entry({ status: 'RUNNING', completedAt: null, statusAt: ago(minute) }), isOld: true },
    entry({ executionId: null, status: null, startedAt: null, completedAt: null, idempotencyKey: null }),
  ];
  expect(linesOf(runTable(rows, nowMs, plain, {})).map((line) => line.split(/ +/).join(' '))).toEqual([
    'STATUS AUTOMATION RUN STARTED TOOK POLLED CREDITS ORIGIN ERROR',
    `COMPLETED two_words ${executionId} 5m 1m2s - - - -`,
    `FAILED - ${executionId} 0s - - 2 - step_failed: it broke`,
    `RUNNING nightly ${executionId} 5m - 1m - - -`,
    'UNKNOWN nightly - 5m - - - elsewhere -',
  ]);
});

test('on a terminal ids are short, but long enough to tell the runs apart', () => {
  const ids = (...all: string[]) => all.map((start) => entry({ executionId: start + executionId.slice(start.length) }));
  const shown = (rows: JournalRun[], columns?: number) =>
    linesOf(runTable(rows, nowMs, plain, { columns }))
      .slice(1)
      .map((line) => line.split(/ {2,}/)[2]);
  expect(shown(ids('aaaaaaaa', 'bbbbbbbb'), 80)).toEqual(['aaaaaaaa', 'bbbbbbbb']);
  expect(shown(ids('aaaaaaaa-1', 'aaaaaaaa-2'), 80)).toEqual(['aaaaaaaa-1', 'aaaaaaaa-2']);
  expect(shown([entry(), entry()], 80)).toEqual([executionId.slice(0, 8), executionId.slice(0, 8)]);
  expect(shown(ids('aaaaaaaa'))[0]).toHaveLength(36);
});

test('a long name is cut to a third of the terminal, and never in a pipe', () => {
  const rows = [entry({ name: 'sync-customers-to-the-warehouse-eu' })];
  const third = /^✔ COMPLETED {2}sync-customers-to-t… {2}\w{8} {2}5m ago/;
  expect(linesOf(runTable(rows, nowMs, plain, { columns: 60 }))[1]).toMatch(third);
  expect(linesOf(runTable(rows, nowMs, plain, {}))[1]).toContain('sync-customers-to-the-warehouse-eu');
});

test('a column that would say nothing is left out', () => {
  expect(runTable([entry({ completedAt: null })], nowMs, plain, { columns: 80 })).not.toContain('TOOK');
});

test.each([
  [false, '5m ago', '5m'],
  [true, '5m ago', '1m ago'],
])('an unfinished run shows how long it has been running, or when it was last polled: %s', (isOld, ...cells) => {
  const run = { ...entry({ status: 'RUNNING', completedAt: null, statusAt: ago(minute) }), isOld };
  const [, row = ''] = linesOf(runTable([run], nowMs, plain, { columns: 80 }));
  expect(row.split(/ {2,}/).slice(3)).toEqual(cells);
});

const names = fc.string({
  unit: fc.constantFrom('a', 'B', '漢', 'é', '/', ' ', '🚀', '\u202E', '\u001B', '\n', '-'),
  minLength: 1,
  maxLength: 50,
  size: 'max',
});
const entries = fc.record({
  name: names,
  status: fc.constantFrom('RUNNING', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', null),
  startedAt: fc.option(fc.integer({ min: 0, max: 90 * 86_400_000 }).map(ago)),
  error: fc.option(names, { nil: undefined }),
});

test('every line is as wide as the terminal at the most, and the columns stand straight', () => {
  const id = executionId.slice(0, 8);
  fc.assert(
    fc.property(
      fc.array(entries, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 40, max: 160 }),
      (fields, columns) => {
        const lines = linesOf(runTable(fields.map(entry), nowMs, plain, { columns }));
        expect(lines).toHaveLength(fields.length + 1);
        for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
        expect(lines.join('\n')).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
        expect(new Set(lines.slice(1).map((line) => widthOf(line.slice(0, line.indexOf(id))))).size).toBe(1);
      },
    ),
  );
});

describe('several runs that end', () => {
  const of = (automationName: string) => ({ ...target, automationName });
  const times = { startedAt: '2026-11-21T02:00:00Z', completedAt: '2026-11-21T02:06:00Z' };
  const state = (status: string, facts: Partial<Execution> = {}): Execution => ({
    ...{ executionId, status, isFinal: isFinalStatus(status), document: {} },
    ...facts,
  });
  const error = { type: 'step_failed', message: 'Step "import" failed\nin line 3' };
  const rows = [
    { target: of('north'), execution: state('COMPLETED', { ...times, creditsCharged: 12 }) },
    {
      target: of('a-rather-long-name-of-an-automation'),
      execution: state('FAILED', { startedAt: times.startedAt }),
      result: { status: 'FAILED', isFinal: true, error, completedAt: times.completedAt, document: {} },
    },
    { target: of('west'), execution: state('RUNNING', times) },
    { target: of('east'), start: { ...starts.refused, idempotencyKey: null } },
  ];
  const tableAt = (columns?: number) => linesOf(finalTable(rows, plain, { columns }));

  test('are one table, in the order of the arguments', () => {
    expect(tableAt()).toEqual([
      'STATUS       AUTOMATION                           DURATION  CREDITS  ERROR',
      'COMPLETED    north                                6m        12       -',
      'FAILED       a-rather-long-name-of-an-automation  6m        -        step_failed: Step "import" failed',
      'RUNNING      west                                 -         -        -',
      'not_started  east                                 -         -        -',
    ]);
  });

  test.each([
    [40, ['STATUS', 'AUTOMATION', 'DURATION']],
    [80, ['STATUS', 'AUTOMATION', 'DURATION', 'CREDITS', 'ERROR']],
  ])('are no wider than %i columns', (columns, headings) => {
    const [first = '', ...others] = tableAt(columns);
    expect([first.split(/ +/), others.length]).toEqual([headings, 4]);
    for (const line of [first, ...others]) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
  });
});
