import { expect, test } from 'vitest';
import type { NewRecord } from '../../src/journal/record.ts';
import { createTriggerRecord } from '../../src/journal/trigger-record.ts';
import { accepted, agent, baseUrl, intent, nightly, request, seen, uuid } from './records.ts';
import { createStage } from './stage.ts';

const ours = { ...request(1), body: '{}', given: false };

test.each<[string, NewRecord[], boolean]>([
  ['that nobody here knows is ours', [], false],
  ['that was accepted with our key is ours', [intent(1), accepted(1)], false],
  ['that was only seen here is of another', [seen(1, 'RUNNING')], true],
  ['that was accepted with another key is of another', [{ ...accepted(1), idempotencyKey: 'key-2' }], true],
  ['may be of another trigger of the automation whose outcome is unknown', [intent(2)], true],
  ['cannot be of a trigger of something else', [intent(2, agent)], false],
])('a run that a conflict names and %s', (_, records, expected) => {
  const { open } = createStage();
  for (const record of records) open().append(record);
  expect(createTriggerRecord(open(), ours).mayBeOfAnother(uuid(1))).toBe(expected);
});

test('a run that another process saw is of another, also for a process that has asked for many runs', () => {
  const { open } = createStage();
  const journal = open();
  for (let number = 1; number <= 20; number++) journal.find(uuid(number), { baseUrl });
  open().sawState(baseUrl, { target: nightly, executionId: uuid(1) }, { status: 'RUNNING', document: {} });
  expect(createTriggerRecord(journal, ours).mayBeOfAnother(uuid(1))).toBe(true);
});
