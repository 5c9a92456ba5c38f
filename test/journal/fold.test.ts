import { describe, expect, test } from 'vitest';
import { type FoldedJournal, fold, isUnresolved, listedEntries, unresolvedOf } from '../../src/journal/fold.ts';
import { type JournalRecord, type NewRecord, recordFields, runRefOf, triggerRefOf } from '../../src/journal/records.ts';
import { ageOf, isUnfinished, type KnownRun } from '../../src/run/entry.ts';
import { accepted, account, baseUrl, idOf, key, refused, status, triggered, uuid } from './records.ts';
import { createStateFolder } from './state-folder.ts';

const atOf = (second: number) => new Date(Date.UTC(2026, 10, 22, 3, 0, second)).toISOString();

/** The state after these records, of which one is written each second. */
function folded(...records: NewRecord[]): FoldedJournal {
  const stored = (record: NewRecord, second: number): JournalRecord => {
    return { ...record, schema: 1, at: atOf(second) };
  };
  return fold(records.map(stored));
}

/** Newest first. */
const idsOf = (state: FoldedJournal) => listedEntries(state).map(({ entry }) => idOf(entry) ?? entry.idempotencyKey);
const triggerOf = ({ keys }: FoldedJournal) => [...keys.values()][0];
const runOf = ({ runs }: FoldedJournal, n = 1) => runs.get(runRefOf({ baseUrl, executionId: uuid(n) }));
const inDoubt = { type: 'in_doubt', ...key(1), reason: 'lost' } as const;
const notFound = { type: 'not_found', baseUrl, target: triggered(1).target, executionId: uuid(1) } as const;

/** A value for each field of these records. */
function valuesOf(type: NewRecord['type'], except: string[]): Record<string, string> {
  const names = Object.keys(recordFields[type]).filter((name) => !except.includes(name));
  return Object.fromEntries(names.map((name) => [name, `the ${name}`]));
}

test('no records mean nothing', () => {
  expect(folded()).toEqual({ runs: new Map(), keys: new Map(), lines: [] });
});

describe('isUnfinished', () => {
  test.each<[title: string, isUnfinished: boolean, NewRecord[]]>([
    ['a trigger without an outcome', false, [triggered(1)]],
    ['a run that was accepted', true, [triggered(1), accepted(1)]],
    ['a run that was accepted without a status', true, [{ ...accepted(1), status: undefined }]],
    ['a run that is paused', true, [status(1, 'PAUSED')]],
    [
      'a run with an unknown status and an end',
      false,
      [{ ...status(1, 'SKIPPED'), completedAt: '2026-01-02T03:04:05Z' }],
    ],
    ['a run with an unknown status and no date as its end', true, [{ ...status(1, 'SKIPPED'), completedAt: 'soon' }]],
    [
      'a run with an unknown status and an end before its start',
      true,
      [
        { ...status(1, 'RUNNING'), startedAt: '2026-01-02T03:04:06Z' },
        { ...status(1, 'SKIPPED'), completedAt: '2026-01-02T03:04:05Z' },
      ],
    ],
    ['a run that completed', false, [accepted(1), status(1, 'COMPLETED')]],
    ['a run that the service no longer knows', false, [accepted(1), notFound]],
  ])('is right about %s: %s', (_, expected, records) => {
    const [first] = listedEntries(folded(...records));
    expect(first && isUnfinished(first.entry)).toBe(expected);
  });
});

describe('isComplete, which says whether all records of an entry were read', () => {
  test.each<[title: string, isComplete: boolean, NewRecord[]]>([
    ['the first record of a trigger', true, [triggered(1)]],
    ['a later attempt', false, [{ ...triggered(1), first: undefined }]],
    ['a trigger and the first record of its run', true, [triggered(1), { ...accepted(1), first: true }]],
    ['a trigger, and a run that may be known before', false, [triggered(1), accepted(1)]],
    ['a response without its trigger', false, [{ ...accepted(1), first: true }]],
    ['the first status of a run', true, [{ ...status(1, 'RUNNING'), first: true }]],
    ['a later status', false, [status(1, 'RUNNING')]],
  ])('is right about %s: %s', (_, isComplete, records) => {
    expect(listedEntries(folded(...records)).map((each) => each.isComplete)).toEqual([isComplete]);
  });
});

describe('a run', () => {
  test('stays finished, whatever record comes later', () => {
    for (const later of [notFound, status(1, 'RUNNING'), status(1, 'ODD'), accepted(1)])
      expect(runOf(folded(status(1, 'COMPLETED'), later))).toMatchObject({ status: 'COMPLETED', isFinal: true });
  });

  test.each([
    ['COMPLETED', 'FAILED'],
    ['FAILED', 'COMPLETED'],
  ])('has failed if it finished as %s and then as %s', (one, other) => {
    expect(runOf(folded(status(1, one), status(1, other)))).toMatchObject({ status: 'FAILED' });
  });

  test('has lost nothing but its status when the service knows it again', () => {
    const started = { ...accepted(1), account, startedAt: 'S' };
    const { statusAt: _, ...known } = runOf(folded(started)) as KnownRun;
    expect(runOf(folded(started, notFound, status(1, 'RUNNING')))).toEqual({ ...known, statusAt: atOf(2) });
  });

  test('keeps what a later report leaves out', () => {
    const facts = { startedAt: 'S', completedAt: 'C', creditsCharged: 2, error: 'E' };
    expect(runOf(folded({ ...status(1, 'FAILED'), ...facts }, status(1, 'FAILED')))).toMatchObject(facts);
  });

  test.each(['status', 'accepted'] as const)('keeps every field of a record of type %s', (type) => {
    // How a trigger got its run is kept with its idempotency key.
    const values = valuesOf(type, ['first', 'how']);
    const record = { ...status(1, 'RUNNING'), ...values, type } as NewRecord;
    expect([...folded(record).runs.values()]).toMatchObject([values]);
  });

  test('is RUNNING if it was accepted without a status', () => {
    expect(runOf(folded({ ...accepted(1), status: undefined }))).toMatchObject({ status: 'RUNNING' });
  });

  test('keeps the idempotency key, the API key and the time of the trigger that it was accepted for first', () => {
    const other = { ...accepted(1), ...key(2), account: 'another' };
    const state = folded(status(1, 'RUNNING'), { ...accepted(1), account }, other);
    expect(runOf(state)).toMatchObject({ idempotencyKey: 'key-1', account, at: atOf(1), statusAt: atOf(2) });
    expect(idsOf(state)).toEqual([uuid(1)]);
  });

  test('stays the run of its idempotency key when the service returns another run, which is listed apart', () => {
    const state = folded(triggered(1), accepted(1), { ...accepted(1), executionId: uuid(2) });
    expect(triggerOf(state)?.executionId).toBe(uuid(1));
    expect(listedEntries(state)).toMatchObject([
      { entry: runOf(state, 2), isComplete: false },
      { entry: runOf(state, 1) },
    ]);
  });

  test('is listed once, however many responses its trigger got', () => {
    expect(idsOf(folded(triggered(1), accepted(1), accepted(1), triggered(1)))).toEqual([uuid(1)]);
  });
});

describe('the outcome of an attempt', () => {
  const outcomes: NewRecord[] = [
    inDoubt,
    refused(1),
    { type: 'reused_key', ...key(1) },
    { type: 'superseded', ...key(1) },
  ];

  test.each(outcomes)('$type means nothing if the record of its trigger is lost', (outcome) => {
    expect(folded(outcome)).toEqual(folded());
  });

  test.each(outcomes)('$type changes nothing about a trigger that has a run', (outcome) => {
    expect(folded(triggered(1), accepted(1), outcome)).toEqual(folded(triggered(1), accepted(1)));
  });

  test('resolves its trigger if it has a run', () => {
    const trigger = triggerOf(folded(triggered(1), { ...triggered(1), attempt: 'attempt-2' }, accepted(1)));
    expect(trigger && isUnresolved(trigger)).toBe(false);
  });

  test('leaves another attempt with the same key unresolved, which is as old as that attempt', () => {
    const state = folded(triggered(1), { ...triggered(1), attempt: 'attempt-2' }, refused(1));
    expect(triggerOf(state)?.openSendings).toMatchObject([{ record: { attempt: 'attempt-2' } }]);
    expect(listedEntries(state)).toMatchObject([{ entry: { at: atOf(1) } }]);
  });

  test.each<[string, Partial<typeof inDoubt & { isLast: true }>, string[]]>([
    ['goes on', {}, ['one', 'two']],
    ['has ended', { isLast: true }, ['two']],
  ])('if in doubt, names the processes that still send it if its own process %s', (_, fields, senders) => {
    const first = { ...triggered(1), process: 'one' };
    const second = { ...triggered(1), attempt: 'attempt-2', process: 'two' };
    const trigger = triggerOf(folded(first, second, { ...inDoubt, attempt: 'attempt-1', ...fields }));
    expect(trigger).toMatchObject({ reason: 'lost', openSendings: [{ record: first }, { record: second }] });
    expect(trigger && unresolvedOf(trigger).senders.map(({ process }) => process)).toEqual(senders);
  });

  test('if in doubt, has met a conflict if a conflict refused another use of its key', () => {
    const again = { ...triggered(1), attempt: 'attempt-2' };
    const conflict = {
      ...refused(1),
      attempt: 'attempt-2',
      name: 'already_active',
      activeExecutionId: 'run-7',
    } as const;
    const unnamed = { ...inDoubt, name: 'already_active' } as const;
    for (const later of [[], [unnamed]]) {
      expect(triggerOf(folded(triggered(1), inDoubt, again, conflict, ...later))).toMatchObject({
        openSendings: [{ record: { attempt: 'attempt-1' } }],
        conflict: { activeExecutionId: 'run-7' },
      });
    }
  });

  test('stays listed if it was superseded, and is unknown again once the key is sent again', () => {
    const records: NewRecord[] = [triggered(1), { type: 'superseded', ...key(1) }, triggered(2)];
    const superseded = folded(...records);
    expect(idsOf(superseded)).toEqual(['key-2', 'key-1']);
    expect(triggerOf(superseded)).toMatchObject({ openSendings: [{ record: triggered(1) }], isSuperseded: true });
    const again = folded(...records, { ...triggered(1), attempt: 'attempt-2', first: undefined });
    expect(listedEntries(again)).toMatchObject([
      { entry: { idempotencyKey: 'key-1' }, isComplete: true },
      { isComplete: true },
    ]);
    expect(idsOf(again)).toEqual(['key-1', 'key-2']);
    const trigger = again.keys.get(triggerRefOf(key(1)));
    expect(trigger?.openSendings.map(({ record }) => record.attempt)).toEqual(['attempt-1', 'attempt-2']);
    expect(trigger && isUnresolved(trigger)).toBe(true);
  });

  test('ends its trigger if it was refused, so a new attempt is listed on a line of its own', () => {
    const state = folded(triggered(1), triggered(2), refused(1), triggered(1));
    expect(idsOf(state)).toEqual(['key-1', 'key-2']);
    expect([...state.keys.values()].map(({ position, openSendings }) => [position, openSendings.length])).toEqual([
      [2, 1],
      [4, 1],
    ]);
  });
});

describe('an unresolved trigger', () => {
  test('keeps every field of its record', () => {
    // Each attempt has its own id, and its process may send it again.
    const values = { ...valuesOf('triggered', ['first', 'attempt', 'process']), ifActive: 'skip' };
    const [first] = listedEntries(folded({ ...triggered(1), ...values } as NewRecord));
    expect(first?.entry).toMatchObject(values);
  });

  test.each([
    ['is as old as its record', 60_000, 60_000],
    ['may seem to come from the near future', -300_000, -300_000],
    ['has an unknown age if the clock was set back', -300_001, Number.POSITIVE_INFINITY],
  ])('%s: %d ms later it is %d ms old', (_, laterMs, ageMs) => {
    const { open, clock } = createStateFolder();
    open().append({ ...triggered(1), process: 'host 1 1' });
    clock.nowMs += laterMs;
    const [trigger] = open().unresolved({ baseUrl });
    expect(trigger && ageOf(trigger, clock.nowMs)).toBe(ageMs);
    expect(trigger?.senders).toEqual([{ process: 'host 1 1', at: trigger?.at }]);
  });

  test('is an error if every sending has an outcome', () => {
    const line = { isComplete: true };
    expect(() => unresolvedOf({ position: 1, openSendings: [], line })).toThrow('every sending');
  });
});
