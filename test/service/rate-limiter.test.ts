import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRateLimiter, type Priority, withPermit } from '../../src/service/rate-limiter.ts';
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
  answerMs?: number;
}

/** When each of these requests gets its turn. */
async function turnsMs(perSecond: number, requests: readonly Request[], connections?: number): Promise<number[]> {
  const clock = createVirtualClock();
  const limiter = createRateLimiter(perSecond, clock, { connections });
  const turns = requests.map(async ({ dueMs, answerMs = 0 }) => {
    await clock.sleep(dueMs);
    let atMs = Number.NaN;
    await withPermit(limiter, { priority: 'poll', signal }, async () => {
      atMs = clock.elapsedMs();
      if (answerMs > 0) await clock.sleep(answerMs);
    });
    return atMs;
  });
  return Promise.all(turns);
}

const dueAtOnce = (count: number, request: Partial<Request> = {}) =>
  Array.from({ length: count }, () => ({ dueMs: 0, ...request }));

describe('a rate limiter', () => {
  test.each([
    [10, [0, 0, 105, 210]],
    [2.5, [0, 0, 1050, 1050]],
    [0.5, [0, 2100, 4200, 6300]],
  ])(
    'with a rate of %d a second spaces requests that come at once, except the first two',
    async (perSecond, expected) => {
      expect(rounded(await turnsMs(perSecond, dueAtOnce(4)))).toEqual(expected);
    },
  );

  test('never gives more permits within any second than its rate', async () => {
    const rates = fc.constantFrom(0.5, 1, 2.5, 3, 10, 50);
    const request = fc.record({ dueMs: fc.nat(3_000), answerMs: fc.nat(3_000) });
    const requests = fc.array(request, { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(rates, requests, async (perSecond, unsorted) => {
        const turns = (await turnsMs(perSecond, unsorted)).sort((a, b) => a - b);
        const windowMs = Math.max(1000, 1000 / perSecond);
        for (const ms of turns) {
          const within = turns.filter((later) => later >= ms && later < ms + windowMs).length;
          expect(within).toBeLessThanOrEqual(most(perSecond));
        }
      }),
      { numRuns: propertyRuns(30) },
    );
  });

  test('wastes no permit', async () => {
    const turns = await turnsMs(10, dueAtOnce(100, { answerMs: 400 }));
    expect(Math.max(...turns)).toBeLessThanOrEqual(99 * turnMs + 1);
  });

  test('has no more polls and results in flight than connections, and triggers in addition', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(10, clock, { connections: 2 });
    const sent: string[] = [];
    const send = (name: string, priority: Priority) =>
      withPermit(limiter, { priority, signal }, async () => {
        sent.push(`${name} ${Math.round(clock.elapsedMs())}`);
        await clock.sleep(6000);
      });
    await Promise.all([
      send('a', 'poll'),
      send('b', 'poll'),
      send('c', 'poll'),
      send('d', 'poll'),
      send('e', 'trigger'),
    ]);
    expect(sent).toEqual(['a 0', 'b 0', 'e 105', 'c 6000', 'd 6000']);
  });

  test('gives a permit that is released to the next request at once', async () => {
    expect(await turnsMs(10, dueAtOnce(3, { answerMs: 400 }), 1)).toEqual([0, 400, 800]);
  });

  test('releases a permit if the request throws', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock, { connections: 1 });
    const failing = withPermit(limiter, { priority: 'poll', signal }, () => Promise.reject(new Error('no API key')));
    await expect(failing).rejects.toThrow('no API key');
    expect(await withPermit(limiter, { priority: 'poll', signal }, async () => clock.elapsedMs())).toBe(1050);
  });

  /** The order in which these go that are due at once, each named for its priority and a letter, with half seconds. */
  async function order(names: readonly string[], { perSecond = 1, leftMs = 60_000, holdMs = 0 } = {}) {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(perSecond, clock);
    if (holdMs > 0) limiter.pausePolls(holdMs);
    const gone: string[] = [];
    await Promise.all(
      names.map(async (name) => {
        const priority = name.split(' ')[0] as Priority;
        const request = { priority, signal, leftMs: () => leftMs - clock.elapsedMs() };
        const sent = await withPermit(limiter, request, async () => true);
        gone.push(`${sent ? name : `no ${name}`} ${(Math.floor(clock.elapsedMs() / 500) / 2).toFixed(1)}`);
      }),
    );
    return gone;
  }

  const inLane = ['poll a', 'poll b', 'result c', 'trigger d', 'poll e', 'result f'];
  const served = ['poll a 0.0', 'trigger d 1.0', 'result c 2.0', 'result f 3.0', 'poll b 4.0', 'poll e 5.0'];
  test.each<[string, Parameters<typeof order>[1], string[], string[]]>([
    ['serves first who comes first, but triggers before results before polls', {}, inLane, served],
    [
      'lets a poll go no later than it may wait',
      { leftMs: 500 },
      ['poll a', 'poll b'],
      ['poll a 0.0', 'no poll b 0.5'],
    ],
    [
      'holds polls and results as long as the service asked, and no other request',
      { perSecond: 10, holdMs: 5000 },
      ['poll a', 'trigger b', 'result c'],
      ['trigger b 0.0', 'result c 5.0', 'poll a 5.0'],
    ],
    ['refuses at once a poll that is held too long', { holdMs: 5000, leftMs: 4000 }, ['poll a'], ['no poll a 0.0']],
  ])('%s', async (_, options, names, expected) => expect(await order(names, options)).toEqual(expected));

  test('does not send a trigger that has waited too long, unless it needs no wait', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    const wish = { priority: 'trigger', signal, leftMs: () => 500 - clock.elapsedMs() } as const;
    const sent = atOnce(3).map(() => withPermit(limiter, wish, async () => clock.elapsedMs()));
    expect(await Promise.all(sent)).toEqual([0, undefined, undefined]);
    await clock.sleep(2000);
    expect(await withPermit(limiter, wish, async () => true)).toBe(true);
  });

  test.each([
    [5000, 1000],
    [1000, 5000],
  ])('pauses polls for the longer of two waits (%d and %d ms)', async (...waitsMs) => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(10, clock);
    for (const ms of waitsMs) limiter.pausePolls(ms);
    const poll = withPermit(limiter, { priority: 'poll', signal, leftMs: () => 60_000 }, async () => clock.elapsedMs());
    expect(await poll).toBe(5000);
  });

  test('gives a trigger a permit at once even if polls are paused', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(10, clock);
    limiter.pausePolls(5000);
    const atMs = async () => clock.elapsedMs();
    const poll = withPermit(limiter, { priority: 'poll', signal, leftMs: () => 60_000 }, atMs);
    await clock.sleep(100);
    expect(await withPermit(limiter, { priority: 'trigger', signal }, atMs)).toBe(100);
    expect(await poll).toBe(5000);
  });

  test.each([
    [0, 0],
    [3_600_000, 1],
  ])('calls onWake for a request that waited while the machine slept for %d ms: %d times', async (sleptMs, times) => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    let woke = 0;
    const wish = { priority: 'poll', signal, leftMs: () => 60_000, onWake: () => void woke++ } as const;
    const turns = atOnce(2).map(() => withPermit(limiter, wish, async () => true));
    process.nextTick(() => clock.suspend(sleptMs));
    expect(await Promise.all(turns)).toEqual([true, true]);
    expect(woke).toBe(times);
  });

  /** How long the clock still goes on by itself: until the last timer that somebody has set. */
  async function untilIdleMs(clock: VirtualClock) {
    for (let n = 0; n < 10; n++) await new Promise(setImmediate);
    return clock.elapsedMs();
  }

  test.each([1, 2])('ends %d requests that are interrupted at once, and leaves no timer behind', async (count) => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(0.001, clock);
    const abort = new AbortController();
    await withPermit(limiter, { priority: 'poll', signal }, async () => true);
    const waiting = atOnce(count).map(() =>
      withPermit(limiter, { priority: 'poll', signal: abort.signal }, async () => true),
    );
    abort.abort();
    expect(await Promise.all(waiting)).toEqual(atOnce(count).map(() => undefined));
    expect(await untilIdleMs(clock)).toBe(0);
  });

  test('gives no permit to a request that was interrupted before', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    expect(
      await withPermit(limiter, { priority: 'poll', signal: AbortSignal.abort() }, async () => true),
    ).toBeUndefined();
    expect(await withPermit(limiter, { priority: 'poll', signal }, async () => clock.elapsedMs())).toBe(0);
  });

  test('leaves no timer behind a poll that it refuses', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1, clock);
    limiter.pausePolls(5000);
    await withPermit(limiter, { priority: 'poll', signal, leftMs: () => 4000 }, async () => true);
    expect(await untilIdleMs(clock)).toBe(0);
  });
});
