import { describe, expect, test } from 'vitest';
import type { RequestOptions, Service } from '../../src/run/service.ts';
import type { RateLimiter } from '../../src/service/rate-limiter.ts';
import type { WatchOutcome } from '../../src/watch/watch-run.ts';
import { hour, minute, second } from '../helpers/durations.ts';
import { executionId, fault, resultOf, run, running, scriptedService, state } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import { watch } from './watch-one.ts';

const ended = (...statuses: Parameters<typeof scriptedService>[0]['status'] & object) =>
  scriptedService({ status: [...statuses, state('COMPLETED')], result: [resultOf('COMPLETED')] });
const known = { executionId, status: 'RUNNING', isFinal: false, document: {} };

const endOf = (watched: WatchOutcome) => (watched.kind === 'watch_ended' ? watched.end.kind : watched.kind);

describe('a watch', () => {
  test.each(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'])(
    'ends when the run is %s, with its result',
    async (status) => {
      const service = scriptedService({ status: [running(), state(status)], result: [resultOf(status)] });
      const { watched, names } = await watch(service);
      expect(watched).toMatchObject({ kind: 'status', run, snapshot: { status }, result: { output: 'done' } });
      expect(names).toEqual(['status', 'status', 'final']);
    },
  );

  test('accepts a result with the same unknown status as the finished run, even without a time of its end', async () => {
    const status = [state('SKIPPED', { isFinal: true })];
    const service = scriptedService({ status, result: [resultOf('SKIPPED')] });
    expect((await watch(service)).watched).toMatchObject({ kind: 'status', result: { status: 'SKIPPED' } });
    expect(service.calls.result).toBe(1);
  });

  test('requests only the result if the run had finished in the response to its trigger', async () => {
    const service = scriptedService({ result: [resultOf('FAILED')] });
    const { watched } = await watch(service, { known: { ...known, status: 'FAILED', isFinal: true } });
    expect(watched).toMatchObject({ kind: 'status', snapshot: { status: 'FAILED' }, result: { status: 'FAILED' } });
  });

  test('reports the status in the response to its trigger, and whether each later one is new', async () => {
    const { events } = await watch(ended(running(), state('PAUSED'), state('PAUSED')), { known });
    const reported = events.flatMap((event) =>
      event.event === 'status' ? [`${event.snapshot.status} ${event.changed}`] : [],
    );
    expect(reported).toEqual(['RUNNING true', 'RUNNING false', 'PAUSED true', 'PAUSED false', 'COMPLETED true']);
  });

  test('reports every minute that it waits, however rarely it polls', async () => {
    const service = ended(running());
    const { events } = await watch(service, { watchOptions: { interval: 2.5 * minute } });
    const waits = events.flatMap((event) => (event.event === 'waiting' ? [event.nextMs] : []));
    expect(waits).toEqual([2.5 * minute, 1.5 * minute, 0.5 * minute]);
    expect(service.calls.status).toBe(2);
  });

  test.each([
    ['an hour ago', -hour, 15],
    ['48 h ago, which is no age for a run', -48 * hour, 3],
    ['almost 48 h ago', second - 48 * hour, 15],
    ['in the future of this clock', hour, 3],
    ['at a time that nobody can read', Number.NaN, 3],
  ])(
    'polls a run that began %s by its age if that is plausible, otherwise by the time watched',
    async (_, ms, seconds) => {
      const clock = createVirtualClock();
      const began = clock.nowMs() + ms;
      const startedAt = Number.isNaN(began) ? 'yesterday' : new Date(began).toISOString();
      const { elapsedMs } = await watch(ended(running({ startedAt })), { watchOptions: {} }, { clock });
      expect(elapsedMs).toBe(seconds * second);
    },
  );

  test('polls a run that began in the future of this clock no more often than one without a time', async () => {
    const tookWith = async (fields: Parameters<typeof running>[0]) => {
      const polls = Array.from({ length: 60 }, () => running(fields));
      return (await watch(ended(...polls), { watchOptions: {} })).elapsedMs;
    };
    expect(await tookWith({ startedAt: '2999-01-01T00:00:00Z' })).toBe(await tookWith({}));
  });

  test.each([
    [0, 10 * second, 10],
    [0.999, 10 * second, 10],
    [0, undefined, 2.7],
    [0.5, undefined, 2.25],
    [0.999, undefined, 1.6511],
  ])(
    'with a random number of %f polls a run of this machine earlier than planned, unless --interval is %s ms',
    async (chance, interval, seconds) => {
      const { elapsedMs } = await watch(ended(), { known, watchOptions: { interval } }, { chance });
      expect(elapsedMs / second).toBeCloseTo(seconds, 2);
    },
  );

  test("ends without a retry if a request can't be sent, even after valid responses", async () => {
    const service = scriptedService({ status: [running(), fault('unsendable')] });
    const { watched } = await watch(service);
    expect(watched).toMatchObject({ end: { kind: 'cannot_poll', fault: { kind: 'unsendable' } } });
    expect(service.calls.status).toBe(2);
  });
});

describe('an outage', () => {
  test('is reported with its silence: failed requests and the waits between them, except requested waits', async () => {
    const clock = createVirtualClock();
    const busy = fault('throttled', { retryAfterMs: 7000 });
    const scripted = ended(running(), fault('lost'), fault('unavailable'), busy, fault('lost'), running());
    const service: Service = {
      ...scripted,
      async status(...args) {
        const answer = await scripted.status(...args);
        // The first failure takes its time.
        if (answer.kind === 'fault' && answer.fault.kind === 'lost' && scripted.calls.status === 2)
          await clock.sleep(2000);
        return answer;
      },
    };
    const { events, names } = await watch(service, {}, { clock });
    const failed = Array.from({ length: 4 }, () => 'attempt_failed');
    expect(names).toEqual(['status', ...failed, 'service_back', 'status', 'status', 'final']);
    const common = { resource: 'status' };
    const reports = [
      {
        failures: 1,
        silentMs: 2000,
        retryForMs: 598_000,
        retryInMs: 250,
        lastConfirmed: { snapshot: { status: 'RUNNING' }, ageMs: 12_000 },
        fault: { kind: 'lost' },
      },
      {
        failures: 2,
        silentMs: 2250,
        retryForMs: 597_750,
        retryInMs: 500,
        lastConfirmed: { snapshot: { status: 'RUNNING' }, ageMs: 12_250 },
      },
      { failures: 3, silentMs: 2750, retryForMs: 597_250, retryInMs: 7000, fault: { retryAfterMs: 7000 } },
      { failures: 4, silentMs: 2750, retryInMs: 2000 },
    ];
    expect(events.filter(({ event }) => event === 'attempt_failed')).toMatchObject(
      reports.map((report) => ({ ...common, ...report })),
    );
    expect(events.find(({ event }) => event === 'service_back')).toMatchObject({ afterMs: 11_750 });
    const waits = events.filter(({ event }) => event === 'waiting');
    const asked = waits.filter((wait) => 'retryAfterUntilMs' in wait && wait.retryAfterUntilMs !== undefined);
    expect(asked).toMatchObject([{ nextMs: 7000 }]);
  });

  test('ends the watch after ten minutes, which keeps the last confirmed status', async () => {
    const { watched } = await watch(scriptedService({ status: [running(), running(), fault('unavailable')] }));
    const lastConfirmed = { snapshot: { status: 'RUNNING' }, ageMs: 10 * minute + 10 * second };
    const end = { kind: 'gave_up', giveUpAfterMs: 10 * minute, fault: { kind: 'unavailable' } };
    expect(watched).toMatchObject({ kind: 'watch_ended', end, lastConfirmed });
  });

  test('does not begin while requests wait for the rate limiter', async () => {
    const service = scriptedService({
      status: [running(), fault('unavailable'), fault('lost'), state('COMPLETED')],
      result: [fault('unavailable'), resultOf('COMPLETED')],
    });
    const { watched } = await watch(service, { giveUpAfterMs: 10 * second }, { rate: 1 / 60 });
    expect(watched).toMatchObject({ kind: 'status', result: { output: 'done' } });
  });

  test('does not begin while a laptop sleeps, although that counts for the age of the last confirmed status', async () => {
    const clock = createVirtualClock();
    const service: Service = {
      ...scriptedService({}),
      status: async () => {
        if (clock.elapsedMs() > 0) return fault('unreachable');
        process.nextTick(() => clock.suspend(8 * hour));
        return running();
      },
    };
    const { watched } = await watch(service, { giveUpAfterMs: minute, timeoutMs: Number.POSITIVE_INFINITY }, { clock });
    expect(watched).toMatchObject({ end: { kind: 'gave_up' } });
    expect(watched.kind === 'watch_ended' && watched.lastConfirmed?.ageMs).toBeGreaterThan(8 * hour + minute);
  });
});

describe('--timeout', () => {
  test.each([
    ['beyond it', hour, hour - 9 * minute + 10 * second],
    ['that leaves no time to come back', 9 * minute, 10 * second],
  ])(
    'passes without another poll if the service asks for a wait %s, and the rest of that wait is reported',
    async (_, retryAfterMs, leftMs) => {
      const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs })] });
      const { watched, elapsedMs } = await watch(service, { timeoutMs: 9 * minute });
      const lastConfirmed = { snapshot: { status: 'RUNNING' } };
      expect(watched).toMatchObject({ end: { kind: 'timed_out', timeoutMs: 9 * minute }, lastConfirmed });
      expect(watched).toMatchObject({ end: { fault: { retryAfterMs: leftMs } } });
      expect([elapsedMs, service.calls.status]).toEqual([9 * minute, 2]);
    },
  );

  test('is reported with the refusal that lasted until then', async () => {
    const service = scriptedService({ status: [running(), fault('unauthorized', { httpStatus: 401 })] });
    const { watched } = await watch(service, { timeoutMs: 20 * second });
    const end = { kind: 'timed_out', fault: { kind: 'unauthorized' } };
    expect(watched).toMatchObject({ end, lastConfirmed: { snapshot: { status: 'RUNNING' } } });
  });

  test('is reported without a failure that is over', async () => {
    const service = scriptedService({ status: [running(), fault('unavailable'), running()] });
    const { watched } = await watch(service, { timeoutMs: minute });
    expect(watched).toMatchObject({ end: { kind: 'timed_out' } });
    expect(watched).not.toHaveProperty('end.fault');
  });

  test('is reported with the time that has really passed, including the last poll', async () => {
    const clock = createVirtualClock();
    const service = scriptedService({});
    const stalled: typeof service.status = async (_, signal, { timeoutMs = 0 } = {}) => {
      await clock.sleep(timeoutMs, signal);
      return fault('lost');
    };
    const { watched } = await watch({ ...service, status: stalled }, { timeoutMs: 4 * second }, { clock });
    expect(watched).toMatchObject({ end: { timeoutMs: 4 * second, passedMs: 9 * second } });
  });

  // A result has five seconds more than the timeout leaves.
  test.each([
    ['the timeout', { timeoutMs: 45 * second }, [30, 30, 25, 30, 29.75]],
    ['`--give-up-after`', { giveUpAfterMs: 9 * second }, [9, 9, 9, 9, 9]],
  ])('leaves each request 30 s at most, or what %s leaves', async (_, options, seconds) => {
    const limitsMs: unknown[] = [];
    const scripted = scriptedService({
      status: [running(), running(), state('COMPLETED')],
      result: [fault('lost'), resultOf('COMPLETED')],
    });
    const noting =
      <Asked, Answered>(ask: (asked: Asked, by: AbortSignal, sending?: RequestOptions) => Answered) =>
      (asked: Asked, by: AbortSignal, sending?: RequestOptions) => {
        limitsMs.push(sending?.timeoutMs);
        return ask(asked, by, sending);
      };
    const service = { ...scripted, status: noting(scripted.status), result: noting(scripted.result) };
    await watch(service, options);
    expect(limitsMs).toEqual(seconds.map((limit) => limit * second));
  });
});

describe('a period of refused polls', () => {
  test('begins again with each API key that replaces another one', async () => {
    const clock = createVirtualClock();
    // In each round of 100 seconds, the old API key is refused for 20 seconds, and then the new one for 30 seconds.
    const round = () => Math.floor(clock.elapsedMs() / (100 * second));
    const secondsInRound = () => (clock.elapsedMs() / second) % 100;
    const service: Service = {
      ...ended(),
      status: async () => {
        if (round() > 1) return state('COMPLETED');
        const isRefused = secondsInRound() >= 10 && secondsInRound() < 60;
        return isRefused ? fault('unauthorized', { httpStatus: 401 }) : running();
      },
    };
    const replaced: number[] = [];
    const reloadApiKey = async () => {
      if (secondsInRound() < 30 || replaced.includes(round())) return { kind: 'same' } as const;
      replaced.push(round());
      return { kind: 'changed' } as const;
    };
    expect(endOf((await watch(service, { reloadApiKey }, { clock })).watched)).toBe('status');
    expect(replaced).toEqual([0, 1]);
  });
});

describe('a result', () => {
  test.each([
    ['COMPLETED', 'FAILED', 'FAILED'],
    ['FAILED', 'COMPLETED', 'FAILED'],
    ['CANCELLED', 'TIMED_OUT', 'TIMED_OUT'],
  ])(
    'of a run that is %s, if it has the status %s, makes it %s, with a warning about the difference',
    async (status, byResult, graver) => {
      const service = scriptedService({ status: [state(status)], result: [resultOf(byResult)] });
      const { watched, events } = await watch(service);
      expect(watched).toMatchObject({
        snapshot: { executionId, status: graver, isFinal: true, document: { executionId, status: graver } },
        result: { status: graver, isFinal: true, output: 'done', document: { status: graver, output: 'done' } },
      });
      const message = expect.stringMatching(`${status} for the run, but ${byResult} .* as ${graver}`);
      expect(events).toContainEqual({ event: 'warning', name: 'conflicting_status', message, run });
    },
  );

  test('does not differ by the spelling of a status', async () => {
    const service = scriptedService({ status: [state('COMPLETED')], result: [resultOf('Completed')] });
    expect((await watch(service)).events.filter(({ event }) => event === 'warning')).toEqual([]);
  });

  test('is waited for if it is not final, and then the watch ends without it', async () => {
    const service = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('RUNNING')] });
    const { watched, events } = await watch(service, { giveUpAfterMs: 20 * second });
    const requestFault = { kind: 'unreadable', message: expect.stringContaining('RUNNING') };
    expect(watched).toMatchObject({ kind: 'status', snapshot: { status: 'COMPLETED' }, requestFault });
    expect(service.calls.result).toBe(8);
    const failures = events.filter(({ event }) => event === 'attempt_failed').slice(0, 2);
    const snapshot = { status: 'COMPLETED' };
    expect(failures).toMatchObject(
      [0, 250].map((ageMs) => ({ resource: 'result', lastConfirmed: { snapshot, ageMs } })),
    );
  });

  test('is left out if it gets no permit before the timeout', async () => {
    const service = scriptedService({ status: [state('COMPLETED')] });
    const { watched } = await watch(service, { timeoutMs: 10 * second }, { rate: 1 / 60 });
    const requestFault = { kind: 'lost', message: expect.stringContaining('--timeout') };
    expect(watched).toMatchObject({ kind: 'status', snapshot: { status: 'COMPLETED' }, requestFault });
  });
});

describe('a permit', () => {
  interface Turn {
    isGranted?: boolean;
    woke?: boolean;
  }

  /** Grants these turns, and every later one. */
  function limiterOf(...turns: Turn[]) {
    const priorities: string[] = [];
    const limiter: RateLimiter = {
      async acquire({ priority, onWake }) {
        const { isGranted = true, woke } = turns[priorities.length] ?? {};
        priorities.push(priority);
        if (woke) onWake?.();
        return isGranted ? () => {} : undefined;
      },
      pausePolls() {},
    };
    return { limiter, priorities };
  }

  test('has the priority of a poll for each status, and of a result for the result', async () => {
    const { limiter, priorities } = limiterOf();
    await watch(ended(running()), {}, { limiter });
    expect(priorities).toEqual(['poll', 'poll', 'result']);
  });

  test.each([
    [true, 'status'],
    [false, 'gave_up'],
  ])('that was waited for while the machine slept (%s) delays the end of an outage: %s', async (woke, kind) => {
    const { limiter } = limiterOf({}, { woke });
    const { watched } = await watch(ended(running(), fault('lost')), { giveUpAfterMs: 0 }, { limiter });
    expect(endOf(watched)).toBe(kind);
  });

  test('that does not come in time counts as no poll, and another one is waited for if the machine slept', async () => {
    const clock = createVirtualClock();
    const service = ended(running());
    const { limiter, priorities } = limiterOf({}, { isGranted: false });
    void clock.sleep(20 * second).then(() => clock.suspend(hour));
    const { watched, elapsedMs } = await watch(service, { timeoutMs: minute }, { limiter, clock });
    expect([watched.kind, elapsedMs, priorities.length, service.calls.status]).toEqual(['status', minute, 4, 2]);
  });
});

describe('an interrupt', () => {
  /** Aborts as the request with this number, of either kind, is answered. */
  const interrupting = (service: ReturnType<typeof scriptedService>, nth: number) => {
    const abort = new AbortController();
    const struck =
      <Args extends unknown[], Answered>(ask: (...args: Args) => Promise<Answered>) =>
      async (...args: Args) => {
        const answer = await ask(...args);
        if (service.calls.status + service.calls.result === nth) abort.abort('SIGTERM');
        return answer;
      };
    return {
      service: { ...service, status: struck(service.status), result: struck(service.result) },
      signal: abort.signal,
    };
  };

  test.each([
    ['', [running()], 20],
    [' in the middle of an outage', [running(), fault('lost')], 10.25],
  ] as const)('ends the watch at once%s and does not touch the run', async (_, status, seconds) => {
    const { service, signal } = interrupting(scriptedService({ status }), 3);
    const { watched, elapsedMs } = await watch(service, {}, { signal });
    expect(watched).toMatchObject({ end: { kind: 'interrupted' }, interruptedBy: 'interrupted_terminated' });
    expect(elapsedMs).toBe(seconds * second);
  });

  test.each([
    ['with the final status', 2],
    ['while the result is late', 3],
  ])('that comes %s ends the watch of a finished run without its result', async (_, nth) => {
    const late = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('RUNNING')] });
    const { service, signal } = interrupting(late, nth);
    const { watched } = await watch(service, {}, { signal });
    const requestFault = { kind: 'interrupted' };
    expect(watched).toMatchObject({ kind: 'status', snapshot: { status: 'COMPLETED' }, requestFault });
  });
});
