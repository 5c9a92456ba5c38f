import { expect, test } from 'vitest';
import { refreshRuns } from '../../src/connection/refresh.ts';
import type { RunEntry } from '../../src/run/entry.ts';
import { baseUrl, createConnection } from '../helpers/connection.ts';
import { fault, scriptedService, target } from '../helpers/scripted-service.ts';

const recorded = { baseUrl, target, at: '2026-01-02T03:04:05Z' };
const forgotten: RunEntry = { ...recorded, kind: 'forgotten', executionId: 'a' };
const unfinished: RunEntry = {
  ...recorded,
  kind: 'run',
  executionId: 'b',
  status: 'RUNNING',
  isFinal: false,
  statusAt: recorded.at,
};

test('each run has the reason why it could not be polled, and not that of another', async () => {
  const service = scriptedService({ status: [fault('not_found'), fault('unavailable')] });
  const { faults } = await refreshRuns([forgotten, unfinished], createConnection(service));
  expect([...faults].map(([id, { kind }]) => [id, kind])).toEqual([
    ['a', 'not_found'],
    ['b', 'unavailable'],
  ]);
});
