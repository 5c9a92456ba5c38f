import { expect, test } from 'vitest';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { type RetryOptions, retry } from '../../src/service/retry.ts';
import { fault, running } from '../helpers/scripted-service.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

const { signal } = new AbortController();
const lost = fault('lost');

/** Options under which each backoff is the longest possible: 0.5, 1, 2 s. */
const optionsOf = (clock: VirtualClock): RetryOptions => ({
  priority: 'poll',
  clock,
  signal,
  random: () => 1,
  limiter: createRateLimiter(1000, clock),
  giveUpAfterMs: 10_000,
});

test('a request that is interrupted after a failure ends with that failure', async () => {
  const answers = [lost, fault('interrupted_in_flight')];
  const result = await retry(async () => answers.shift() ?? lost, optionsOf(createVirtualClock()));
  expect(result).toMatchObject({ kind: 'fault', isInterrupted: true, fault: { kind: 'interrupted_in_flight' } });
});

test('each retry is reported with its fault, its delay, how many attempts failed and how long the service has been silent', async () => {
  const clock = createVirtualClock();
  const reports: unknown[] = [];
  await retry(async () => lost, {
    ...optionsOf(clock),
    giveUpAfterMs: 3_000,
    onRetry: ({ fault, retryInMs, failures, silentMs }) => reports.push([fault.kind, retryInMs, failures, silentMs]),
  });
  expect(reports).toEqual([
    ['lost', 500, 1, 0],
    ['lost', 1000, 2, 500],
    ['lost', 1500, 3, 1500],
  ]);
});

test('no retry begins in the last second of the command, however long it waited for a permit', async () => {
  for (const [timeoutMs, attempts] of [
    [3_099, 1],
    [3_101, 2],
  ] as const) {
    const clock = createVirtualClock();
    let asked = 0;
    const options = { ...optionsOf(clock), limiter: createRateLimiter(0.5, clock) };
    const attempt = async () => (asked++ === 0 ? lost : running());
    const { kind } = await retry(attempt, { ...options, commandLeftMs: () => timeoutMs - clock.elapsedMs() });
    expect([kind, asked]).toEqual([attempts === 1 ? 'fault' : 'ok', attempts]);
  }
});
