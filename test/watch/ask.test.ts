import { expect, test } from 'vitest';
import type { Sending, Service } from '../../src/run/service.ts';
import { ask, askBeside } from '../../src/watch/ask.ts';
import { createConnection } from '../helpers/connection.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { fault, run, scriptedService } from '../helpers/scripted-service.ts';

/** A service that hangs until each request times out; the first one may fail before. */
function hangingService(firstMs = Number.POSITIVE_INFINITY) {
  const context = createMemory();
  const limitsMs: (number | undefined)[] = [];
  const hang = async (_: unknown, signal: AbortSignal, { timeoutMs }: Sending = {}) => {
    limitsMs.push(timeoutMs);
    await context.clock.sleep(Math.min(timeoutMs ?? 30_000, limitsMs.length > 1 ? Infinity : firstMs), signal);
    return fault('lost');
  };
  const service: Service = { ...scriptedService({}), status: hang, result: hang };
  return { connection: createConnection(service, { context }), limitsMs, clock: context.clock };
}

test.each(['status', 'result'] as const)('no request for a %s outlasts --give-up-after', async (operation) => {
  const { connection, limitsMs, clock } = hangingService();
  const answer = await ask(operation, { run }, { ...connection, giveUpAfterMs: 2_000 });
  expect(answer).toMatchObject({ kind: 'fault', fault: { kind: 'lost' } });
  expect([limitsMs, clock.elapsedMs()]).toEqual([[2_000], 2_000]);
});

test('no attempt after a failure outlasts --give-up-after', async () => {
  const { connection, limitsMs, clock } = hangingService(1_500);
  await ask('status', { run }, { ...connection, giveUpAfterMs: 4_000 });
  expect([limitsMs, clock.elapsedMs()]).toEqual([[4_000, 2_250], 4_000]);
});

test('what only decorates an answer has 3 s', async () => {
  const { connection, limitsMs, clock } = hangingService();
  expect(await askBeside('status', run, connection)).toBeUndefined();
  expect([limitsMs, clock.elapsedMs()]).toEqual([[3_000], 3_000]);
});
