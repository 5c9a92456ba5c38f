import { describe, expect, test } from 'vitest';
import { fold, isUnresolved, listed, type State, unresolvedOf } from '../../src/journal/fold.ts';
import { type JournalRecord, type NewRecord, recordFields, runIdOf, triggerIdOf } from '../../src/journal/records.ts';
import { ageOf, isUnfinished, type KnownRun } from '../../src/run/entry.ts';
import { accepted, account, baseUrl, idOf, key, refused, status, triggered, uuid } from './records.ts';
import { createStateFolder } from './state-folder.ts';

const atOf = (second: number) => new Date(Date.UTC(2026, 10, 22, 3, 0, second)).toISOString();

/** The state after these records, of which one is written each second. */
function folded(...records: NewRecord[]): State {
  const stored = (record: NewRecord, second: number): JournalRecord => {
    return { ...record, schema: 1, at: atOf(second) };
  };
  return fold(records.map(stored));
}

/** Newest first. */
const idsOf = (state: State) => listed(state).map(({ entry }) => idOf(entry) ?? entry.idempotencyKey);
const triggerOf = ({ keys }: State) => [...keys.values()][0];
const runOf = ({ runs }: State, n = 1) => runs.get(runIdOf({ baseUrl, executionId: uuid(n) }));
const inDoubt = { type: 'in_doubt', ...key(1), reason: 'lost' } as const;
const notFound = { type: 'not_found', baseUrl, target: triggered(1).target, executionId: uuid(1) } as const;

/** A value for each field of these records. */
function valuesOf(type: NewRecord['type'], except: string[]): Record<string, string> {
  const names = Object.keys(recordFields[type]).filter((name) => !except.includes(name));
  return Object.fromEntries(names.map((name) => [name, `the ${name}`]));
}

test('no records mean nothing', () => {
  expect(folded()).toEqual({ runs: new Map(), keys: new Map(), places: [] });
});

describe('a run or a trigger', () => {
  test.each<[string, NewRecord[], boolean]>([
    ['a trigger without an outcome', [triggered(1)], false],
    ['a run that was accepted', [triggered(1), accepted(1)], true],
    ['a run that was accepted without a status', [{ ...accepted(1), status: undefined }], true],
    ['a run that is paused', [status(1, 'PAUSED')], true],
    [
      'a run with an unknown status and an end',
      [{ ...status(1, 'SKIPPED'), completedAt: '2026-01-02T03:04:05Z' }],
      false,
    ],
    ['a run with an unknown status and no date as its end', [{ ...status(1, 'SKIPPED'), completedAt: 'soon' }], true],
    [
      'a run with an unknown status and an end before its start',
      [
        { ...status(1, 'RUNNING'), startedAt: '2026-01-02T03:04:06Z' },
        { ...status(1, 'SKIPPED'), completedAt: '2026-01-02T03:04:05Z' },
      ],
      true,
    ],
    ['a run that completed', [accepted(1), status(1, 'COMPLETED')], false],
    ['a run that the service forgot', [accepted(1), notFound], false],
  ])('%s is unfinished: %s', (_, records, expected) => {
    const [first] = listed(folded(...records));
    expect(first && isUnfinished(first.entry)).toBe(expected);
  });

  test.each<[string, NewRecord[], boolean]>([
    ['the first record of its trigger', [triggered(1)], true],
    ['a later attempt', [{ ...triggered(1), first: undefined }], false],
    ['its trigger and the first record of the run', [triggered(1), { ...accepted(1), first: true }], true],
    ['its trigger, and a run that may be known before', [triggered(1), accepted(1)], false],
    ['an answer without its trigger', [{ ...accepted(1), first: true }], false],
    ['the first status of a run', [{ ...status(1, 'RUNNING'), first: true }], true],
    ['a later status', [status(1, 'RUNNING')], false],
  ])('of which there is %s is known as a whole: %s', (_, records, isWhole) => {
    expect(listed(folded(...records)).map((each) => each.isWhole)).toEqual([isWhole]);
  });
});

describe('a run', () => {
  test('that finished stays so, whatever comes later', () => {
    for (const later of [notFound, status(1, 'RUNNING'), status(1, 'ODD'), accepted(1)])
      expect(runOf(folded(status(1, 'COMPLETED'), later))).toMatchObject({ status: 'COMPLETED', isFinal: true });
  });

  test.each([
    ['COMPLETED', 'FAILED'],
    ['FAILED', 'COMPLETED'],
  ])('that finished %s and then %s has failed', (one, other) => {
    expect(runOf(folded(status(1, one), status(1, other)))).toMatchObject({ status: 'FAILED' });
  });

  test('that the service knows again has lost nothing but its status', () => {
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

  test('that was accepted without a status is RUNNING', () => {
    expect(runOf(folded({ ...accepted(1), status: undefined }))).toMatchObject({ status: 'RUNNING' });
  });

  test('keeps the idempotency key, the API key and the time of the trigger that it was accepted for first', () => {
    const other = { ...accepted(1), ...key(2), account: 'another' };
    const state = folded(status(1, 'RUNNING'), { ...accepted(1), account }, other);
    expect(runOf(state)).toMatchObject({ idempotencyKey: 'key-1', account, at: atOf(1), statusAt: atOf(2) });
    expect(idsOf(state)).toEqual([uuid(1)]);
  });

  test('stays that of its idempotency key when the service answers with another one, which has a place of its own', () => {
    const state = folded(triggered(1), accepted(1), { ...accepted(1), executionId: uuid(2) });
    expect(triggerOf(state)?.executionId).toBe(uuid(1));
    expect(listed(state)).toMatchObject([{ entry: runOf(state, 2), isWhole: false }, { entry: runOf(state, 1) }]);
  });

  test('is listed once, however often its trigger was answered', () => {
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

  test.each(outcomes)('%j of a trigger whose record is lost means nothing', (outcome) => {
    expect(folded(outcome)).toEqual(folded());
  });

  test.each(outcomes)('%j changes nothing about a trigger that has a run', (outcome) => {
    expect(folded(triggered(1), accepted(1), outcome)).toEqual(folded(triggered(1), accepted(1)));
  });

  test('that the run has started resolves its trigger', () => {
    const trigger = triggerOf(folded(triggered(1), { ...triggered(1), attempt: 'attempt-2' }, accepted(1)));
    expect(trigger && isUnresolved(trigger)).toBe(false);
  });

  test('leaves another attempt with the same key unresolved, from the time of that on', () => {
    const state = folded(triggered(1), { ...triggered(1), attempt: 'attempt-2' }, refused(1));
    expect(triggerOf(state)?.attempts).toMatchObject([{ record: { attempt: 'attempt-2' } }]);
    expect(listed(state)).toMatchObject([{ entry: { at: atOf(1) } }]);
  });

  test.each<[string, Partial<typeof inDoubt & { isLast: true }>, string[]]>([
    ['goes on', {}, ['one', 'two']],
    ['has ended', { isLast: true }, ['two']],
  ])('in doubt whose process %s says who still sends it', (_, fields, senders) => {
    const first = { ...triggered(1), process: 'one' };
    const second = { ...triggered(1), attempt: 'attempt-2', process: 'two' };
    const trigger = triggerOf(folded(first, second, { ...inDoubt, attempt: 'attempt-1', ...fields }));
    expect(trigger).toMatchObject({ reason: 'lost', attempts: [{ record: first }, { record: second }] });
    expect(trigger && unresolvedOf(trigger).senders.map(({ process }) => process)).toEqual(senders);
  });

  test('in doubt has met a conflict if that refused another use of its key', () => {
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
        attempts: [{ record: { attempt: 'attempt-1' } }],
        conflict: { activeExecutionId: 'run-7' },
      });
    }
  });

  test('that nobody asks for any more stays listed, and is unknown again once the key is sent again', () => {
    const records: NewRecord[] = [triggered(1), { type: 'superseded', ...key(1) }, triggered(2)];
    const superseded = folded(...records);
    expect(idsOf(superseded)).toEqual(['key-2', 'key-1']);
    expect(triggerOf(superseded)).toMatchObject({ attempts: [{ record: triggered(1) }], isSuperseded: true });
    const again = folded(...records, { ...triggered(1), attempt: 'attempt-2', first: undefined });
    expect(listed(again)).toMatchObject([{ entry: { idempotencyKey: 'key-1' }, isWhole: true }, { isWhole: true }]);
    expect(idsOf(again)).toEqual(['key-1', 'key-2']);
    const trigger = again.keys.get(triggerIdOf(key(1)));
    expect(trigger?.attempts.map(({ record }) => record.attempt)).toEqual(['attempt-1', 'attempt-2']);
    expect(trigger && isUnresolved(trigger)).toBe(true);
  });

  test('after which it is triggered anew is no part of it, and its place is that of the new attempt', () => {
    const state = folded(triggered(1), triggered(2), refused(1), triggered(1));
    expect(idsOf(state)).toEqual(['key-1', 'key-2']);
    expect([...state.keys.values()].map(({ position, attempts }) => [position, attempts.length])).toEqual([
      [2, 1],
      [4, 1],
    ]);
  });
});

describe('an unresolved trigger', () => {
  test('keeps every field of its record', () => {
    // Each attempt has its own id, and its process may send it again.
    const values = { ...valuesOf('triggered', ['first', 'attempt', 'process']), ifActive: 'skip' };
    const [first] = listed(folded({ ...triggered(1), ...values } as NewRecord));
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

  test('of which every attempt has an outcome is none', () => {
    const place = { isWhole: true };
    expect(() => unresolvedOf({ position: 1, attempts: [], place })).toThrow('every attempt');
  });
});
