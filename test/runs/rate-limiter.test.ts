import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/runs/rate-limiter.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

const { signal } = new AbortController();
/** Turns at ten a second come 105 ms apart, as a second is counted 5 % longer. */
const turnMs = 105;
const atOnce = (count: number) => Array.from({ length: count }, () => 0);
const most = (perSecond: number) => Math.max(1, Math.floor(perSecond));
const rounded = (times: readonly number[]) => times.map((ms) => Math.round(ms));

interface Request {
  dueMs: number;
  connectMs?: number; // until it is written
  answerMs?: number; // from then on
}

/** When each of these requests is written. */
async function writtenMs(perSecond: number, requests: readonly Request[], connections?: number): Promise<number[]> {
  const clock = createVirtualClock();
  const limiter = createRateLimiter(perSecond, clock, { connections });
  const written = requests.map(async ({ dueMs, connectMs = 0, answerMs = 0 }) => {
    await clock.sleep(dueMs);
    let atMs = Number.NaN;
    await limiter.send({ signal }, async (onWrite) => {
      if (connectMs > 0) await clock.sleep(connectMs);
      onWrite();
      atMs = clock.elapsedMs();
      if (answerMs > 0) await clock.sleep(answerMs);
    });
    return atMs;
  });
  return Promise.all(written);
}

const dueAtOnce = (count: number, request: Partial<Request> = {}) =>
  Array.from({ length: count }, () => ({ dueMs: 0, ...request }));

describe('a rate limiter', () => {
  test.each([
    [10, [0, 0, 105, 210]],
    [2.5, [0, 0, 1050, 1050]],
    [0.5, [0, 2100, 4200, 6300]],
  ])('of %d a second spaces what is due at once, but for the first two', async (perSecond, expected) => {
    expect(rounded(await writtenMs(perSecond, dueAtOnce(4)))).toEqual(expected);
  });

  test('never has more written within any second than its rate, however long a connection takes, and keeps the order', async () => {
    const rates = fc.constantFrom(0.5, 1, 2.5, 3, 10, 50);
    const request = fc.record({
      dueMs: fc.nat(3_000),
      connectMs: fc.oneof(fc.constant(0), fc.nat(2_000)),
      answerMs: fc.nat(3_000),
    });
    const requests = fc.array(request, { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(rates, requests, async (perSecond, unsorted) => {
        const sorted = unsorted.sort((a, b) => a.dueMs - b.dueMs);
        const written = (await writtenMs(perSecond, sorted)).sort((a, b) => a - b);
        const windowMs = Math.max(1000, 1000 / perSecond);
        for (const ms of written) {
          const within = written.filter((later) => later >= ms && later < ms + windowMs).length;
          expect(within).toBeLessThanOrEqual(most(perSecond));
        }
      }),
      { numRuns: propertyRuns(30) },
    );
  });

  test('wastes no turn while requests are written at once', async () => {
    const written = await writtenMs(10, dueAtOnce(100, { answerMs: 400 }));
    expect(Math.max(...written)).toBeLessThanOrEqual(99 * turnMs + 1);
  });

  test('counts a request that never reached a connection', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(2, clock);
    const refusedMs: number[] = [];
    const refused = async () => void refusedMs.push(clock.elapsedMs());
    await Promise.all(atOnce(5).map(() => limiter.send({ signal }, refused)));
    expect(rounded(refusedMs)).toEqual([0, 0, 1050, 1050, 2100]);
  });

  test('has no more in flight than connections, but for requests with one of their own', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(10, clock, { connections: 2 });
    const sent: string[] = [];
    const send = (name: string, hasOwnConnection = false) =>
      limiter.send({ signal, hasOwnConnection }, async (onWrite) => {
        onWrite();
        sent.push(`${name} ${Math.round(clock.elapsedMs())}`);
        await clock.sleep(6000);
      });
    await Promise.all([send('a'), send('b'), send('c'), send('d'), send('trigger', true)]);
    expect(sent).toEqual(['a 0', 'b 0', 'trigger 105', 'c 6000', 'd 6000']);
  });

  test('gives a turn back where the request throws', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock, { connections: 1 });
    const failing = limiter.send({ signal }, () => Promise.reject(new Error('no API key')));
    await expect(failing).rejects.toThrow('no API key');
    expect(await limiter.send({ signal }, async () => clock.elapsedMs())).toBe(1050);
  });

  test.each([
    [0.5, 4, 0, [0, 2100, 4200]],
    [2, 5, 0, [525, 1050, 1575]],
    [10, 2, 500, [500, 500]],
  ])(
    'of %d a second reports how long each of %d requests waits that it holds for %d ms',
    async (perSecond, count, holdMs, expected) => {
      const clock = createVirtualClock();
      const waits: number[] = [];
      const limiter = createRateLimiter(perSecond, clock, { onWait: (waitMs) => waits.push(waitMs) });
      limiter.hold(holdMs);
      const poll = holdMs > 0 ? { chance: () => 0, leftMs: () => 60_000 } : {};
      await Promise.all(atOnce(count).map(() => limiter.send({ signal, ...poll }, async () => {})));
      expect(rounded(waits)).toEqual(expected);
    },
  );

  /** The order in which these go that are due at once, by name and chance, with half seconds; `trigger` is no poll. */
  async function order(given: Record<string, number>, { perSecond = 1, leftMs = 60_000, holdMs = 0 } = {}) {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(perSecond, clock);
    if (holdMs > 0) limiter.hold(holdMs);
    const gone: string[] = [];
    await Promise.all(
      Object.entries(given).map(async ([name, chance]) => {
        const poll = { chance: () => chance, leftMs: () => leftMs - clock.elapsedMs() };
        const wish = { signal, ...(name === 'trigger' ? {} : poll) };
        const sent = await limiter.send(wish, async () => true);
        gone.push(`${sent ? name : `no ${name}`} ${(Math.floor(clock.elapsedMs() / 500) / 2).toFixed(1)}`);
      }),
    );
    return gone;
  }

  test('sends the poll of the run first that is likeliest to have finished, of equal ones the oldest, triggers before all', async () => {
    const given = { first: 0, a: 0.1, b: 0.5, c: 0.5, trigger: 0, d: 0.9 };
    expect(await order(given)).toEqual(['first 0.0', 'trigger 1.0', 'd 2.0', 'b 3.0', 'c 4.0', 'a 5.0']);
  });

  test('lets a poll go no later than it may wait', async () => {
    expect(await order({ first: 0, a: 0.1, b: 0.5 }, { leftMs: 1500 })).toEqual(['first 0.0', 'b 1.0', 'no a 1.5']);
  });

  test('leaves a trigger unsent that has waited too long, but not one that need not wait', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    const wish = { signal, hasOwnConnection: true, leftMs: () => 500 - clock.elapsedMs() };
    const sent = atOnce(3).map(() => limiter.send(wish, async () => clock.elapsedMs()));
    expect(await Promise.all(sent)).toEqual([0, undefined, undefined]);
    await clock.sleep(2000);
    expect(await limiter.send(wish, async () => true)).toBe(true);
  });

  test('holds polls as long as the service asked, and no other request', async () => {
    expect(await order({ a: 0, trigger: 0, b: 0 }, { perSecond: 10, holdMs: 5000 })).toEqual([
      'trigger 0.0',
      'a 5.0',
      'b 5.0',
    ]);
  });

  test('refuses at once a poll that is held for longer than it may wait', async () => {
    expect(await order({ a: 0 }, { holdMs: 5000, leftMs: 4000 })).toEqual(['no a 0.0']);
  });

  test('lets a trigger go at once that comes while polls are held', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(10, clock);
    limiter.hold(5000);
    const atMs = async () => clock.elapsedMs();
    const poll = limiter.send({ signal, chance: () => 0, leftMs: () => 60_000 }, atMs);
    await clock.sleep(100);
    expect(await limiter.send({ signal }, atMs)).toBe(100);
    expect(await poll).toBe(5000);
  });

  test.each([
    [0, 0],
    [3_600_000, 1],
  ])('says that a request waited while the machine slept for %d ms: %d times', async (sleptMs, times) => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    let woke = 0;
    const wish = { signal, chance: () => 0, leftMs: () => 60_000, onWake: () => void woke++ };
    const turns = atOnce(2).map(() => limiter.send(wish, async () => true));
    process.nextTick(() => clock.suspend(sleptMs));
    expect(await Promise.all(turns)).toEqual([true, true]);
    expect(woke).toBe(times);
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
    await limiter.send({ signal }, async () => true);
    const waiting = atOnce(count).map(() => limiter.send({ signal: abort.signal }, async () => true));
    abort.abort();
    expect(await Promise.all(waiting)).toEqual(atOnce(count).map(() => undefined));
    expect(await untilIdleMs(clock)).toBe(0);
  });

  test('grants no turn to those who were interrupted before', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    expect(await limiter.send({ signal: AbortSignal.abort() }, async () => true)).toBeUndefined();
    expect(await limiter.send({ signal }, async () => clock.elapsedMs())).toBe(0);
  });

  test('leaves no timer behind a poll that it refuses', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    limiter.hold(5000);
    await limiter.send({ signal, chance: () => 0, leftMs: () => 4000 }, async () => true);
    expect(await untilIdleMs(clock)).toBe(0);
  });
});
