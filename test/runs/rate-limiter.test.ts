import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/runs/rate-limiter.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

const { signal } = new AbortController();

/** When each of `requests` that are due at these times may be sent. */
async function sentMs(perSecond: number, dueMs: readonly number[]): Promise<number[]> {
  const clock = createVirtualClock();
  const limiter = createRateLimiter(perSecond, clock);
  return Promise.all(
    dueMs.map(async (ms) => {
      await clock.sleep(ms);
      await limiter.take(signal);
      return clock.elapsedMs();
    }),
  );
}

const atOnce = (count: number) => Array.from({ length: count }, () => 0);

const most = (perSecond: number) => Math.max(1, Math.floor(perSecond));

describe('a rate limiter', () => {
  test('of ten a second lets ten go at once, and ten more a second later', async () => {
    expect(await sentMs(10, atOnce(13))).toEqual([...atOnce(10), 1000, 1000, 1000]);
  });

  test('of two and a half a second lets two go', async () => {
    expect(await sentMs(2.5, atOnce(5))).toEqual([0, 0, 1000, 1000, 2000]);
  });

  test.each([
    [0.5, 3, 0, [2000, 4000]],
    [2, 7, 0, [1000, 1000, 2000, 2000, 3000]],
    [10, 2, 500, [500, 500]],
  ])(
    'of %d a second reports how long each of %d requests waits that it holds for %d ms',
    async (perSecond, count, holdMs, expected) => {
      const clock = createVirtualClock();
      const waits: number[] = [];
      const limiter = createRateLimiter(perSecond, clock, (waitMs) => waits.push(waitMs));
      await clock.sleep(100);
      limiter.hold(holdMs);
      const poll = holdMs > 0 ? { chance: () => 0, leftMs: () => 60_000 } : undefined;
      await Promise.all(atOnce(count).map(() => limiter.take(signal, poll)));
      expect(waits).toEqual(expected);
    },
  );

  test('of a request in two seconds lets the first go at once', async () => {
    expect(await sentMs(0.5, atOnce(3))).toEqual([0, 2000, 4000]);
  });

  test('never lets more go within any second than its rate, wastes no turn, and keeps the order', async () => {
    const rates = fc.constantFrom(0.5, 1, 2.5, 3, 10, 50);
    const times = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(rates, times, async (perSecond, unsorted) => {
        const dueMs = unsorted.sort((a, b) => a - b);
        const sent = await sentMs(perSecond, dueMs);
        expect(sent).toEqual(sent.toSorted((a, b) => a - b));
        const windowMs = Math.max(1000, 1000 / perSecond);
        for (const [index, ms] of sent.entries()) {
          const within = sent.filter((other) => other >= ms && other < ms + windowMs).length;
          expect(within).toBeLessThanOrEqual(most(perSecond));
          const freeMs = (sent[index - most(perSecond)] ?? Number.NEGATIVE_INFINITY) + windowMs;
          expect(ms).toBeCloseTo(Math.max(dueMs[index] ?? 0, freeMs), 3);
        }
      }),
      { numRuns: propertyRuns(30) },
    );
  });

  /** The order in which these go that are all due at once, each named, with its chance; `trigger` is no poll. */
  async function order(given: Record<string, number>, { perSecond = 1, leftMs = 60_000, holdMs = 0 } = {}) {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(perSecond, clock);
    if (holdMs > 0) limiter.hold(holdMs);
    const gone: string[] = [];
    await Promise.all(
      Object.entries(given).map(async ([name, chance]) => {
        const poll =
          name === 'trigger' ? undefined : { chance: () => chance, leftMs: () => leftMs - clock.elapsedMs() };
        const { isGranted } = await limiter.take(signal, poll);
        gone.push(`${isGranted ? name : `no ${name}`} ${clock.elapsedMs() / 1000}`);
      }),
    );
    return gone;
  }

  test('sends the poll of the run first that is likeliest to have finished, of equal ones the oldest, triggers before all', async () => {
    const given = { first: 0, a: 0.1, b: 0.5, c: 0.5, trigger: 0, d: 0.9 };
    expect(await order(given)).toEqual(['first 0', 'trigger 1', 'd 2', 'b 3', 'c 4', 'a 5']);
  });

  test('lets a poll go no later than it may wait', async () => {
    expect(await order({ first: 0, a: 0.1, b: 0.5 }, { leftMs: 1500 })).toEqual(['first 0', 'b 1', 'no a 1.5']);
  });

  test('holds polls as long as the service asked, and no other request', async () => {
    expect(await order({ a: 0, trigger: 0, b: 0 }, { perSecond: 10, holdMs: 5000 })).toEqual([
      'trigger 0',
      'a 5',
      'b 5',
    ]);
  });

  test('refuses at once a poll that is held for longer than it may wait', async () => {
    expect(await order({ a: 0 }, { holdMs: 5000, leftMs: 4000 })).toEqual(['no a 0']);
  });

  test('lets a trigger go at once that comes while polls are held', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(10, clock);
    limiter.hold(5000);
    const poll = limiter.take(signal, { chance: () => 0, leftMs: () => 60_000 });
    await clock.sleep(100);
    await limiter.take(signal);
    expect(clock.elapsedMs()).toBe(100);
    await poll;
    expect(clock.elapsedMs()).toBe(5000);
  });

  test.each([
    [0, false],
    [3_600_000, true],
  ])('says that a request waited while the machine slept for %d ms: %s', async (sleptMs, woke) => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    const poll = { chance: () => 0, leftMs: () => 60_000 };
    const turns = [limiter.take(signal, poll), limiter.take(signal, poll)];
    process.nextTick(() => clock.suspend(sleptMs));
    expect(await Promise.all(turns)).toEqual([
      { isGranted: true, woke: false },
      { isGranted: true, woke },
    ]);
  });

  /** How long the clock still goes on by itself: until the last timer that somebody has set. */
  async function untilIdleMs(clock: VirtualClock) {
    for (let n = 0; n < 10; n++) await new Promise(setImmediate);
    return clock.elapsedMs();
  }

  test.each([1, 2])('lets %d go at once who are interrupted, and leaves no timer behind', async (count) => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(0.001, clock);
    const abort = new AbortController();
    await limiter.take(signal);
    const waiting = atOnce(count).map(() => limiter.take(abort.signal));
    abort.abort();
    expect(await Promise.all(waiting)).toEqual(atOnce(count).map(() => ({ isGranted: false, woke: false })));
    expect(await untilIdleMs(clock)).toBe(0);
  });

  test('grants no turn to those who were interrupted before', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    expect(await limiter.take(AbortSignal.abort())).toEqual({ isGranted: false, woke: false });
    await limiter.take(signal);
    expect(clock.elapsedMs()).toBe(0);
  });

  test('leaves no timer behind a poll that it refuses', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    limiter.hold(5000);
    await limiter.take(signal, { chance: () => 0, leftMs: () => 4000 });
    expect(await untilIdleMs(clock)).toBe(0);
  });

  test('doubles the time between polls at each 429, to eight times at most, and takes it back by a tenth a poll', () => {
    const limiter = createRateLimiter(10, createVirtualClock());
    expect(limiter.stretch(1000)).toBe(1000);
    for (let n = 0; n < 5; n++) limiter.slowDown();
    expect([1, 2, 3].map(() => Math.round(limiter.stretch(1000)))).toEqual([8000, 7200, 6480]);
    for (let n = 0; n < 30; n++) limiter.stretch(1000);
    expect(limiter.stretch(1000)).toBe(1000);
  });
});
