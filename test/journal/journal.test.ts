import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type NewRecord, pathOf } from '../../src/journal/records.ts';
import type { Target } from '../../src/runs/run.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
import {
  accepted,
  account,
  baseUrl,
  key,
  nightly,
  projectId,
  refused,
  status,
  triggered,
  uuid,
  weekly,
} from './records.ts';
import { createStateFolder, lineOf, linesIn } from './state-folder.ts';

const ids = (runs: Iterable<{ executionId: string | null }>) => [...runs].map(({ executionId }) => executionId);

describe('the runs', () => {
  test('come newest first, with the last status known', () => {
    const { open } = createStateFolder();
    const journal = open();
    for (const record of [triggered(1), accepted(1), triggered(2, weekly), accepted(2, weekly)]) journal.append(record);
    journal.append({ ...status(1, 'COMPLETED'), startedAt: 'S', completedAt: 'C', creditsCharged: 2.5 });
    expect([...open().runs()]).toEqual([
      expect.objectContaining({ executionId: uuid(2), target: weekly, status: 'RUNNING', idempotencyKey: 'key-2' }),
      {
        baseUrl,
        target: nightly,
        executionId: uuid(1),
        status: 'COMPLETED',
        isFinal: true,
        startedAt: 'S',
        completedAt: 'C',
        creditsCharged: 2.5,
        idempotencyKey: 'key-1',
        statusAt: '2026-11-21T03:00:00.000Z',
        at: '2026-11-21T03:00:00.000Z',
      },
    ]);
  });

  test('of every service but one are those of the others', () => {
    const { open } = createStateFolder();
    for (const record of [accepted(1), { ...accepted(2), baseUrl: `${baseUrl}/other` }]) open().append(record);
    expect(open().findElsewhere(uuid(2), baseUrl)).toBe(`${baseUrl}/other`);
    expect(open().findElsewhere(uuid(1), baseUrl)).toBe(undefined);
  });

  test('are found by their id once they are recorded, even if they were not found before', () => {
    const journal = createStateFolder().open();
    expect(journal.find(uuid(1), { baseUrl })).toBeUndefined();
    journal.append(status(1, 'RUNNING'));
    expect(journal.find(uuid(1), { baseUrl })?.status).toBe('RUNNING');
  });

  test('show a trigger without an outcome as one without id and status', () => {
    const { open } = createStateFolder();
    open().append(triggered(1));
    expect(open().runs({}).next().value).toMatchObject({ executionId: null, status: null, idempotencyKey: 'key-1' });
  });

  test("leave out what was refused or is another target's key", () => {
    const { open } = createStateFolder();
    const journal = open();
    for (const record of [triggered(1), refused(1), triggered(2)]) journal.append(record);
    journal.append({ type: 'reused_key', ...key(2) });
    expect([...open().runs()]).toEqual([]);
  });

  test('of which an outcome was recorded but no trigger are known all the same', () => {
    const { open } = createStateFolder();
    open().append(accepted(1));
    expect(ids(open().runs())).toEqual([uuid(1)]);
  });

  test('started elsewhere are known from the first poll of them', () => {
    const { open } = createStateFolder();
    open().append(status(1, 'RUNNING'));
    const journal = open();
    for (const record of [triggered(2), accepted(2)]) journal.append(record);
    open().append(status(1, 'FAILED'));
    expect(ids(open().runs())).toEqual([uuid(2), uuid(1)]);
    expect(open().find(uuid(1), { baseUrl })).toMatchObject({ status: 'FAILED', idempotencyKey: null });
  });

  test.each([
    ['a later state', [status(1, 'COMPLETED'), status(1, 'RUNNING')]],
    ['a later ending', [status(1, 'COMPLETED'), status(1, 'FAILED')]],
    ['a replayed answer to its trigger', [status(1, 'COMPLETED'), accepted(1)]],
  ])('keep a final state over %s', (_, records) => {
    const { open } = createStateFolder();
    open().append(triggered(1));
    for (const record of records) open().append(record);
    expect(open().find(uuid(1), { baseUrl })?.status).toBe('COMPLETED');
    expect([...open().runs()]).toContainEqual(expect.objectContaining({ executionId: uuid(1), status: 'COMPLETED' }));
  });

  test.each([
    ['address', { baseUrl: 'http://localhost:1' }, [4]],
    ['target', { target: weekly }, [2]],
    ['automation', { automations: [{ automationName: 'nightly' }] }, [4, 1]],
    ['automation of a project', { automations: [{ automationName: 'nightly', projectId }] }, [4, 1]],
    ['automation of another project', { automations: [{ automationName: 'nightly', projectId: uuid(9) }] }, []],
    ['no automation, which says nothing', { automations: [] }, [4, 3, 2, 1]],
    ['end of a name', { automations: [{ automationName: 'report' }] }, []],
  ])('can be chosen by %s', (_, filter, expected) => {
    const { open } = createStateFolder();
    const journal = open();
    journal.append(status(1, 'RUNNING'));
    journal.append(status(2, 'FAILED', weekly));
    journal.append(status(3, 'COMPLETED', { projectId, automationName: 'daily' }));
    journal.append({ ...status(4, 'RUNNING'), baseUrl: 'http://localhost:1' });
    expect(ids(open().runs(filter))).toEqual(expected.map(uuid));
  });

  test('with strange names are found by them', () => {
    const { open } = createStateFolder();
    const target = { projectId, automationName: 'a/"b"\n%2F\u{1F600}é\\' } as const;
    open().append(status(1, 'RUNNING', target));
    expect(open().runs({ target }).next().value?.target).toEqual(target);
    expect(
      open()
        .runs({ automations: [target] })
        .next().value?.executionId,
    ).toBe(uuid(1));
  });

  describe('keep the place of their first record', () => {
    const withTwentyAfter = (first: NewRecord) => {
      const { open } = createStateFolder();
      open().append(first);
      for (let n = 11; n <= 30; n++)
        for (const record of [triggered(n), { ...accepted(n), first: true }]) open().append(record);
      return open;
    };

    test('where a trigger was answered with a run that was known before', () => {
      const open = withTwentyAfter({ ...status(1, 'COMPLETED'), first: true });
      open().append({ ...triggered(1), userProvided: true });
      expect(open().runs({}).next().value?.idempotencyKey).toBe('key-1');
      open().append(accepted(1));
      expect(open().runs({}).next().value?.executionId).toBe(uuid(30));
      expect([...open().runs()].at(-1)).toMatchObject({ executionId: uuid(1), status: 'COMPLETED' });
    });

    test('where an unresolved trigger is sent again', () => {
      const open = withTwentyAfter(triggered(1));
      open().append({ ...triggered(1), attempt: 'attempt-2', first: undefined });
      expect(open().runs({}).next().value?.executionId).toBe(uuid(30));
      expect([...open().runs()].at(-1)).toMatchObject({ executionId: null, idempotencyKey: 'key-1' });
    });
  });

  test('at different addresses may share an id', () => {
    const { open } = createStateFolder();
    const journal = open();
    journal.append(status(1, 'FAILED'));
    journal.append({ ...status(1, 'RUNNING'), baseUrl: 'http://localhost:1' });
    expect(open().find(uuid(1), { baseUrl })?.status).toBe('FAILED');
    expect([...open().runs()]).toHaveLength(2);
  });
});

describe('a status', () => {
  test('of a run that nobody has heard of is its first record', () => {
    const { open, folder } = createStateFolder();
    const run = { target: nightly, executionId: uuid(1) };
    for (const status of ['RUNNING', 'FAILED'])
      open().recordStatus(baseUrl, run, {
        status,
        isFinal: isFinalStatus(status),
        document: {},
      });
    const written = linesIn(folder).filter((line) => line !== '');
    expect(written.map((line) => JSON.parse(line).first)).toEqual([true, undefined]);
  });

  test('that is known already is not recorded again', () => {
    const { open } = createStateFolder();
    const run = { target: nightly, executionId: uuid(1) };
    for (const status of ['RUNNING', 'RUNNING', 'COMPLETED']) {
      open().recordStatus(baseUrl, run, {
        status,
        isFinal: isFinalStatus(status),
        document: {},
      });
      open().recordStatus(baseUrl, run, {
        status,
        isFinal: isFinalStatus(status),
        document: {},
      });
    }
    expect(open().find(uuid(1), { baseUrl })?.status).toBe('COMPLETED');
    expect([...open().runs()]).toHaveLength(1);
  });

  test('that says less than is known is not recorded', () => {
    const { open, folder } = createStateFolder();
    const run = { target: nightly, executionId: uuid(1) };
    open().recordStatus(baseUrl, run, {
      status: 'COMPLETED',
      isFinal: true,
      startedAt: 'S',
      completedAt: 'C',
      document: {},
    });
    const before = linesIn(folder);
    open().recordStatus(baseUrl, run, { status: 'COMPLETED', isFinal: true, completedAt: 'C', document: {} });
    expect(linesIn(folder)).toEqual(before);
    open().recordStatus(baseUrl, run, { status: 'COMPLETED', isFinal: true, creditsCharged: 2, document: {} });
    expect(open().find(uuid(1), { baseUrl })).toMatchObject({ startedAt: 'S', completedAt: 'C', creditsCharged: 2 });
  });
});

describe('a run that the service does not know', () => {
  const run = { target: nightly, executionId: uuid(1) };

  test('is recorded once, and stays the run of its key', () => {
    const { open, folder } = createStateFolder();
    for (const record of [triggered(1), { ...accepted(1), account }, triggered(2), accepted(2)]) open().append(record);
    expect(open().markNotFound(baseUrl, run, account)).toBe(true);
    const lines = linesIn(folder);
    expect(open().markNotFound(baseUrl, run, account)).toBe(true);
    expect(linesIn(folder)).toEqual(lines);
    expect([...open().runs()].map(({ status }) => status)).toEqual(['RUNNING', null]);
    expect(open().findKey(key(1))).toMatchObject({ state: 'accepted', executionId: uuid(1) });
    expect(
      open()
        .forgottenRuns({ baseUrl })
        .map(({ executionId }) => executionId),
    ).toEqual([uuid(1)]);
  });

  test.each<[string, NewRecord[], string]>([
    ['was started with another API key', [triggered(1), { ...accepted(1), account }], 'another'],
    ['was started elsewhere', [status(1, 'RUNNING')], account],
    ['has finished', [triggered(1), { ...accepted(1), account }, status(1, 'FAILED')], account],
    ['was never heard of', [], account],
  ])('is not recorded as not found if it %s', (_, records, asking) => {
    const { open, folder } = createStateFolder();
    for (const record of [...records, status(9, 'RUNNING')]) open().append(record);
    const before = linesIn(folder);
    expect(open().markNotFound(baseUrl, run, asking)).toBe(false);
    expect(linesIn(folder)).toEqual(before);
  });

  test('is running if the service knows it again', () => {
    const { open } = createStateFolder();
    const journal = open();
    for (const record of [triggered(1), { ...accepted(1), account }]) journal.append(record);
    journal.markNotFound(baseUrl, run, account);
    journal.recordStatus(baseUrl, run, { status: 'RUNNING', isFinal: false, document: {} });
    expect(open().find(uuid(1), { baseUrl })?.status).toBe('RUNNING');
    expect(open().forgottenRuns({ baseUrl })).toEqual([]);
  });
});

describe('an unresolved trigger', () => {
  test('holds what is needed to send it again', () => {
    const { open, clock } = createStateFolder();
    open().append({ ...triggered(1), body: '{"message":"hi"}', userProvided: true });
    open().append({ type: 'in_doubt', ...key(1), reason: 'the connection was reset' });
    clock.nowMs += 5000;
    expect(open().unresolvedTriggers({ baseUrl })).toEqual([
      {
        account,
        target: nightly,
        idempotencyKey: 'key-1',
        body: '{"message":"hi"}',
        userProvided: true,
        at: '2026-11-21T03:00:00.000Z',
        ageMs: 5000,
        senders: [],
        reason: 'the connection was reset',
      },
    ]);
  });

  test.each([
    ['an acceptance', [triggered(1), accepted(1)], 0],
    ['a refusal', [triggered(1), refused(1)], 0],
    ['a refusal, until the key is sent again', [triggered(1), refused(1), triggered(1)], 1],
    ['an acceptance, for good', [triggered(1), accepted(1), triggered(1)], 0],
    ['the outcome of another automation with the same key: no', [triggered(1), accepted(1, weekly)], 1],
  ])('is closed by %s', (_, records, expected) => {
    const { open } = createStateFolder();
    for (const record of records) open().append(record);
    expect(open().unresolvedTriggers({ baseUrl })).toHaveLength(expected);
  });

  test('is not closed by the refusal of another process that sent the same key at the same time', () => {
    const { open } = createStateFolder();
    const [one, other] = [open(), open()];
    one.append({ ...triggered(1), attempt: 'one' });
    other.append({ ...triggered(1), attempt: 'other' });
    one.append({ type: 'in_doubt', ...key(1), reason: 'reset' });
    other.append({ ...refused(1), attempt: 'other' });
    expect(open().unresolvedTriggers({ baseUrl })).toMatchObject([{ idempotencyKey: 'key-1', reason: 'reset' }]);
    expect(open().findKey(key(1))?.state).toBe('open');
    expect([...open().runs()]).toMatchObject([{ executionId: null, idempotencyKey: 'key-1' }]);
    one.append({ ...refused(1), attempt: 'one' });
    expect(open().unresolvedTriggers({ baseUrl })).toEqual([]);
    expect([...open().runs()]).toEqual([]);
  });

  test('is found with its age, also for one target', () => {
    const { open, folder, file, clock } = createStateFolder();
    const lines = Array.from({ length: 300 }, (_, n) =>
      lineOf(triggered(n, n % 2 ? weekly : nightly), new Date(clock.nowMs - (299 - n) * 1000).toISOString()),
    );
    mkdirSync(folder);
    writeFileSync(file, lines.join(''));
    clock.nowMs += 1000;
    const found = open().unresolvedTriggers({ baseUrl, target: weekly });
    expect(found.slice(0, 3).map(({ ageMs }) => ageMs)).toEqual([1000, 3000, 5000]);
    expect(open().unresolvedTriggers({ baseUrl })).toHaveLength(300);
  });

  test('that is sent again keeps its age and its place', () => {
    const { open, clock } = createStateFolder();
    const journal = open();
    journal.append(triggered(1));
    journal.append(triggered(2));
    clock.nowMs += 60_000;
    const other = open();
    other.unresolvedTriggers({ baseUrl });
    other.append(triggered(1));
    expect(
      open()
        .unresolvedTriggers({ baseUrl })
        .map(({ idempotencyKey, ageMs }) => [idempotencyKey, ageMs]),
    ).toEqual([
      ['key-2', 60_000],
      ['key-1', 60_000],
    ]);
    expect([...open().runs()].map(({ idempotencyKey }) => idempotencyKey)).toEqual(['key-2', 'key-1']);
    other.append(accepted(1));
    expect(ids(open().runs())).toEqual([null, uuid(1)]);
  });

  test('that is sent again after a refusal begins anew', () => {
    const { open, clock } = createStateFolder();
    for (const record of [triggered(1), triggered(2), refused(1)]) open().append(record);
    clock.nowMs += 1000;
    open().append(triggered(1));
    const expected = [
      { idempotencyKey: 'key-1', at: '2026-11-21T03:00:01.000Z' },
      { idempotencyKey: 'key-2', at: '2026-11-21T03:00:00.000Z' },
    ];
    expect(open().unresolvedTriggers({ baseUrl })).toMatchObject(expected);
    expect([...open().runs()]).toMatchObject(expected);
  });

  test('is as old as its oldest attempt without an outcome', () => {
    const { open, clock } = createStateFolder();
    open().append(triggered(1));
    clock.nowMs += 1000;
    open().append({ ...triggered(1), attempt: 'attempt-2', first: undefined });
    open().append(refused(1));
    expect([...open().runs()]).toMatchObject([{ at: '2026-11-21T03:00:01.000Z' }]);
    expect(open().unresolvedTriggers({ baseUrl })).toMatchObject([{ at: '2026-11-21T03:00:01.000Z' }]);
  });

  test('of another address is not shown', () => {
    const { open } = createStateFolder();
    open().append(triggered(1));
    expect(open().unresolvedTriggers({ baseUrl: 'http://localhost:1' })).toEqual([]);
  });
});

describe('a key', () => {
  test.each([
    ['is unknown before it is sent', [], undefined],
    ['is open once it is sent', [triggered(1)], 'open'],
    ['is accepted', [triggered(1), accepted(1)], 'accepted'],
    ['stays accepted', [triggered(1), accepted(1), triggered(1), refused(1)], 'accepted'],
    ['is unknown once it is refused', [triggered(1), refused(1)], undefined],
    [
      "stays accepted when it has turned out to be another target's",
      [triggered(1), accepted(1), { type: 'reused_key', ...key(1) } as const],
      'accepted',
    ],
    ["is unknown once it is another target's", [triggered(1), { type: 'reused_key', ...key(1) } as const], undefined],
    ['is unknown for another automation', [triggered(1, weekly), accepted(1, weekly)], undefined],
    ['is open under whatever API key', [{ ...triggered(1), account: '0' }], 'open'],
    [
      'is accepted under whatever API key',
      [
        { ...triggered(1), account: '0' },
        { ...accepted(1), account: '0' },
      ],
      'accepted',
    ],
    ['is unknown at another address', [{ ...triggered(1), baseUrl: 'http://localhost:1' }], undefined],
  ])('%s', (_, records, expected) => {
    const { open } = createStateFolder();
    for (const record of records) open().append(record);
    expect(open().findKey(key(1))?.state).toBe(expected);
  });
});

test('durations are those of the last completed runs of the target', () => {
  const { open } = createStateFolder();
  const journal = open();
  const ended = (n: number, seconds: number, final = 'COMPLETED', target: Target = nightly) =>
    journal.append({
      ...status(n, final, target),
      startedAt: '2026-11-21T03:00:00Z',
      completedAt: new Date(Date.parse('2026-11-21T03:00:00Z') + seconds * 1000).toISOString(),
    });
  ended(1, 10);
  ended(2, 20);
  ended(3, 30, 'FAILED');
  ended(4, 40, 'COMPLETED', weekly);
  ended(5, -50);
  journal.append(status(6, 'COMPLETED'));
  ended(7, 70);
  journal.append({ type: 'not_found', baseUrl, target: nightly, executionId: uuid(8) });
  journal.append(triggered(9));
  expect(open().pastDurationsMs({ baseUrl, target: nightly })).toEqual([70_000, 20_000, 10_000]);
});

test('runs of more than 90 days ago say nothing of the next one, nor those that ended before they began', () => {
  const { open, clock } = createStateFolder();
  const times = { startedAt: '2026-11-21T03:00:00Z', completedAt: '2026-11-21T03:00:01Z' };
  open().append({ ...status(1, 'COMPLETED'), ...times });
  clock.nowMs += 1;
  open().append({ ...status(2, 'COMPLETED'), ...times });
  clock.nowMs += 90 * 24 * 3_600_000;
  expect(open().pastDurationsMs({ baseUrl, target: nightly })).toEqual([1000]);
});

test('a run that took no time says nothing of the next one', () => {
  const { open } = createStateFolder();
  const at = '2026-11-21T03:00:00Z';
  open().append({ ...status(1, 'COMPLETED'), startedAt: at, completedAt: at });
  expect(open().pastDurationsMs({ baseUrl, target: nightly })).toEqual([]);
});

test.each([[undefined], [true]])(
  'runs come newest first, also where an older one was only seen (hasRun: %s)',
  (hasRun) => {
    const { open, clock } = createStateFolder();
    const records: NewRecord[] = [
      status(1, 'COMPLETED'),
      triggered(2),
      accepted(2),
      status(3, 'COMPLETED'),
      triggered(4),
      accepted(4),
    ];
    for (const record of records) {
      open().append({ ...record, first: true } as NewRecord);
      clock.nowMs += 1_000;
    }
    const ids = [...open().runs({ baseUrl, hasRun })].map(({ executionId }) => executionId);
    expect(ids).toEqual([4, 3, 2, 1].map(uuid));
  },
);

test('a record is not of a target because its idempotency key looks like that', () => {
  const { open } = createStateFolder();
  open().append({ ...triggered(1, weekly), idempotencyKey: pathOf(nightly) });
  expect([...open().runs({ target: nightly })]).toEqual([]);
  expect([...open().runs({ automations: [{ automationName: 'nightly' }] })]).toEqual([]);
});

test('a process that asks for many runs is answered as one that asks for few', () => {
  const { open } = createStateFolder();
  for (let number = 1; number <= 40; number++) open().append(status(number, number % 2 ? 'FAILED' : 'RUNNING'));
  const journal = open();
  for (let number = 1; number <= 40; number++) {
    expect(journal.find(uuid(number), { baseUrl })?.status).toBe(number % 2 ? 'FAILED' : 'RUNNING');
  }
  expect(journal.find(uuid(99), { baseUrl })).toBeUndefined();
  expect(journal.find(uuid(1), { baseUrl: 'https://elsewhere.example' })).toBeUndefined();
});

test('a process that asks for many runs can learn what others have written since', () => {
  const { open } = createStateFolder();
  const journal = open();
  for (let number = 1; number <= 20; number++) expect(journal.find(uuid(number), { baseUrl })).toBeUndefined();
  open().append(status(1, 'RUNNING'));
  expect(journal.find(uuid(1), { baseUrl, fresh: true })?.status).toBe('RUNNING');
});
