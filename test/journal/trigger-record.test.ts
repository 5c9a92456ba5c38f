import { mkdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { NewRecord } from '../../src/journal/records.ts';
import { createTriggerRecord } from '../../src/journal/trigger-record.ts';
import { accepted, account, agent, baseUrl, key, nightly, status, triggered, uuid } from './records.ts';
import { createStateFolder } from './state-folder.ts';

const ours = { ...key(1), account, body: '{}', userProvided: false, isRepeat: false };

test.each<[string, NewRecord[], boolean]>([
  ['that nobody here knows is ours', [], false],
  ['that was accepted with our key is ours', [triggered(1), accepted(1)], false],
  ['that was only seen here is of another', [status(1, 'RUNNING')], true],
  ['that was accepted with another key is of another', [{ ...accepted(1), idempotencyKey: 'key-2' }], true],
  ['may be of another trigger of the automation whose outcome is unknown', [triggered(2)], true],
  ['cannot be of a trigger of something else', [triggered(2, agent)], false],
])('a run that a conflict names and %s', (_, records, expected) => {
  const { open } = createStateFolder();
  for (const record of records) open().append(record);
  expect(createTriggerRecord(open(), ours).mayBeOfAnother(uuid(1))).toBe(expected);
});

test('a run that another process has recorded is not ours, even for a process that read the journal before', () => {
  const { open } = createStateFolder();
  const journal = open();
  for (let number = 1; number <= 20; number++) journal.find(uuid(number), { baseUrl });
  open().recordStatus(baseUrl, { target: nightly, executionId: uuid(1) }, { status: 'RUNNING', document: {} });
  expect(createTriggerRecord(journal, ours).mayBeOfAnother(uuid(1))).toBe(true);
});

describe('a run that was accepted', () => {
  const execution = { executionId: uuid(1), status: 'RUNNING', document: {} };

  test('stays finished where another process saw it finish before the answer came', () => {
    const { open } = createStateFolder();
    const record = createTriggerRecord(open(), { ...ours, userProvided: true });
    record.intent();
    open().recordStatus(baseUrl, { target: nightly, executionId: uuid(1) }, { status: 'COMPLETED', document: {} });
    record.started(execution);
    expect(open().find(uuid(1), { baseUrl })).toMatchObject({ status: 'COMPLETED', idempotencyKey: 'key-1' });
  });

  test('is listed once although its trigger could not be written before', () => {
    const { open, folder, file } = createStateFolder();
    mkdirSync(file, { recursive: true });
    const record = createTriggerRecord(open(), ours);
    record.intent();
    rmSync(folder, { recursive: true });
    record.started(execution);
    for (let number = 2; number <= 20; number++) open().append(status(number, 'RUNNING'));
    expect([...open().runs()].map(({ executionId }) => executionId)).toEqual(
      Array.from({ length: 20 }, (_, index) => uuid(20 - index)),
    );
  });
});
