import { expect, test } from 'vitest';
import { refreshRuns } from '../../src/connection/refresh.ts';
import type { KnownRun, NotFoundRun } from '../../src/run/entry.ts';
import type { Service } from '../../src/run/service.ts';
import { baseUrl, createConnection } from '../helpers/connection.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { executionId, fault, running, scriptedService, target } from '../helpers/scripted-service.ts';

const recorded = { baseUrl, target, at: '' };
const forgotten: NotFoundRun = { ...recorded, kind: 'not_found', executionId: 'forgotten' };
const unfinished = (id: string): KnownRun => ({
  ...recorded,
  ...{ kind: 'run', executionId: id, status: 'OLD', isFinal: false, statusAt: '' },
});

test('runs are polled for 3 s in all, and the responses until then are used', async () => {
  const context = createMemory();
  const { clock } = context;
  const status: Service['status'] = async (asked, signal) => {
    if (asked.executionId === executionId) return running();
    await clock.sleep(30_000, signal);
    return fault('lost');
  };
  const service = { ...scriptedService({}), status };
  const runs = [unfinished('other-1'), unfinished(executionId), unfinished('other-2')];
  const { current, faults } = await refreshRuns(runs, 3_000, createConnection(service, { context }));
  expect([...current.values()]).toMatchObject([{ executionId, status: 'RUNNING' }]);
  expect([clock.elapsedMs(), faults.size]).toEqual([3_000, 2]);
});

test('each run has its own reason why it could not be polled', async () => {
  const service = scriptedService({ status: [fault('not_found'), fault('unauthorized'), fault('unavailable')] });
  const runs = [forgotten, unfinished('a'), unfinished('b')];
  const { faults } = await refreshRuns(runs, 3_000, createConnection(service));
  expect([...faults].map(([id, { kind }]) => [id, kind])).toEqual([
    ['forgotten', 'not_found'],
    ['a', 'unauthorized'],
    ['b', 'unavailable'],
  ]);
});
