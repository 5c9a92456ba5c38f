import { mkdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRecorder } from '../../src/journal/recorder.ts';
import { type NewRecord, pathOf } from '../../src/journal/records.ts';
import type { FaultKind } from '../../src/run/fault.ts';
import { fault } from '../helpers/scripted-service.ts';
import { accepted, account, baseUrl, idOf, key, nightly, refused, status, triggered, uuid, weekly } from './records.ts';
import { createStateFolder, linesIn } from './state-folder.ts';

const ours = { ...key(1), account, body: '{}', userProvided: false, wasSentBefore: false };

describe('a trigger in doubt', () => {
  const process = 'host 1 1';
  const lost = fault('lost').fault;

  test('is sent by its process until the process gives up', () => {
    const { open, clock } = createStateFolder();
    const record = createRecorder(open(), { ...ours, process });
    const at = new Date(clock.nowMs).toISOString();
    record.triggered();
    clock.nowMs += 30_000;
    record.inDoubt(lost, { isLast: false });
    expect(open().unresolved({ baseUrl })).toMatchObject([{ at, senders: [{ process, at }] }]);
    record.inDoubt(lost, { isLast: true });
    expect(open().unresolved({ baseUrl })).toMatchObject([{ at, senders: [] }]);
  });

  test.each([
    ['whose clock goes forward', 1000],
    ['whose clock is set back each time', -60_000],
  ])(
    'is superseded by a later trigger of its automation that has a run, and by no other: on a machine %s',
    (_, setMs) => {
      const { open, clock } = createStateFolder();
      const next = (record: NewRecord) => {
        clock.nowMs += setMs;
        open().append(record);
      };
      const supersedes = () => open().hasLaterRun(key(2));
      next(triggered(1));
      const at = new Date(clock.nowMs + setMs).toISOString();
      next(triggered(2));
      next(accepted(1));
      next(status(7, 'RUNNING'));
      next(triggered(3, weekly));
      next(accepted(3, weekly));
      next(triggered(4));
      next(refused(4));
      next(triggered(6));
      next({ ...accepted(6), how: 'replayed' });
      expect(supersedes()).toBe(false);
      next(triggered(5));
      expect(supersedes()).toBe(false);
      next({ ...accepted(5), how: 'started' });
      expect(supersedes()).toBe(true);
      expect(open().hasLaterRun(key(5))).toBe(false);
      next({ type: 'superseded', ...key(2) });
      expect(open().unresolved({ baseUrl })).toEqual([]);
      // Should its idempotency key be given again, nobody knows its outcome.
      expect(open().findKey(key(2))).toMatchObject({ kind: 'unresolved', at, account });
      next({ ...triggered(2), attempt: 'attempt-2', account: 'another' });
      next({ ...refused(2), attempt: 'attempt-2' });
      expect(open().findKey(key(2))).toMatchObject({ kind: 'unresolved', at, account });
    },
  );
});

describe('a run that was accepted', () => {
  const execution = { executionId: uuid(1), status: 'RUNNING', isFinal: false, document: {} };

  test.each([
    ['with a key that the user gave', { userProvided: true }, false],
    ['after a response was lost', {}, true],
    ['after an earlier process was left in doubt', { wasSentBefore: true }, false],
  ])('stays finished if another process saw it finish before the response came: %s', (_, trigger, isLost) => {
    const { open } = createStateFolder();
    const journal = open();
    expect(journal.find(uuid(1), { baseUrl })).toBeUndefined();
    const record = createRecorder(journal, { ...ours, ...trigger });
    record.triggered();
    if (isLost) record.inDoubt(fault('lost').fault, { isLast: false });
    open().recordStatus(
      baseUrl,
      { target: nightly, executionId: uuid(1) },
      { status: 'COMPLETED', isFinal: true, document: {} },
    );
    record.accepted(execution, 'generated_key');
    expect(open().find(uuid(1), { baseUrl })).toMatchObject({ status: 'COMPLETED', idempotencyKey: 'key-1' });
  });

  test("is listed once and in its place even if its trigger couldn't be written before", () => {
    const { open, folder, file } = createStateFolder();
    const seen = (number: number) => open().append({ ...status(number, 'RUNNING'), first: true });
    mkdirSync(file, { recursive: true });
    const record = createRecorder(open(), ours);
    record.triggered();
    rmSync(folder, { recursive: true });
    for (let number = 2; number <= 20; number++) seen(number);
    record.accepted(execution, 'generated_key');
    seen(21);
    const older = Array.from({ length: 19 }, (_, index) => uuid(20 - index));
    expect([...open().entries()].map(idOf)).toEqual([uuid(21), uuid(1), ...older]);
  });
});

test('a trigger that met a conflict keeps it, and the run that it named, even if another response is lost', () => {
  const { open } = createStateFolder();
  const record = createRecorder(open(), ours);
  record.triggered();
  record.inDoubt(fault('lost').fault, { isLast: false });
  expect(open().unresolved({ baseUrl })[0]?.conflict).toBeUndefined();
  record.inDoubt(fault('already_active', { executionId: uuid(1) }).fault, { isLast: false });
  record.inDoubt(fault('lost').fault, { isLast: true });
  expect(open().unresolved({ baseUrl })).toMatchObject([{ conflict: { activeExecutionId: uuid(1) } }]);
});

describe('an attempt', () => {
  const recordsIn = (folder: string) =>
    linesIn(folder)
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  // Everything that a record of this type says about a run.
  const reported = { executionId: uuid(1), status: 'SKIPPED', startedAt: 'S', completedAt: 'C' };
  const execution = { ...reported, isFinal: true, document: {} };

  test.each<[string, object, NewRecord[], true | undefined]>([
    ['with a key of our own', {}, [status(1, 'RUNNING')], true],
    ['with a key of our own, after a lost response', { isLost: true }, [status(1, 'RUNNING')], undefined],
    ['with a key that the user gave', { userProvided: true }, [], true],
    ['with such a key, and its run is recorded', { userProvided: true }, [status(1, 'RUNNING')], undefined],
  ])(
    'is written with its run, and whether the run is new: %s',
    (_, { isLost, ...trigger }: { isLost?: true }, known, first) => {
      const { open, folder } = createStateFolder();
      for (const record of known) open().append(record);
      const record = createRecorder(open(), { ...ours, ...trigger });
      record.triggered();
      if (isLost) record.inDoubt(fault('lost').fault, { isLast: false });
      record.accepted(execution, 'generated_key');
      const [triggered, ...others] = recordsIn(folder).slice(known.length);
      const run = { ...reported, how: 'started' };
      expect(triggered).toMatchObject({ type: 'triggered', idempotencyKey: 'key-1', account, body: '{}', first: true });
      expect(others.at(-1)).toMatchObject({ type: 'accepted', idempotencyKey: 'key-1', account, ...run });
      expect(others.at(-1).first).toBe(first);
    },
  );

  test.each<[FaultKind, string[], string]>([
    ['no_credits', ['triggered', 'refused'], 'no_credits'],
    ['key_of_other_automation', ['triggered', 'reused_key', 'refused'], 'rejected'],
  ])('is refused (%s) and written as %j', (kind, types, name) => {
    const { open, folder } = createStateFolder();
    const record = createRecorder(open(), ours);
    record.triggered();
    record.refused(fault(kind).fault);
    const written = recordsIn(folder);
    expect(written.map(({ type }) => type)).toEqual(types);
    expect(written.at(-1)).toMatchObject({ ...key(1), target: pathOf(nightly), name, attempt: written[0].attempt });
  });

  test.each<[string, object, NewRecord[], boolean]>([
    ['nobody else has its key', { userProvided: true }, [], false],
    ['another process recorded the key before', { userProvided: true }, [triggered(1)], true],
    ['another process has its run already', { userProvided: true }, [triggered(1), accepted(1)], true],
    ['an earlier attempt was refused', { userProvided: true }, [triggered(1), refused(1)], false],
    ['it has a key of our own', {}, [triggered(1)], false],
    ['it is to resolve that attempt', { wasSentBefore: true, earlierAttempts: ['attempt-1'] }, [triggered(1)], false],
    [
      'it is to resolve an attempt, and another process is at it',
      { wasSentBefore: true, earlierAttempts: ['attempt-1'] },
      [triggered(1), { ...triggered(1), attempt: 'attempt-2' }],
      true,
    ],
  ])('knows whether its key was sent before: if %s', (_, trigger, before, expected) => {
    const { open } = createStateFolder();
    for (const record of before) open().append(record);
    const record = createRecorder(open(), { ...ours, ...trigger });
    record.triggered();
    open().append({ ...triggered(1), attempt: 'attempt-9' });
    expect(record.isTaken()).toBe(expected);
  });

  test('knows the state of its key: nothing, another attempt in doubt, or a run', () => {
    const { open } = createStateFolder();
    const { readKey } = createRecorder(open(), ours);
    expect(readKey()).toBeUndefined();
    open().append(triggered(1));
    expect(readKey()).toMatchObject({ kind: 'unresolved', ...key(1) });
    open().append(accepted(1));
    expect(readKey()).toEqual({ kind: 'run', executionId: uuid(1) });
  });
});
