import { expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import type { RequestOptions, Service } from '../../src/run/service.ts';
import { fetchOptional, fetchResource } from '../../src/watch/fetch-run.ts';
import { readResultsOfFailed } from '../../src/watch/read-errors.ts';
import { baseUrl, createConnection } from '../helpers/connection.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { fault, resultOf, run, scriptedService, target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A service that hangs until each request times out; the first one may fail before. */
function hangingService(firstMs = Number.POSITIVE_INFINITY) {
  const context = createMemory();
  const limitsMs: (number | undefined)[] = [];
  const hang = async (_: unknown, signal: AbortSignal, { timeoutMs }: RequestOptions = {}) => {
    limitsMs.push(timeoutMs);
    await context.clock.sleep(Math.min(timeoutMs ?? 30_000, limitsMs.length > 1 ? Infinity : firstMs), signal);
    return fault('lost');
  };
  const service: Service = { ...scriptedService({}), status: hang, result: hang };
  return { connection: createConnection(service, { context }), limitsMs, clock: context.clock };
}

test.each(['status', 'result'] as const)('no request for a %s outlasts --give-up-after', async (operation) => {
  const { connection, limitsMs, clock } = hangingService();
  const answer = await fetchResource(operation, { run }, { ...connection, giveUpAfterMs: 2_000 });
  expect(answer).toMatchObject({ kind: 'fault', fault: { kind: 'lost' } });
  expect([limitsMs, clock.elapsedMs()]).toEqual([[2_000], 2_000]);
});

test('no attempt after a failure outlasts --give-up-after', async () => {
  const { connection, limitsMs, clock } = hangingService(1_500);
  await fetchResource('status', { run }, { ...connection, giveUpAfterMs: 4_000 });
  expect([limitsMs, clock.elapsedMs()]).toEqual([[4_000, 2_250], 4_000]);
});

test('an optional request takes 3 s at most', async () => {
  const { connection, limitsMs, clock } = hangingService();
  expect(await fetchOptional('status', run, connection)).toBeUndefined();
  expect([limitsMs, clock.elapsedMs()]).toEqual([[3_000], 3_000]);
});

/** Runs that were seen to finish, on a machine with a journal. */
function finishedRuns(statuses: readonly string[], service: Service) {
  const context = createMemory();
  const onFailure = (what: string) => expect.unreachable(what);
  const journal = openJournal({ folder: temporaryFolder(), nowMs: context.clock.nowMs, onFailure });
  const finished = statuses.map((status, n) => {
    const executionId = `run-${n}`;
    const seen = { run: { target, executionId }, snapshot: { executionId, status, isFinal: true, document: {} } };
    journal.recordStatus(baseUrl, seen.run, seen.snapshot);
    return seen;
  });
  const errorOf = (n: number) => journal.find(`run-${n}`, { baseUrl })?.error;
  return { finished, errorOf, ports: createConnection(service, { context, journal }) };
}

test.each([
  ["can't be read", fault('unavailable')],
  ['lags behind its status', resultOf('RUNNING')],
])('the error of each run that did not complete is read until it is recorded: a result %s', async (_, first) => {
  const failed = resultOf('FAILED', { error: { type: 'step_failed', message: 'no\ndetails' } });
  const service = scriptedService({ result: [first, failed, resultOf('CANCELLED')] });
  const { finished, errorOf, ports } = finishedRuns(['FAILED', 'COMPLETED', 'TIMED_OUT', 'CANCELLED'], service);
  await readResultsOfFailed(finished, ports);
  expect([0, 1, 2, 3].map(errorOf)).toEqual([undefined, undefined, 'step_failed: no', '']);
  await readResultsOfFailed(finished, ports);
  expect([service.calls.result, errorOf(0)]).toEqual([4, '']);
  await readResultsOfFailed(finished, ports);
  expect(service.calls.result).toBe(4);
});

test('one command reads ten errors, and the next command reads the others', async () => {
  const service = scriptedService({ result: [resultOf('FAILED')] });
  const { finished, ports } = finishedRuns(Array(14).fill('FAILED'), service);
  const read: number[] = [];
  for (const _ of [1, 2, 3]) read.push((await readResultsOfFailed(finished, ports)).size);
  expect(read).toEqual([10, 4, 0]);
});
