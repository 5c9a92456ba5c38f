import { expect, test } from 'vitest';
import type { RateLimiter } from '../../src/runs/rate-limiter.ts';
import type { Service } from '../../src/runs/service.ts';
import { fault, resultOf, running, scriptedService, state } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import { hour, minute, second, watch } from './watch-one.ts';

interface Turn {
  isGranted: boolean;
  woke: boolean;
}

/** Grants these turns, and every later one. */
function limiterOf(...turns: Turn[]) {
  let taken = 0;
  const limiter: RateLimiter = {
    async turn({ onWake }) {
      const { isGranted, woke } = turns[taken++] ?? { isGranted: true, woke: false };
      if (woke) onWake?.();
      return isGranted ? () => {} : undefined;
    },
    pausePolls() {},
  };
  return { limiter, taken: () => taken };
}

test('the polls of a watch take turns as polls, and its result as a result', async () => {
  const lanes: string[] = [];
  const limiter: RateLimiter = {
    ...limiterOf().limiter,
    async turn({ lane }) {
      lanes.push(lane);
      return () => {};
    },
  };
  const service = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('COMPLETED')] });
  await watch(service, {}, { limiter });
  expect(lanes).toEqual(['poll', 'poll', 'result']);
});

test('a watch does not give up where the machine slept while a poll waited for its turn', async () => {
  const service = () =>
    scriptedService({ status: [running(), fault('lost'), state('COMPLETED')], result: [resultOf('COMPLETED')] });
  const granted = { isGranted: true, woke: false };
  for (const [woke, kind] of [
    [true, 'finished'],
    [false, 'gave_up'],
  ] as const) {
    const { limiter } = limiterOf(granted, { isGranted: true, woke });
    expect((await watch(service(), { giveUpAfterMs: 0 }, { limiter })).watched.kind).toBe(kind);
  }
});

test('a watch sends no poll whose turn did not come in time, and takes another turn where the machine slept until then', async () => {
  const clock = createVirtualClock();
  const service = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('COMPLETED')] });
  const { limiter, taken } = limiterOf({ isGranted: true, woke: false }, { isGranted: false, woke: false });
  void clock.sleep(20 * second).then(() => clock.suspend(hour));
  const { watched, elapsedMs } = await watch(service, { timeoutMs: minute }, { limiter, clock });
  expect([watched.kind, elapsedMs, taken(), service.calls.status]).toEqual(['finished', minute, 4, 2]);
});

test('a watch gives each request the time that is left, 30 s at most', async () => {
  const limitsMs: unknown[] = [];
  const scripted = scriptedService({
    status: [running(), running(), state('COMPLETED')],
    result: [fault('lost'), resultOf('COMPLETED')],
  });
  const service: Service = {
    ...scripted,
    status(asked, by, sending) {
      limitsMs.push(sending?.timeoutMs);
      return scripted.status(asked, by, sending);
    },
    result(asked, by, sending) {
      limitsMs.push(sending?.timeoutMs);
      return scripted.result(asked, by, sending);
    },
  };
  await watch(service, { timeoutMs: 45 * second });
  // A result may still be read in the five seconds that unfinished runs are polled in once more.
  expect(limitsMs).toEqual([30 * second, 30 * second, 25 * second, 30 * second, 29.75 * second]);
});
