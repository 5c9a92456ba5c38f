import { describe, expect, test } from 'vitest';
import type { Service } from '../../src/runs/service.ts';
import { executionId, fault, resultOf, run, running, scriptedService, state } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import { hour, minute, second, watch } from './watch-one.ts';

describe('a watch', () => {
  test('reports every minute that it waits, however rarely it polls', async () => {
    const service = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('COMPLETED')] });
    const { events } = await watch(service, { gapMs: () => 2.5 * minute });
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
      await watch(service, { gapMs }, { clock });
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
      {
        failures: 1,
        silentMs: 0,

        retryInMs: 250,
        execution: { status: 'RUNNING' },
        ageMs: 10_000,
      },
      {
        failures: 2,
        silentMs: 250,

        retryInMs: 500,
        execution: { status: 'RUNNING' },
        ageMs: 10_250,
      },
    ]);
    expect(events.find(({ event }) => event === 'service_back')).toMatchObject({ afterMs: 750 });
  });

  test('gives up after ten minutes without a valid response, and keeps what was confirmed last', async () => {
    const { watched } = await watch(scriptedService({ status: [running(), fault('unavailable')] }));
    expect(watched).toMatchObject({
      kind: 'gave_up',
      giveUpAfterMs: 10 * minute,
      fault: { kind: 'unavailable' },
      execution: { status: 'RUNNING' },
      ageMs: 10 * minute + 10 * second,
    });
  });

  test('waits for the timeout when the service asks for a wait beyond it', async () => {
    const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs: hour })] });
    const { watched, elapsedMs } = await watch(service, { timeoutMs: 9 * minute });
    expect([watched.kind, elapsedMs, service.calls.status]).toEqual(['timed_out', 9 * minute, 2]);
  });

  test('waits for the timeout, without another poll, when that leaves no time to come back, and says what is left', async () => {
    const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs: minute })] });
    const { watched, elapsedMs } = await watch(service, { timeoutMs: minute });
    expect(watched).toMatchObject({ kind: 'timed_out', timeoutMs: minute, fault: { retryAfterMs: 10 * second } });
    expect([elapsedMs, service.calls.status]).toEqual([minute, 2]);
  });

  test('names the refusal that lasted until the timeout', async () => {
    const service = scriptedService({ status: [running(), fault('unauthorized', { httpStatus: 401 })] });
    const { watched } = await watch(service, { timeoutMs: 20 * second });
    expect(watched).toMatchObject({
      kind: 'timed_out',
      fault: { kind: 'unauthorized' },
      execution: { status: 'RUNNING' },
    });
  });

  test('counts the sleep of a laptop in the age of what was confirmed last', async () => {
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
    expect(watched).toMatchObject({ kind: 'gave_up' });
    expect('ageMs' in watched && watched.ageMs).toBeGreaterThan(8 * hour + minute);
  });

  test('asks for the result alone when the run had finished as its trigger was answered', async () => {
    const service = scriptedService({ status: [running()], result: [resultOf('FAILED')] });
    const known = { executionId, status: 'FAILED', isFinal: true, document: {} };
    const { watched } = await watch(service, { known });
    expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'FAILED' }, result: { status: 'FAILED' } });
    expect(service.calls.status).toBe(0);
  });

  test('reports the status that its trigger was answered with, and of every later one whether it is new', async () => {
    const statuses = ['RUNNING', 'PAUSED', 'PAUSED', 'COMPLETED'];
    const service = scriptedService({
      status: statuses.map((status) => state(status)),
      result: [resultOf('COMPLETED')],
    });
    const { events } = await watch(service, {
      known: { executionId, status: 'RUNNING', isFinal: false, document: {} },
    });
    const reported = events.flatMap((event) =>
      event.event === 'status' ? [`${event.execution.status} ${event.changed}`] : [],
    );
    expect(reported).toEqual(['RUNNING true', 'RUNNING false', 'PAUSED true', 'PAUSED false', 'COMPLETED true']);
  });
});

describe('the first poll after a trigger of our own', () => {
  const firstPollMs = async (chance: number, isFixed?: boolean) => {
    const service = scriptedService({ status: [state('COMPLETED')], result: [resultOf('COMPLETED')] });
    const known = { executionId, status: 'RUNNING', isFinal: false, document: {} };
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
