import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/runs/events.ts';
import { createRateLimiter, type RateLimiter } from '../../src/runs/rate-limiter.ts';
import type { Run } from '../../src/runs/run.ts';
import type { Service } from '../../src/runs/service.ts';
import type { WatchOptions, WatchPorts } from '../../src/watching/poll-until-final.ts';
import { watchToEnd } from '../../src/watching/watch.ts';
import { createWatchGroup } from '../../src/watching/watch-group.ts';
import { executionId, fault, resultOf, run, running, scriptedService, state } from '../helpers/scripted-service.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

interface Setting {
  followed?: Run;
  clock?: VirtualClock;
  signal?: AbortSignal;
  chance?: number;
  /** Requests a second. */
  rate?: number;
  limiter?: RateLimiter;
}

async function watch(
  service: Service,
  {
    giveUpAfterMs = 10 * minute,
    timeoutMs = 3.25 * hour,
    ...options
  }: Partial<WatchOptions & Pick<WatchPorts, 'giveUpAfterMs'> & { timeoutMs: number }> = {},
  {
    followed = run,
    clock = createVirtualClock(),
    signal = new AbortController().signal,
    chance = 0.5,
    rate = 10,
    limiter = createRateLimiter(rate, clock),
  }: Setting = {},
) {
  const events: RunEvent[] = [];
  const watched = await watchToEnd(
    followed,
    { schedule: { gapMs: () => 10 * second }, ...options },
    {
      service,
      clock,
      random: () => chance,
      signal,
      limiter,
      group: createWatchGroup(timeoutMs, clock),
      giveUpAfterMs,
      requestTimeoutMs: 30 * second,
      observe: (event) => events.push(event),
    },
  );
  const names = events.map(({ event }) => event).filter((event) => event !== 'waiting');
  return { watched, events, names, elapsedMs: clock.elapsedMs() };
}

describe('a watch', () => {
  test('reports every minute that it waits, however rarely it polls', async () => {
    const service = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('COMPLETED')] });
    const { events } = await watch(service, { schedule: { gapMs: () => 2.5 * minute } });
    const waits = events.flatMap((event) => (event.event === 'waiting' ? [event.nextMs] : []));
    expect(waits).toEqual([2.5 * minute, 1.5 * minute, 0.5 * minute]);
    expect(service.calls.status).toBe(2);
  });

  test.each([
    ['an hour ago', -hour, hour],
    ['48 h ago, which is no age for a run', -48 * hour, 0],
    ['almost 48 h ago', second - 48 * hour, 48 * hour - second],
    ['in the future of this clock', hour, 0],
    ['at a time that nobody can read', Number.NaN, 0],
  ])(
    'of a run that began %s goes by its age where that is plausible, else by the time watched',
    async (_, ms, ageMs) => {
      const clock = createVirtualClock();
      const began = clock.nowMs() + ms;
      const startedAt = Number.isNaN(began) ? 'yesterday' : new Date(began).toISOString();
      const service = scriptedService({
        status: [running({ startedAt }), running({ startedAt }), state('COMPLETED')],
        result: [resultOf('COMPLETED')],
      });
      const agesMs: number[] = [];
      const gapMs = (age: number) => agesMs.push(age) && 10 * second;
      await watch(service, { schedule: { gapMs } }, { clock });
      expect(agesMs).toEqual([ageMs, ageMs === 48 * hour - second ? 10 * second : ageMs + 10 * second]);
    },
  );

  test.each(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'])(
    'ends when the run is %s, with its result',
    async (status) => {
      const service = scriptedService({ status: [running(), state(status)], result: [resultOf(status)] });
      const { watched, names } = await watch(service);
      expect(watched).toMatchObject({ kind: 'finished', run, execution: { status }, result: { output: 'done' } });
      expect(names).toEqual(['status', 'status', 'final']);
    },
  );

  test('does not count the wait for the rate limiter as silence of the service', async () => {
    const blips = [fault('unavailable'), fault('lost')];
    const service = scriptedService({
      status: [running(), ...blips, state('COMPLETED')],
      result: [fault('unavailable'), resultOf('COMPLETED')],
    });
    const { watched } = await watch(service, { giveUpAfterMs: 10 * second }, { rate: 1 / 60 });
    expect(watched).toMatchObject({ kind: 'finished', result: { output: 'done' } });
  });

  test('reports an outage and its end', async () => {
    const status = [running(), fault('lost'), fault('unavailable'), running(), state('COMPLETED')];
    const { events, names } = await watch(scriptedService({ status, result: [resultOf('COMPLETED')] }));
    expect(names).toEqual(['status', 'attempt_failed', 'attempt_failed', 'service_back', 'status', 'status', 'final']);
    expect(events.filter(({ event }) => event === 'attempt_failed')).toMatchObject([
      { failures: 1, silentMs: 0, retryInMs: 250, execution: { status: 'RUNNING' }, ageMs: 10_000 },
      { failures: 2, silentMs: 250, retryInMs: 500, execution: { status: 'RUNNING' }, ageMs: 10_250 },
    ]);
    expect(events.find(({ event }) => event === 'service_back')).toMatchObject({ afterMs: 750 });
  });

  test('gives up after ten minutes without a valid answer, and keeps what was confirmed last', async () => {
    const { watched } = await watch(scriptedService({ status: [running(), fault('unavailable')] }));
    expect(watched).toMatchObject({
      kind: 'gave_up',
      giveUpAfterMs: 10 * minute,
      fault: { kind: 'unavailable' },
      execution: { status: 'RUNNING' },
      ageMs: 10 * minute + 10 * second,
    });
  });

  test('polls once more after a minute when the service asks for a wait beyond the timeout, and then gives up', async () => {
    const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs: hour })] });
    const { watched, elapsedMs } = await watch(service, { timeoutMs: 30 * minute });
    expect([watched.kind, elapsedMs]).toEqual(['gave_up', 70 * second]);
  });

  test('waits for the timeout, without another poll, when that leaves no time to come back', async () => {
    const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs: minute })] });
    const { watched, elapsedMs } = await watch(service, { timeoutMs: minute });
    expect(watched).toMatchObject({ kind: 'timed_out', timeoutMs: minute, fault: { retryAfterMs: minute } });
    expect([elapsedMs, service.calls.status]).toEqual([minute, 2]);
  });

  test('counts the sleep of a laptop in the age of what was confirmed last', async () => {
    const clock = createVirtualClock();
    const service: Service = {
      ...scriptedService({}),
      status: async () => {
        if (clock.elapsedMs() > 0) return fault('unreachable');
        setImmediate(() => clock.suspend(8 * hour));
        return running();
      },
    };
    const { watched } = await watch(service, { giveUpAfterMs: minute, timeoutMs: Number.POSITIVE_INFINITY }, { clock });
    expect(watched).toMatchObject({ kind: 'gave_up' });
    expect('ageMs' in watched && watched.ageMs).toBeGreaterThan(8 * hour + minute);
  });

  test('asks for the result alone when the run had finished as its trigger was answered', async () => {
    const service = scriptedService({ status: [running()], result: [resultOf('FAILED')] });
    const known = { executionId, status: 'FAILED', document: {} };
    const { watched } = await watch(service, { known });
    expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'FAILED' }, result: { status: 'FAILED' } });
    expect(service.calls.status).toBe(0);
  });

  test('of an agent run ends at any status but RUNNING, and fetches no result', async () => {
    const followed = { target: { family: 'agent', agentId: executionId } as const, executionId };
    const service = scriptedService({ status: [running(), state('STOPPED')] });
    const { watched } = await watch(service, {}, { followed });
    expect(watched).toEqual({
      kind: 'finished',
      run: followed,
      execution: expect.objectContaining({ status: 'STOPPED' }),
    });
  });

  test('reports the status that its trigger was answered with, and of every later one whether it is new', async () => {
    const statuses = ['RUNNING', 'PAUSED', 'PAUSED', 'COMPLETED'];
    const service = scriptedService({
      status: statuses.map((status) => state(status)),
      result: [resultOf('COMPLETED')],
    });
    const { events } = await watch(service, { known: { executionId, status: 'RUNNING', document: {} } });
    const reported = events.flatMap((event) =>
      event.event === 'status' ? [`${event.execution.status} ${event.changed}`] : [],
    );
    expect(reported).toEqual(['RUNNING true', 'RUNNING false', 'PAUSED true', 'PAUSED false', 'COMPLETED true']);
  });

  test('waits its turn with the chance that the run has ended since the last answer', async () => {
    const chances: unknown[] = [];
    const limiter: RateLimiter = {
      ...limiterOf().limiter,
      async take(_, poll) {
        chances.push(poll?.chance());
        return { isGranted: true, woke: false };
      },
    };
    const service = scriptedService({
      status: [running(), running(), state('COMPLETED')],
      result: [resultOf('COMPLETED')],
    });
    const schedule = {
      gapMs: () => 10 * second,
      chanceOfEnd: (fromMs: number, toMs: number) => fromMs + toMs / 1e6,
    };
    await watch(service, { schedule }, { limiter });
    // One of which nothing is known may have ended, and a result is ready.
    expect(chances).toEqual([1, 0.01, 10_000.02, 1]);
  });

  /** Grants these turns, and every later one. */
  function limiterOf(...turns: Awaited<ReturnType<RateLimiter['take']>>[]) {
    let taken = 0;
    const limiter: RateLimiter = {
      take: async () => turns[taken++] ?? { isGranted: true, woke: false },
      hold() {},
      slowDown() {},
      stretch: (gapMs) => gapMs,
    };
    return { limiter, taken: () => taken };
  }

  test('does not give up where the machine slept while a poll waited for its turn', async () => {
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

  test('sends no poll whose turn did not come in time, and takes another turn where the machine slept until then', async () => {
    const clock = createVirtualClock();
    const service = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('COMPLETED')] });
    const { limiter, taken } = limiterOf({ isGranted: true, woke: false }, { isGranted: false, woke: false });
    void clock.sleep(20 * second).then(() => clock.suspend(hour));
    const { watched, elapsedMs } = await watch(service, { timeoutMs: minute }, { limiter, clock });
    expect([watched.kind, elapsedMs, taken(), service.calls.status]).toEqual(['finished', minute, 4, 2]);
  });

  test('gives each request the time that is left, 30 s at most', async () => {
    const limitsMs: unknown[] = [];
    const scripted = scriptedService({
      status: [running(), running(), state('COMPLETED')],
      result: [fault('lost'), resultOf('COMPLETED')],
    });
    const service: Service = {
      ...scripted,
      status(asked, by, limits) {
        limitsMs.push(limits?.timeoutMs);
        return scripted.status(asked, by, limits);
      },
      result(asked, by, limits) {
        limitsMs.push(limits?.timeoutMs);
        return scripted.result(asked, by, limits);
      },
    };
    await watch(service, { timeoutMs: 45 * second });
    // A result may still be read in the five seconds that unfinished runs are polled in once more.
    expect(limitsMs).toEqual([30 * second, 30 * second, 25 * second, 30 * second, 29.75 * second]);
  });

  test.each([
    ['COMPLETED', 'FAILED', 'FAILED'],
    ['FAILED', 'COMPLETED', 'FAILED'],
    ['CANCELLED', 'TIMED_OUT', 'TIMED_OUT'],
  ])(
    'of a run that is %s, and %s by its result, says that it is %s, and that they differ',
    async (status, byResult, graver) => {
      const service = scriptedService({ status: [state(status)], result: [resultOf(byResult)] });
      expect((await watch(service)).watched).toEqual({
        kind: 'finished',
        run,
        execution: { executionId, status: graver, document: { executionId, status: graver } },
        result: { status: graver, output: 'done', document: { status: graver, output: 'done' } },
        disagreement: { status, result: byResult },
      });
    },
  );

  test('sees no difference in the spelling of a status', async () => {
    const service = scriptedService({ status: [state('COMPLETED')], result: [resultOf('Completed')] });
    expect((await watch(service)).watched).not.toHaveProperty('disagreement');
  });

  test.each<[string, Parameters<typeof resultOf>[0] | 'too_large', number, object]>([
    ['that is too large is not asked for again', 'too_large', 1, { kind: 'too_large' }],
    ['that is not final is awaited', 'RUNNING', 8, { kind: 'unreadable', message: 'the result still says RUNNING' }],
  ])('of a finished run, a result %s', async (_, answer, requests, resultFault) => {
    const result = [answer === 'too_large' ? fault('too_large') : resultOf(answer)];
    const service = scriptedService({ status: [running(), state('COMPLETED')], result });
    const { watched, events } = await watch(service, { giveUpAfterMs: 20 * second });
    expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'COMPLETED' }, resultFault });
    expect(service.calls.result).toBe(requests);
    const failures = events.filter(({ event }) => event === 'attempt_failed').slice(0, 2);
    const failure = { operation: 'result', execution: { status: 'COMPLETED' } };
    expect(failures).toMatchObject(
      requests === 1
        ? []
        : [
            { ...failure, ageMs: 0 },
            { ...failure, ageMs: 250 },
          ],
    );
  });

  test('leaves a finished run without its result where the timeout passes before its turn comes', async () => {
    const service = scriptedService({ status: [state('COMPLETED')] });
    const { watched } = await watch(service, { timeoutMs: 10 * second }, { rate: 1 / 60 });
    const resultFault = { kind: 'lost', message: '`--timeout` passed' };
    expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'COMPLETED' }, resultFault });
  });

  test('keeps the final status of a run whose result cannot be read', async () => {
    const service = scriptedService({ status: [state('FAILED')], result: [fault('unauthorized')] });
    const { watched } = await watch(service);
    const resultFault = { kind: 'unauthorized' };
    expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'FAILED' }, resultFault });
  });
});

describe('the first poll after a trigger of our own', () => {
  const firstPollMs = async (chance: number, isFixed?: boolean) => {
    const service = scriptedService({ status: [state('COMPLETED')], result: [resultOf('COMPLETED')] });
    const known = { executionId, status: 'RUNNING', document: {} };
    return (await watch(service, { known, isFixed }, { chance })).elapsedMs;
  };

  test.each([
    [0, 10 * second],
    [0.5, 7.5 * second],
    [0.999, 5.005 * second],
  ])('comes by chance (%f) earlier than the schedule has it, never later', async (chance, expectedMs) => {
    expect(await firstPollMs(chance)).toBeCloseTo(expectedMs, 0);
  });

  test.each([0, 0.5, 0.999])('comes when `--interval` says, whatever chance says (%f)', async (chance) => {
    expect(await firstPollMs(chance, true)).toBe(10 * second);
  });
});

describe('an interrupt', () => {
  /** Aborts as the request with this number, of either kind, is answered. */
  const interrupting = (service: ReturnType<typeof scriptedService>, nth: number) => {
    const abort = new AbortController();
    const strike = () => {
      if (service.calls.status + service.calls.result === nth) abort.abort('SIGTERM');
    };
    const struck: Service = {
      ...service,
      async status(...args) {
        const answer = await service.status(...args);
        strike();
        return answer;
      },
      async result(...args) {
        const answer = await service.result(...args);
        strike();
        return answer;
      },
    };
    return { service: struck, signal: abort.signal };
  };

  test('ends the watch at once and leaves the run alone', async () => {
    const { service, signal } = interrupting(scriptedService({ status: [running()] }), 3);
    const { watched, elapsedMs } = await watch(service, {}, { signal });
    expect(watched).toMatchObject({ kind: 'interrupted', reason: 'SIGTERM', execution: { status: 'RUNNING' } });
    expect(elapsedMs).toBe(20 * second);
  });

  test('ends the watch at once in the middle of an outage', async () => {
    const { service, signal } = interrupting(scriptedService({ status: [running(), fault('lost')] }), 3);
    expect((await watch(service, {}, { signal })).watched.kind).toBe('interrupted');
  });

  test.each([
    ['with the final status', 2],
    ['while the result is late', 3],
  ])('that comes %s leaves a finished run without its result', async (_, nth) => {
    const late = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('RUNNING')] });
    const { service, signal } = interrupting(late, nth);
    const { watched } = await watch(service, {}, { signal });
    const resultFault = { kind: 'interrupted', message: 'interrupted' };
    expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'COMPLETED' }, resultFault });
  });
});
