import { describe, expect, test } from 'vitest';
import { watchProblem } from '../../src/problems/watch-problems.ts';
import type { RunEvent } from '../../src/runs/events.ts';
import type { WatchOptions, WatchPorts } from '../../src/runs/poll-until-final.ts';
import { createRateLimiter } from '../../src/runs/rate-limiter.ts';
import type { Run } from '../../src/runs/run.ts';
import type { Service } from '../../src/runs/service.ts';
import { watch as watchRun } from '../../src/runs/watch.ts';
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
}

async function watch(
  service: Service,
  { giveUpAfterMs = 10 * minute, ...options }: Partial<WatchOptions & Pick<WatchPorts, 'giveUpAfterMs'>> = {},
  {
    followed = run,
    clock = createVirtualClock(),
    signal = new AbortController().signal,
    chance = 0.5,
    rate = 10,
  }: Setting = {},
) {
  const events: RunEvent[] = [];
  const watched = await watchRun(
    followed,
    { schedule: { gapMs: () => 10 * second }, timeoutMs: 3.25 * hour, ...options },
    {
      service,
      clock,
      random: () => chance,
      signal,
      limiter: createRateLimiter(rate, clock),
      giveUpAfterMs,
      observe: (event) => events.push(event),
    },
  );
  const told = events.map(({ event }) => event).filter((event) => event !== 'waiting');
  const problem = watchProblem(watched, signal);
  return { watched, problem, events, told, elapsedMs: clock.elapsedMs() };
}

describe('a watch', () => {
  test('reports every minute that it waits, however rarely it polls', async () => {
    const service = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('COMPLETED')] });
    const { events } = await watch(service, { schedule: { gapMs: () => 2.5 * minute } });
    const waits = events.flatMap((event) => (event.event === 'waiting' ? [event.nextPollMs] : []));
    expect(waits).toEqual([2.5 * minute, 1.5 * minute, 0.5 * minute]);
    expect(service.calls.status).toBe(2);
  });

  test.each(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'])(
    'ends when the run is %s, with its result',
    async (status) => {
      const service = scriptedService({ status: [running(), state(status)], result: [resultOf(status)] });
      const { watched, told } = await watch(service);
      expect(watched).toMatchObject({ kind: 'finished', run, execution: { status }, result: { output: 'done' } });
      expect(told).toEqual(['status', 'status', 'final']);
    },
  );

  test('takes the time until it is its turn for no silence of the service', async () => {
    const blips = [fault('unavailable'), fault('lost')];
    const service = scriptedService({
      status: [running(), ...blips, state('COMPLETED')],
      result: [fault('unavailable'), resultOf('COMPLETED')],
    });
    const { watched } = await watch(service, { giveUpAfterMs: 10 * second }, { rate: 1 / 60 });
    expect(watched).toMatchObject({ kind: 'finished', result: { output: 'done' } });
  });

  test('tells of an outage and of its end', async () => {
    const status = [running(), fault('lost'), fault('unavailable'), running(), state('COMPLETED')];
    const { events, told } = await watch(scriptedService({ status, result: [resultOf('COMPLETED')] }));
    expect(told).toEqual(['status', 'poll_failed', 'poll_failed', 'service_back', 'status', 'status', 'final']);
    expect(events.filter(({ event }) => event === 'poll_failed')).toMatchObject([
      { failures: 1, silentMs: 0, retryInMs: 250, execution: { status: 'RUNNING' }, ageMs: 10_000 },
      { failures: 2, silentMs: 250, retryInMs: 500, execution: { status: 'RUNNING' }, ageMs: 10_250 },
    ]);
    expect(events.find(({ event }) => event === 'service_back')).toMatchObject({ afterMs: 750 });
  });

  test('that gives up says what was confirmed last, and that the run may be going', async () => {
    const service = scriptedService({ status: [running(), fault('unavailable')] });
    const { problem, watched } = await watch(service);
    expect(problem).toMatchObject({ exitCode: 10, safeToRepeat: true, facts: { started: 'no' } });
    expect(problem?.message).toContain('no good answer for 10m');
    expect(problem?.message).toContain('the run may still be going, last seen RUNNING 10m 10s ago');
    expect(watched.execution?.status).toBe('RUNNING');
  });

  test('that the service sends away for longer than patience says when to come back', async () => {
    const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs: hour })] });
    const { problem } = await watch(service);
    expect(problem?.message).toContain('the wait it asks for outlasts `--give-up-after` (10m)');
    expect(problem?.facts.hint).toContain('come back in 1h');
  });

  test('that the service sends away beyond its limit says so', async () => {
    const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs: minute })] });
    const { problem } = await watch(service, { timeoutMs: minute });
    expect(problem?.message).toContain('and the limit of 1m passes first: the run goes on, last seen RUNNING 10s ago');
    expect(problem?.facts.hint).toContain('come back in 1m');
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
    const { problem } = await watch(service, { giveUpAfterMs: minute }, { clock });
    expect(problem?.message).toContain('last seen RUNNING 8h 1m ago');
  });

  test('of a run that was over when the trigger was answered asks for the result alone', async () => {
    const service = scriptedService({ status: [running()], result: [resultOf('FAILED')] });
    const known = { executionId, status: 'FAILED', document: {} };
    const { watched } = await watch(service, { known });
    expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'FAILED' }, result: { status: 'FAILED' } });
    expect(service.calls.status).toBe(0);
  });

  test('of an agent run ends at any state but RUNNING, and has no result to fetch', async () => {
    const followed = { target: { family: 'agent', agentId: executionId } as const, executionId };
    const service = scriptedService({ status: [running(), state('STOPPED')] });
    const { watched } = await watch(service, {}, { followed });
    expect(watched).toEqual({
      kind: 'finished',
      run: followed,
      execution: expect.objectContaining({ status: 'STOPPED' }),
    });
  });

  test('whose result cannot be read tells the state that is known', async () => {
    const service = scriptedService({ status: [state('FAILED')], result: [fault('unauthorized')] });
    const { problem, watched } = await watch(service);
    expect(problem).toMatchObject({ exitCode: 13, message: expect.stringContaining('the run ended FAILED') });
    expect(watched.execution?.status).toBe('FAILED');
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
    const { problem, elapsedMs } = await watch(service, {}, { signal });
    expect(problem).toMatchObject({ exitCode: 143, message: 'interrupted: the run goes on' });
    expect(problem?.facts.hint).toContain(`runctl watch ${executionId}`);
    expect(elapsedMs).toBe(20 * second);
  });

  test('in the middle of an outage does the same', async () => {
    const { service, signal } = interrupting(scriptedService({ status: [running(), fault('lost')] }), 3);
    expect((await watch(service, {}, { signal })).problem?.exitCode).toBe(143);
  });

  test.each([
    ['with the final state', 2],
    ['while the result is late', 3],
  ])('%s is told of a run that has ended', async (_, nth) => {
    const late = scriptedService({ status: [running(), state('COMPLETED')], result: [resultOf('RUNNING')] });
    const { service, signal } = interrupting(late, nth);
    const { problem, watched } = await watch(service, {}, { signal });
    expect(problem).toMatchObject({ exitCode: 143, message: expect.stringContaining('the run ended COMPLETED') });
    expect(problem?.facts.hint).toContain(`runctl result ${executionId}`);
    expect(watched.execution?.status).toBe('COMPLETED');
  });
});
