import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finalTable, type ListRow, runTable } from '../../src/output/tables.ts';
import { createTheme } from '../../src/output/theme.ts';
import { widthOf } from '../../src/output/width.ts';
import type { Entry, KnownRun } from '../../src/run/entry.ts';
import type { TargetOutcome } from '../../src/run/outcome.ts';
import type { RunSnapshot } from '../../src/run/service.ts';
import { isFinalStatus } from '../../src/run/statuses.ts';
import { minute } from '../helpers/durations.ts';
import { executionId, target } from '../helpers/scripted-service.ts';

const plain = createTheme({ colors: false, unicode: true });
const nowMs = Date.UTC(2026, 10, 21, 9);
const ago = (ms: number) => new Date(nowMs - ms).toISOString();

function row({
  name = 'nightly',
  isOld = false,
  ...fields
}: Partial<KnownRun> & { name?: string; isOld?: boolean } = {}): ListRow {
  const entry: KnownRun = {
    kind: 'run',
    baseUrl: 'https://service.test',
    target: { ...target, automationName: name },
    executionId,
    status: 'COMPLETED',
    startedAt: ago(5 * minute),
    completedAt: ago(2 * minute),
    idempotencyKey: 'key-1',
    at: ago(5 * minute),
    statusAt: ago(2 * minute),
    ...fields,
    isFinal: isFinalStatus(fields.status ?? 'COMPLETED'),
  };
  return { entry, isOld };
}

const unresolved: Entry = {
  ...{ kind: 'unresolved', baseUrl: 'https://service.test', target, at: ago(5 * minute), account: '' },
  ...{ idempotencyKey: 'key-2', userProvided: false, body: '{}', sendingIds: [], senders: [] },
};

const linesOf = (text: string) => text.split('\n').slice(0, -1);

test('a row shows status, name, id, age and time taken, and why a run failed if there is room', () => {
  const failure = { status: 'FAILED', error: 'step_failed: Step "mail" failed' };
  expect(runTable([row(failure)], nowMs, plain, { columns: 80 })).toContain(' step_failed: Step');
  expect(runTable([row(failure)], nowMs, plain, { columns: 66 })).toMatch(/ step_failed: Step …$/m);
  expect(runTable([row(failure)], nowMs, plain, { columns: 50 })).not.toContain('ERROR');
  const [, line = ''] = linesOf(runTable([row()], nowMs, plain, { columns: 80 }));
  expect(line.split(/ {2,}/)).toEqual(['✔ COMPLETED', 'nightly', executionId.slice(0, 8), '5m ago', '3m']);
});

test('in a pipe every row has the same columns, without symbols, and only the error has blanks', () => {
  const rows = [
    row({ name: 'two words', completedAt: ago(5 * minute - 62_000) }),
    row({ name: '-', status: 'FAILED', error: 'step_failed: it broke', creditsCharged: 2, startedAt: ago(200) }),
    row({ status: 'RUNNING', completedAt: undefined, statusAt: ago(minute), isOld: true, idempotencyKey: undefined }),
    { entry: unresolved, isOld: false },
  ];
  expect(linesOf(runTable(rows, nowMs, plain, {})).map((line) => line.split(/ +/).join(' '))).toEqual([
    'STATUS AUTOMATION RUN STARTED TOOK POLLED CREDITS ORIGIN ERROR',
    `COMPLETED two_words ${executionId} 5m 1m2s - - - -`,
    `FAILED - ${executionId} 0s - - 2 - step_failed: it broke`,
    `RUNNING nightly ${executionId} 5m - 1m - elsewhere -`,
    'UNKNOWN nightly - 5m - - - - -',
  ]);
});

test('on a terminal ids are short, but long enough to tell the runs apart', () => {
  const ids = (...all: string[]) => all.map((start) => row({ executionId: start + executionId.slice(start.length) }));
  const shown = (rows: ListRow[], columns?: number) =>
    linesOf(runTable(rows, nowMs, plain, { columns }))
      .slice(1)
      .map((line) => line.split(/ {2,}/)[2]);
  expect(shown(ids('aaaaaaaa', 'bbbbbbbb'), 80)).toEqual(['aaaaaaaa', 'bbbbbbbb']);
  expect(shown(ids('aaaaaaaa-1', 'aaaaaaaa-2'), 80)).toEqual(['aaaaaaaa-1', 'aaaaaaaa-2']);
  expect(shown([row(), row()], 80)).toEqual([executionId.slice(0, 8), executionId.slice(0, 8)]);
  expect(shown(ids('aaaaaaaa'))[0]).toHaveLength(36);
});

test('a long name is cut to a third of the terminal, and never in a pipe', () => {
  const rows = [row({ name: 'sync-customers-to-the-warehouse-eu' })];
  const third = /^✔ COMPLETED {2}sync-customers-to-t… {2}\w{8} {2}5m ago/;
  expect(linesOf(runTable(rows, nowMs, plain, { columns: 60 }))[1]).toMatch(third);
  expect(linesOf(runTable(rows, nowMs, plain, {}))[1]).toContain('sync-customers-to-the-warehouse-eu');
});

test('a column without any value is left out', () => {
  expect(runTable([row({ completedAt: undefined })], nowMs, plain, { columns: 80 })).not.toContain('TOOK');
});

test.each([
  [false, '5m ago', '5m'],
  [true, '5m ago', '1m ago'],
])('an unfinished run shows how long it has been running, or when it was last polled: %s', (isOld, ...cells) => {
  const running = row({ status: 'RUNNING', completedAt: undefined, statusAt: ago(minute), isOld });
  const [, line = ''] = linesOf(runTable([running], nowMs, plain, { columns: 80 }));
  expect(line.split(/ {2,}/).slice(3)).toEqual(cells);
});

const names = fc.string({
  unit: fc.constantFrom('a', 'B', '漢', 'é', '/', ' ', '🚀', '\u202E', '\u001B', '\n', '-'),
  minLength: 1,
  maxLength: 50,
  size: 'max',
});
const rows = fc.record({
  name: names,
  status: fc.constantFrom('RUNNING', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'),
  startedAt: fc.option(fc.integer({ min: 0, max: 90 * 86_400_000 }).map(ago), { nil: undefined }),
  error: fc.option(names, { nil: undefined }),
});

test('every line is as wide as the terminal at the most, and the columns stand straight', () => {
  const id = executionId.slice(0, 8);
  fc.assert(
    fc.property(
      fc.array(rows, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 40, max: 160 }),
      (fields, columns) => {
        const lines = linesOf(runTable(fields.map(row), nowMs, plain, { columns }));
        expect(lines).toHaveLength(fields.length + 1);
        for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
        expect(lines.join('\n')).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
        expect(new Set(lines.slice(1).map((line) => widthOf(line.slice(0, line.indexOf(id))))).size).toBe(1);
      },
    ),
  );
});

describe('the final report of several runs', () => {
  const of = (automationName: string) => ({ ...target, automationName });
  const times = { startedAt: '2026-11-21T02:00:00Z', completedAt: '2026-11-21T02:06:00Z' };
  const state = (status: string, facts: Partial<RunSnapshot> = {}): RunSnapshot => ({
    ...{ executionId, status, isFinal: isFinalStatus(status), document: {} },
    ...facts,
  });
  const error = { type: 'step_failed', message: 'Step "import" failed\nin line 3' };
  const about = (name: string) => ({ run: { target: of(name), executionId } });
  const refused = { attribution: 'no_run', idempotencyKey: null, isSafeToRepeat: true } as const;
  const rows: TargetOutcome[] = [
    { kind: 'status', ...about('north'), snapshot: state('COMPLETED', { ...times, creditsCharged: 12 }) },
    {
      kind: 'status',
      ...about('a-rather-long-name-of-an-automation'),
      snapshot: state('FAILED', { startedAt: times.startedAt }),
      result: { status: 'FAILED', isFinal: true, error, completedAt: times.completedAt, document: {} },
    },
    { kind: 'status', ...about('west'), snapshot: state('RUNNING', times) },
    { kind: 'no_run', target: of('east'), triggerInfo: refused, fault: { kind: 'no_credits', message: '' } },
  ];
  const tableAt = (columns?: number) => linesOf(finalTable(rows, plain, { columns }));

  test('is one table, in the order of the arguments', () => {
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
  ])('is no wider than %i columns', (columns, headings) => {
    const [first = '', ...others] = tableAt(columns);
    expect([first.split(/ +/), others.length]).toEqual([headings, 4]);
    for (const line of [first, ...others]) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
  });
});
