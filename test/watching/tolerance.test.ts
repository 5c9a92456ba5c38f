import { expect, test } from 'vitest';
import { planOf } from '../../src/actions/plan.ts';
import { createTolerance } from '../../src/watching/tolerance.ts';
import { createWatchGroup } from '../../src/watching/watch-group.ts';
import { fault } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

/** Every backoff is the longest possible: 0.5, 1, 2 s. */
function createTolerated(timeoutMs = Number.POSITIVE_INFINITY) {
  const clock = createVirtualClock();
  const group = createWatchGroup(timeoutMs, clock);
  return { clock, group, tolerance: createTolerance({ clock, random: () => 1, group, giveUpAfterMs: 600_000 }) };
}

const lost = fault('lost').fault;

test('failed requests and the waits between them are silence of the service, what it asked for with Retry-After is none', async () => {
  const { tolerance, clock } = createTolerated();
  const once = {
    kind: 'retry',
    leastMs: 0,
    fault: lost,
    failures: 1,
    silentMs: 30_000,
    triedForMs: 570_000,
    retryInMs: 500,
  };
  expect(tolerance.failed(lost, 30_000)).toEqual(once);
  const { fault: busy } = fault('throttled', { retryAfterMs: 7000 });
  const asked = {
    kind: 'retry',
    leastMs: 7000,
    fault: busy,
    failures: 2,
    silentMs: 30_600,
    triedForMs: 569_400,
    retryInMs: 7000,
  };
  expect(tolerance.failed(busy, 100)).toEqual(asked);
  expect(tolerance.failed(lost, 0)).toMatchObject({ failures: 3, silentMs: 30_600 });
  await clock.sleep(60_000);
  // Since the first request, which took 30 s, whatever was silence.
  expect(tolerance.succeeded()).toBe(90_000);
  expect(tolerance.succeeded()).toBe(undefined);
  expect(tolerance.failed(lost, 0)).toMatchObject({ failures: 1, silentMs: 0 });
});

test("a request that can't be sent is given up at once, also after valid answers", () => {
  const { tolerance } = createTolerated();
  tolerance.succeeded();
  expect(tolerance.failed(fault('unsendable').fault, 0)).toEqual({ kind: 'refused' });
});

test('a wait beyond the timeout is no reason to end early, and none is longer than ten minutes', () => {
  const { tolerance } = createTolerated(60_000);
  for (const [retryAfterMs, leastMs] of [
    [60_001, 60_001],
    [3_600_000, 600_000],
  ])
    expect(tolerance.failed(fault('throttled', { retryAfterMs }).fault, 0)).toMatchObject({ kind: 'retry', leastMs });
});

test.each([
  [undefined, 11_700_000],
  [0, Number.POSITIVE_INFINITY],
  [5000, 5000],
])('of --timeout %d ms, %d ms are meant', (timeoutMs, expected) => {
  expect(planOf({ timeoutMs }).timeoutMs).toBe(expected);
});
