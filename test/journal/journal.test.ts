import { describe, expect, test } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { type NewRecord, pathOf } from '../../src/journal/records.ts';
import { type Entry, maxOpenAgeMs, statusOf } from '../../src/run/entry.ts';
import type { RunSnapshot } from '../../src/run/service.ts';
import { isFinalStatus } from '../../src/run/statuses.ts';
import {
  accepted,
  account,
  baseUrl,
  idOf,
  key,
  nightly,
  projectId,
  refused,
  status,
  triggered,
  uuid,
  weekly,
} from './records.ts';
import { createStateFolder, linesIn } from './state-folder.ts';

/** A state folder with these records, of which a process of its own has written one each second. */
function journalOf(...records: NewRecord[]) {
  const state = createStateFolder();
  for (const record of records) {
    state.open().append(record);
    state.clock.nowMs += 1000;
  }
  const recorded = () => linesIn(state.folder).flatMap((line) => (line === '' ? [] : JSON.parse(line)));
  return { ...state, recorded };
}

const elsewhere = 'http://localhost:1';
const run = { target: nightly, executionId: uuid(1) };
const inDoubt = { type: 'in_doubt', ...key(1), reason: 'the connection was reset' } as const;
const reusedKey = { type: 'reused_key', ...key(1) } as const;
const again = { ...triggered(1), attempt: 'attempt-2', first: undefined };
const first = (record: NewRecord) => ({ ...record, first: true }) as NewRecord;
const idsOf = (entries: Iterable<Entry>) => Array.from(entries, idOf);
const statusIn = (entry: Entry | undefined) => entry && statusOf(entry);
const reported = (status: string, fields: Partial<RunSnapshot> = {}): RunSnapshot => ({
  executionId: uuid(1),
  status,
  isFinal: isFinalStatus(status),
  document: {},
  ...fields,
});

describe('the runs', () => {
  test('come newest first, with everything that is recorded of them', () => {
    const ended = { ...status(1, 'COMPLETED'), startedAt: 'S', completedAt: 'C', creditsCharged: 2.5, error: 'E' };
    const { open } = journalOf(triggered(1), accepted(1), triggered(2, weekly), accepted(2, weekly), ended);
    expect([...open().entries()]).toEqual([
      expect.objectContaining({ executionId: uuid(2), target: weekly, status: 'RUNNING', idempotencyKey: 'key-2' }),
      {
        kind: 'run',
        baseUrl,
        target: nightly,
        executionId: uuid(1),
        status: 'COMPLETED',
        isFinal: true,
        startedAt: 'S',
        completedAt: 'C',
        creditsCharged: 2.5,
        error: 'E',
        idempotencyKey: 'key-1',
        statusAt: '2026-11-21T03:00:04.000Z',
        at: '2026-11-21T03:00:01.000Z',
      },
    ]);
  });

  test.each<[string, NewRecord[], object[]]>([
    ['a trigger without an outcome', [triggered(1)], [{ kind: 'unresolved', idempotencyKey: 'key-1' }]],
    ['no trigger that was refused', [triggered(1), refused(1)], []],
    ["no trigger with another target's key", [triggered(1), reusedKey], []],
    ['a run whose trigger is not recorded', [accepted(1)], [{ executionId: uuid(1) }]],
    [
      'a run that was started elsewhere, from its first poll on',
      [status(1, 'RUNNING'), triggered(2), accepted(2), status(1, 'FAILED')],
      [{ executionId: uuid(2) }, { executionId: uuid(1), status: 'FAILED' }],
    ],
    [
      'runs of two base URLs that share an id',
      [status(1, 'FAILED'), { ...status(1, 'RUNNING'), baseUrl: elsewhere }],
      [{ status: 'RUNNING' }, { status: 'FAILED' }],
    ],
    [
      'a run in the place of its first record, even if it was triggered again',
      [first(status(1, 'COMPLETED')), triggered(2), first(accepted(2)), again, accepted(1)],
      [{ executionId: uuid(2) }, { executionId: uuid(1), status: 'COMPLETED' }],
    ],
    [
      'a trigger in the place of its first attempt',
      [triggered(1), triggered(2), first(accepted(2)), again],
      [{ executionId: uuid(2) }, { kind: 'unresolved', idempotencyKey: 'key-1' }],
    ],
  ])('list %s', (_, records, expected) => {
    const runs = [
      ...journalOf(...records)
        .open()
        .entries(),
    ];
    expect(runs).toMatchObject(expected);
    expect(runs).toHaveLength(expected.length);
  });

  test.each([
    ['address', { baseUrl: elsewhere }, [4]],
    ['target', { target: weekly }, [2]],
    ['automation', { automations: [{ automationName: 'nightly' }] }, [4, 1]],
    ['automation and project', { automations: [{ automationName: 'nightly', projectId: uuid(9) }] }, []],
  ])('can be chosen by %s', (_, filter, expected) => {
    const daily = { projectId, automationName: 'daily' };
    const other = { ...status(4, 'RUNNING'), baseUrl: elsewhere };
    const { open } = journalOf(status(1, 'RUNNING'), status(2, 'FAILED', weekly), status(3, 'FAILED', daily), other);
    expect(idsOf(open().entries(filter))).toEqual(expected.map(uuid));
  });

  test('are found by strange names, and not by a key that looks like a name', () => {
    const target = { projectId, automationName: 'a/"b"\n%2F\u{1F600}é\\' };
    const { open } = journalOf(status(1, 'RUNNING', target), {
      ...triggered(2, weekly),
      idempotencyKey: pathOf(nightly),
    });
    for (const filter of [{ target }, { automations: [target] }]) {
      expect([...open().entries(filter)]).toMatchObject([{ target, executionId: uuid(1) }]);
    }
    expect([...open().entries({ target: nightly }), ...open().entries({ automations: [nightly] })]).toEqual([]);
  });

  test('that have finished are not RUNNING because their idempotency key is unresolved for another automation', () => {
    const { open } = journalOf(triggered(1), accepted(1), status(1, 'COMPLETED'), triggered(1, weekly));
    const [unresolved, ...others] = open().entries({ baseUrl, statuses: ['RUNNING', 'UNKNOWN'] });
    expect([unresolved, others]).toMatchObject([{ kind: 'unresolved', target: weekly }, []]);
  });

  test('come newest first, whether a search for their statuses finds runs or lost triggers', () => {
    const records = [triggered(1), triggered(2), accepted(2), status(2, 'FAILED'), triggered(3)];
    const { open } = journalOf(...records.map(first));
    const found = [...open().entries({ baseUrl, statuses: ['FAILED', 'UNKNOWN'] })];
    expect(found.map(({ kind }) => kind)).toEqual(['unresolved', 'run', 'unresolved']);
  });

  test.each([undefined, true])(
    'come newest first, even if an older one was only polled here (hasRun: %s)',
    (hasRun) => {
      const records = [status(1, 'FAILED'), triggered(2), accepted(2), status(3, 'FAILED'), triggered(4), accepted(4)];
      const { open } = journalOf(...records.map(first));
      expect(idsOf(open().entries({ baseUrl, hasRun }))).toEqual([4, 3, 2, 1].map(uuid));
    },
  );
});

test('the runs of a part of the journal are those that began in it', () => {
  const { open } = journalOf(first(status(1, 'RUNNING')));
  const [paused, third] = [status(1, 'PAUSED'), first(status(3, 'RUNNING'))];
  open(1).append(paused);
  open().append(third);
  open(1).append(first(status(2, 'RUNNING')));
  const inFiles = (maxFiles: number) => idsOf(open().entries({ maxFiles }));
  expect([1, 2, 3].map(inFiles)).toEqual([[2], [2, 3], [2, 3, 1]].map((ids) => ids.map(uuid)));
});

describe('a run that is looked for by its id', () => {
  test('is found once it is recorded, by this process or, when it looks again, by another one', () => {
    const { open } = journalOf();
    const journal = open();
    for (const n of [1, 2]) expect(journal.find(uuid(n), { baseUrl })).toBeUndefined();
    journal.append(status(1, 'RUNNING'));
    open().append(status(2, 'RUNNING'));
    expect(statusIn(journal.find(uuid(1), { baseUrl }))).toBe('RUNNING');
    expect(journal.find(uuid(2), { baseUrl })).toBeUndefined();
    expect(statusIn(journal.find(uuid(2), { baseUrl, fresh: true }))).toBe('RUNNING');
  });

  test('is found at its own base URL, and another base URL that has it is named', () => {
    const { open } = journalOf(accepted(1), { ...accepted(2), baseUrl: elsewhere });
    expect([1, 2].map((n) => statusIn(open().find(uuid(n), { baseUrl })))).toEqual(['RUNNING', undefined]);
    expect([1, 2].map((n) => open().findElsewhere(uuid(n), baseUrl))).toEqual([undefined, elsewhere]);
  });
});

test('a run is found at its own base URL even if later files have a run of another base URL with its id', () => {
  const { open } = journalOf(first(status(1, 'FAILED')));
  open(1).append({ ...first(status(1, 'RUNNING')), baseUrl: elsewhere });
  expect(open().find(uuid(1), { baseUrl })).toMatchObject({ status: 'FAILED' });
});

describe('another run of the automation is known to have been active', () => {
  const namesIt = { ...refused(3), activeExecutionId: uuid(1) };
  const namesAnother = { ...refused(4), activeExecutionId: uuid(2) };

  test.each<[string, NewRecord[], string | undefined]>([
    ['if a later trigger was refused because of it', [accepted(1), namesAnother], 'key-4'],
    [
      'if the last of several refusals names none',
      [accepted(1), status(1, 'FAILED'), namesAnother, refused(5)],
      'key-5',
    ],
    ['but not if this run was the active one', [accepted(1), namesIt], undefined],
    [
      'but not if nobody knows which one it was, because this run had not finished',
      [accepted(1), refused(3)],
      undefined,
    ],
    ['but not if the refusal was before this run', [namesAnother, accepted(1)], undefined],
    [
      'but not if the trigger failed for another reason',
      [accepted(1), { ...namesAnother, name: 'no_credits' }],
      undefined,
    ],
    ['but not if the refusal is of another automation', [accepted(1), { ...namesAnother, target: weekly }], undefined],
  ])('%s', (_, records, expected) => {
    for (const setMs of [0, -3_600_000, 3_600_000]) {
      const { open, clock } = createStateFolder();
      for (const record of records) {
        open().append(record);
        clock.nowMs += setMs;
      }
      expect(open().otherActiveRun(baseUrl, run)?.idempotencyKey).toBe(expected);
    }
  });

  test('but not because of a refusal of more than a day ago', () => {
    const { open, clock } = journalOf(accepted(1), namesAnother);
    clock.nowMs += maxOpenAgeMs;
    expect(open().otherActiveRun(baseUrl, run)).toBeUndefined();
  });
});

describe('a status', () => {
  test('is recorded once, and the first one of a run is marked as the first', () => {
    const { open, recorded } = journalOf();
    for (const each of ['RUNNING', 'RUNNING', 'COMPLETED', 'COMPLETED'])
      open().recordStatus(baseUrl, run, reported(each));
    expect(recorded()).toMatchObject([{ status: 'RUNNING', first: true }, { status: 'COMPLETED' }]);
    expect([recorded().length, recorded()[1].first]).toEqual([2, undefined]);
  });

  test('is not recorded if it says less than the last one', () => {
    const { open, recorded } = journalOf();
    const record = (fields: Partial<RunSnapshot>, error?: string) =>
      open().recordStatus(baseUrl, run, reported('FAILED', fields), error);
    record({ startedAt: 'S', completedAt: 'C' });
    record({ completedAt: 'C' });
    expect(recorded()).toHaveLength(1);
    record({ creditsCharged: 2 });
    record({}, 'step_failed');
    const all = { startedAt: 'S', completedAt: 'C', creditsCharged: 2, error: 'step_failed' };
    expect(open().find(uuid(1), { baseUrl })).toMatchObject(all);
  });
});

describe('a run that the service does not know', () => {
  const started = [triggered(1), { ...accepted(1), account }];
  const forgottenIn = (journal: Journal) => journal.pollable({ baseUrl }).filter(({ kind }) => kind === 'not_found');

  test('is recorded once, and stays the run of its key', () => {
    const { open, recorded, clock } = journalOf(...started, triggered(2), accepted(2));
    for (const _ of [1, 2]) expect(open().markNotFound(baseUrl, run, account)).toBe(true);
    expect(recorded().filter(({ type }) => type === 'not_found')).toHaveLength(1);
    expect([...open().entries()].map(statusOf)).toEqual(['RUNNING', 'NOT_FOUND']);
    expect(open().findKey(key(1))).toEqual({ kind: 'run', executionId: uuid(1) });
    expect(idsOf(forgottenIn(open()))).toEqual([uuid(1)]);
    expect(idsOf(open().unfinished({ baseUrl }))).toEqual([uuid(2)]);
    clock.nowMs += maxOpenAgeMs;
    expect([forgottenIn(open()), open().unfinished({ baseUrl })]).toEqual([[], []]);
  });

  test.each<[string, NewRecord[], string]>([
    ['was started with another API key', started, 'another'],
    ['was started elsewhere', [status(1, 'RUNNING')], account],
    ['has finished', [...started, status(1, 'FAILED')], account],
    ['was never heard of', [], account],
  ])('is not recorded as not found if it %s', (_, records, asking) => {
    const { open, recorded } = journalOf(...records, status(9, 'RUNNING'));
    expect(open().markNotFound(baseUrl, run, asking)).toBe(false);
    expect(recorded()).toHaveLength(records.length + 1);
  });

  test('is running if the service knows it again', () => {
    const { open } = journalOf(...started);
    const journal = open();
    journal.markNotFound(baseUrl, run, account);
    journal.recordStatus(baseUrl, run, reported('RUNNING'));
    expect(statusIn(open().find(uuid(1), { baseUrl }))).toBe('RUNNING');
    expect(forgottenIn(open())).toEqual([]);
  });
});

describe('an unresolved trigger', () => {
  test('holds what is needed to send it again', () => {
    const { open } = journalOf({ ...triggered(1), body: '{"message":"hi"}', userProvided: true }, inDoubt);
    expect(open().unresolved({ baseUrl })).toEqual([
      {
        kind: 'unresolved',
        baseUrl,
        account,
        target: nightly,
        idempotencyKey: 'key-1',
        body: '{"message":"hi"}',
        userProvided: true,
        at: '2026-11-21T03:00:00.000Z',
        sendingIds: ['attempt-1'],
        senders: [],
        reason: 'the connection was reset',
      },
    ]);
  });

  test.each<[string, NewRecord[], string[]]>([
    ['is closed by an acceptance, for good', [triggered(1), accepted(1), triggered(1)], []],
    ['is closed by a refusal', [triggered(1), refused(1)], []],
    ['begins anew after that', [triggered(1), triggered(2), refused(1), triggered(1)], ['key-1 1s', 'key-2 3s']],
    ['is not closed by the run of another automation', [triggered(1), accepted(1, weekly)], ['key-1 2s']],
    [
      "is not closed by the refusal of another process' attempt",
      [triggered(1), again, { ...refused(1), attempt: 'attempt-2' }],
      ['key-1 3s'],
    ],
    ['keeps its age and its place if it is sent again', [triggered(1), triggered(2), again], ['key-2 2s', 'key-1 3s']],
    ['is as old as its oldest attempt without an outcome', [triggered(1), again, refused(1)], ['key-1 2s']],
    ['of another address is not shown', [{ ...triggered(1), baseUrl: elsewhere }], []],
  ])('%s', (_, records, expected) => {
    const { open, clock } = journalOf(...records);
    const shown = (at: string, key: string | undefined) => `${key} ${(clock.nowMs - Date.parse(at)) / 1000}s`;
    const unresolved = open().unresolved({ baseUrl });
    expect(unresolved.map(({ at, idempotencyKey }) => shown(at, idempotencyKey))).toEqual(expected);
    const listed = [...open().entries({ baseUrl })].filter(({ kind }) => kind === 'unresolved');
    expect(listed.map(({ at, idempotencyKey }) => shown(at, idempotencyKey))).toEqual(expected);
  });

  test('is found by its target', () => {
    const { open } = journalOf(triggered(1), triggered(2, weekly), triggered(3));
    const keysOf = (filter: object) =>
      open()
        .unresolved(filter)
        .map(({ idempotencyKey }) => idempotencyKey);
    expect([keysOf({ baseUrl, target: weekly }), keysOf({ baseUrl, target: nightly })]).toEqual([
      ['key-2'],
      ['key-3', 'key-1'],
    ]);
  });
});

test.each<[string, NewRecord[], string | undefined]>([
  ['is unknown before it is sent', [], undefined],
  ['is open once it is sent', [triggered(1)], 'unresolved'],
  ['is accepted', [triggered(1), accepted(1)], 'run'],
  ['stays accepted', [triggered(1), accepted(1), triggered(1), refused(1)], 'run'],
  ["stays accepted if it turns out to be another target's", [triggered(1), accepted(1), reusedKey], 'run'],
  ['is unknown once it is refused', [triggered(1), refused(1)], undefined],
  ["is unknown once it is another target's", [triggered(1), reusedKey], undefined],
  ['is unknown for another automation', [triggered(1, weekly), accepted(1, weekly)], undefined],
  ['is unknown at another address', [{ ...triggered(1), baseUrl: elsewhere }], undefined],
  ['is open under whatever API key', [{ ...triggered(1), account: '0' }], 'unresolved'],
  ['is accepted under whatever API key', [triggered(1), { ...accepted(1), account: '0' }], 'run'],
])('an idempotency key %s', (_, records, expected) => {
  expect(
    journalOf(...records)
      .open()
      .findKey(key(1))?.kind,
  ).toBe(expected);
});

test('a name, an id or a key is found however old its record and its file are', () => {
  const { open, clock } = createStateFolder();
  const old = [triggered(1), { ...accepted(1), account }, triggered(2, weekly), triggered(3), refused(3)];
  for (const record of old) open(1).append(record);
  clock.nowMs += 300 * 24 * 3_600_000;
  for (const n of [11, 12, 13, 14, 15]) open(1).append(first(status(n, 'COMPLETED')));
  const journal = open();
  expect(journal.findKey(key(1))).toEqual({ kind: 'run', executionId: uuid(1) });
  expect(journal.findKey(key(2, weekly))).toMatchObject({ kind: 'unresolved', at: '2026-11-21T03:00:00.000Z' });
  expect(journal.refusalsOf({ ...key(3), account }, 'already_active')).toBe(1);
  expect(journal.find(uuid(1), { baseUrl })).toMatchObject({ idempotencyKey: 'key-1' });
  expect(journal.hasRecord({ baseUrl, target: weekly })).toBe(true);
  expect(idsOf(journal.entries({ baseUrl, idPrefix: uuid(1).slice(0, -1) }))).toContain(uuid(1));
});

test('a run is unfinished even if a run of another service with its id has finished', () => {
  const { open } = journalOf(first(status(1, 'RUNNING')), { ...status(1, 'FAILED'), baseUrl: elsewhere });
  expect(idsOf(open().unfinished({ baseUrl }))).toEqual([uuid(1)]);
});

describe('durations', () => {
  const startedAt = '2026-11-21T03:00:00Z';
  const ended = (n: number, seconds: number, final = 'COMPLETED', target = nightly): NewRecord => {
    const completedAt = new Date(Date.parse(startedAt) + seconds * 1000).toISOString();
    return { ...status(n, final, target), startedAt, completedAt };
  };

  test('are taken from the last completed runs of the target at its service', () => {
    const others = [status(6, 'COMPLETED'), ended(3, 30, 'FAILED'), ended(4, 40, 'COMPLETED', weekly), triggered(9)];
    const odd = [ended(5, -50), ended(8, 0), { type: 'not_found', baseUrl, ...run, executionId: uuid(10) } as const];
    const foreign = { ...ended(11, 110), baseUrl: elsewhere };
    const { open } = journalOf(ended(1, 10), ended(2, 20), ...others, ...odd, foreign, ended(7, 70));
    expect(open().pastDurationsMs({ baseUrl, target: nightly })).toEqual([70_000, 20_000, 10_000]);
  });

  test('are not used if they are more than 90 days old, or of more than twenty runs', () => {
    const { open, clock } = journalOf(ended(1, 10), ended(2, 20));
    clock.nowMs += 90 * 24 * 3_600_000 - 1000;
    expect(open().pastDurationsMs({ baseUrl, target: nightly })).toEqual([20_000]);
    clock.nowMs -= 2 * 365 * 24 * 3_600_000;
    open().append(ended(98, 98));
    clock.nowMs += 2 * 365 * 24 * 3_600_000;
    expect(open().pastDurationsMs({ baseUrl, target: nightly }), 'a clock that was set back').toEqual([20_000]);
    for (let n = 3; n < 23; n++) open().append(ended(n, n));
    expect(open().pastDurationsMs({ baseUrl, target: nightly })).toHaveLength(20);
  });
});
