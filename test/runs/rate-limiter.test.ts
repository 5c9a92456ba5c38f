import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/runs/rate-limiter.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

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

describe('a rate limiter', () => {
  test('of ten a second lets ten go at once, then one each tenth of a second', async () => {
    expect(await sentMs(10, atOnce(13))).toEqual([...atOnce(10), 100, 200, 300]);
  });

  test('reports how long each request waits for its turn', async () => {
    const clock = createVirtualClock();
    const waits: number[] = [];
    const limiter = createRateLimiter(0.5, clock, (waitMs) => waits.push(waitMs));
    await Promise.all(atOnce(3).map(() => limiter.take(signal)));
    expect(waits).toEqual([2000, 4000]);
  });

  test('of a thousand a second lets no more than ten go at once at the start', async () => {
    expect(await sentMs(1000, atOnce(13))).toEqual([...atOnce(10), 1, 2, 3]);
  });

  test('of a request in two seconds lets the first go at once', async () => {
    expect(await sentMs(0.5, atOnce(3))).toEqual([0, 2000, 4000]);
  });

  test('lets go at once what a second left over, so that a stall costs no request', async () => {
    const afterAStall = Array.from({ length: 500 }, () => 5000);
    expect(new Set(await sentMs(1000, [0, ...afterAStall]))).toEqual(new Set([0, 5000]));
  });

  test('never lets more go within a second than twice its rate, and keeps the order', async () => {
    const rates = fc.constantFrom(0.5, 1, 3, 10, 50);
    const times = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(rates, times, async (perSecond, unsorted) => {
        const dueMs = unsorted.sort((a, b) => a - b);
        const sent = await sentMs(perSecond, dueMs);
        expect(sent).toEqual(sent.toSorted((a, b) => a - b));
        for (const fromMs of sent) {
          const within = sent.filter((ms) => ms >= fromMs && ms < fromMs + 1000).length;
          expect(within).toBeLessThanOrEqual(Math.max(1, 2 * perSecond));
        }
      }),
      { numRuns: propertyRuns(30) },
    );
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
