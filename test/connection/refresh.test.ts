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

test('that a forgotten run is still not found is not the reason why another one could not be polled', async () => {
  const service = scriptedService({ status: [fault('not_found'), fault('unavailable')] });
  const refreshed = await refreshRuns([forgotten, unfinished], createConnection(service));
  expect(refreshed.fault).toMatchObject({ kind: 'unavailable' });
});
