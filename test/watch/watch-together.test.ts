import { describe, expect, test } from 'vitest';
import type { Answer, RunSnapshot, Service } from '../../src/run/service.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { type WatchOutcome, watchRun } from '../../src/watch/watch-run.ts';
import { createWatchSession } from '../../src/watch/watch-session.ts';
import { createConnection } from '../helpers/connection.ts';
import { minute, second } from '../helpers/durations.ts';
import { fault, resultOf, state, target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

interface Together {
  runs: number;
  perSecond?: number;
  timeoutMs?: number;
  /** What the service answers to a poll of this run (from 0), RUNNING unless given; `limitMs` is the poll's own limit. */
  answer?(index: number, atMs: number, limitMs: number): Promise<Answer<RunSnapshot>> | Answer<RunSnapshot> | undefined;
  /** How long ago this run was started. */
  ageMs?(index: number): number;
}

const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** Watches runs side by side as one command does. */
async function watchTogether({ runs, perSecond = 10, timeoutMs = 10 * second, ...options }: Together) {
  const clock = createVirtualClock();
  const polls: { index: number; atMs: number }[] = [];
  const service: Service = {
    trigger: () => expect.unreachable(),
    async status({ executionId }, _, { timeoutMs: limitMs = 0 } = {}) {
      const index = Number(executionId.slice(-12));
      const atMs = clock.elapsedMs();
      polls.push({ index, atMs });
      const startedAt = new Date(clock.nowMs() - atMs - (options.ageMs?.(index) ?? 0)).toISOString();
      const given = await options.answer?.(index, atMs, limitMs);
      return given ?? state('RUNNING', { executionId, startedAt });
    },
    async result() {
      polls.push({ index: -1, atMs: clock.elapsedMs() });
      return resultOf('COMPLETED');
    },
  };
  const connection = createConnection(service, {
    clock,
    limiter: createRateLimiter(perSecond, clock),
    session: createWatchSession(timeoutMs, clock),
    random: () => 0.5,
  });
  const watched = await Promise.all(
    Array.from({ length: runs }, (_, index) => watchRun({ run: { target, executionId: idOf(index) } }, connection)),
  );
  const clocked = (fromMs: number, toMs: number) => polls.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  return { watched, polls, clocked, endMs: clock.elapsedMs() };
}

const endOf = (watched: WatchOutcome) => (watched.kind === 'watch_ended' ? watched.end.kind : watched.kind);

describe('runs that are watched together', () => {
  test('send no more requests in any second than the rate, from the first to the last', async () => {
    const { polls, clocked } = await watchTogether({ runs: 30, perSecond: 5, timeoutMs: 20 * second });
    for (const { atMs } of polls) expect(clocked(atMs, atMs + second).length).toBeLessThanOrEqual(5);
  });

  test('are polled once more when the timeout has passed, for 5 s, and keep their last confirmed status after', async () => {
    const { watched, clocked, endMs } = await watchTogether({ runs: 200, perSecond: 4 });
    expect(endMs).toBe(15 * second);
    expect(clocked(10 * second, 16 * second).length).toBeGreaterThanOrEqual(19);
    expect(new Set(watched.map(endOf))).toEqual(new Set(['timed_out']));
    expect(watched[0]).toMatchObject({ lastConfirmed: { snapshot: { status: 'RUNNING' } } });
  });

  test('end as soon as each one has had its last poll', async () => {
    const { clocked, endMs } = await watchTogether({ runs: 3 });
    expect(endMs).toBeLessThan(10.5 * second);
    expect(clocked(10 * second, 11 * second)).toHaveLength(3);
  });

  test('all wait if the response to one of them is a 429 or a 503 that asks for it', async () => {
    for (const [kind, httpStatus] of [
      ['throttled', 429],
      ['unavailable', 503],
    ] as const) {
      const { clocked } = await watchTogether({
        runs: 10,
        timeoutMs: minute,
        answer: (index, atMs) =>
          index === 0 && atMs === 0 ? fault(kind, { httpStatus, retryAfterMs: 20 * second }) : undefined,
      });
      // The second poll may go as soon as the first.
      expect(clocked(0, 20 * second)).toHaveLength(2);
      expect(clocked(20 * second, 21 * second)).toHaveLength(10);
    }
  });

  test('do not wait for the Retry-After of another response', async () => {
    const { clocked } = await watchTogether({
      runs: 2,
      timeoutMs: minute,
      answer: (index) => (index === 0 ? fault('unavailable', { httpStatus: 502, retryAfterMs: minute }) : undefined),
    });
    expect(clocked(1, 20 * second).length).toBeGreaterThan(5);
  });

  test('go on after one was refused as soon as another had a valid response', async () => {
    const refused = fault('unauthorized', { httpStatus: 401 });
    const { watched } = await watchTogether({
      runs: 2,
      timeoutMs: minute,
      answer: (index, atMs) => (index === 1 && atMs < 20 * second ? refused : undefined),
    });
    expect(watched.map(endOf)).toEqual(['timed_out', 'timed_out']);
  });
});

describe('a service that hangs', () => {
  const silence = fault('lost');

  test('does not delay a watch beyond its timeout and the time for the last poll', async () => {
    const limitsMs: number[] = [];
    const clockless = { runs: 1, timeoutMs: 3 * second };
    const hang = async (_: number, __: number, limitMs: number) => {
      limitsMs.push(limitMs);
      return silence;
    };
    await watchTogether({ ...clockless, answer: hang });
    expect(limitsMs[0]).toBe(3 * second);
    expect(Math.max(...limitsMs)).toBeLessThanOrEqual(5 * second);
    expect(limitsMs.at(-1)).toBe(5 * second);
  });
});
