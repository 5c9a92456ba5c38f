import { describe, expect, test } from 'vitest';
import { createBudget } from '../../src/runs/budget.ts';
import { type FollowOptions, follow } from '../../src/runs/follow.ts';
import type { FollowEvent } from '../../src/runs/follow-event.ts';
import type { Service } from '../../src/runs/service.ts';
import { createTempo } from '../../src/runs/tempo.ts';
import { executionId, fault, resultOf, run, running, scriptedService, state } from '../helpers/scripted-service.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

async function followed(
  service: Service,
  options: Partial<FollowOptions> = {},
  {
    clock = createVirtualClock(),
    signal = new AbortController().signal,
  }: { clock?: VirtualClock; signal?: AbortSignal } = {},
) {
  const events: FollowEvent[] = [];
  const ending = await follow(
    options.triggeredAtMs === undefined ? run : { ...run },
    { pace: { gapMs: () => 10 * second }, timeoutMs: 3.25 * hour, giveUpAfterMs: 10 * minute, ...options },
    {
      service,
      clock,
      random: () => 0.5,
      signal,
      budget: createBudget(10, clock),
      tempo: createTempo(),
      observe: (event) => events.push(event),
    },
  );
  const told = events.filter(({ event }) => event !== 'waiting').map(({ event }) => event);
  return { ending, events, told, clock, elapsedMs: clock.elapsedMs() };
}

describe('a watch ends', () => {
  test.each(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'])(
    'when the run is %s, with its result',
    async (status) => {
      const service = scriptedService({ status: [running(), state(status)], result: [resultOf(status)] });
      const { ending, told } = await followed(service);
      expect(ending).toMatchObject({ execution: { status }, result: { output: 'done' } });
      expect(ending.problem).toBeUndefined();
      expect(told).toEqual(['status', 'status', 'final']);
    },
  );

  test.each([
    ['unauthorized', 7],
    ['not_found', 6],
    ['rejected', 11],
  ] as const)('at once when the service says %s (%i)', async (kind, exitCode) => {
    const service = scriptedService({ status: [running(), fault(kind)] });
    const { ending } = await followed(service);
    expect(ending.problem?.exitCode).toBe(exitCode);
    expect(ending.execution?.status).toBe('RUNNING');
    expect(service.calls.status).toBe(2);
  });

  test('with 124 when the limit passes, after one last look on the limit itself', async () => {
    const service = scriptedService({ status: [running()] });
    const { ending, elapsedMs } = await followed(service, { timeoutMs: 65 * second });
    expect(ending.problem?.exitCode).toBe(124);
    expect(elapsedMs).toBe(65 * second);
    expect(service.calls.status).toBe(8);
  });

  test('as completed when the last look finds it so', async () => {
    const looks = [...Array(7).fill(running()), state('COMPLETED')];
    const { ending } = await followed(scriptedService({ status: looks, result: [resultOf('COMPLETED')] }), {
      timeoutMs: 65 * second,
    });
    expect(ending.problem).toBeUndefined();
  });

  test('with 10 when nothing good was heard for the whole of patience, and says what was confirmed last', async () => {
    const { ending, elapsedMs } = await followed(scriptedService({ status: [running(), fault('unavailable')] }));
    expect(ending.problem).toMatchObject({ exitCode: 10, facts: { started: 'no' }, safeToRepeat: true });
    expect(ending.problem?.message).toContain('last seen RUNNING 10m');
    expect(elapsedMs).toBe(10 * minute);
  });

  test('at once when the user interrupts, and leaves the run alone', async () => {
    const abort = new AbortController();
    const service = scriptedService({ status: [running()] });
    const interrupting: Service = {
      ...service,
      status: async (...args) => {
        const answer = await service.status(...args);
        if (service.calls.status === 3) setImmediate(() => abort.abort('SIGTERM'));
        return answer;
      },
    };
    const { ending, elapsedMs } = await followed(interrupting, {}, { signal: abort.signal });
    expect(ending.problem?.exitCode).toBe(143);
    expect(ending.problem?.facts.hint).toContain(`runctl watch ${executionId}`);
    expect(elapsedMs).toBeLessThanOrEqual(30 * second);
  });
});

describe('a watch is not ended', () => {
  test.each(['unreachable', 'lost', 'unavailable', 'throttled', 'unreadable'] as const)(
    'by nine minutes of %s',
    async (kind) => {
      const clock = createVirtualClock();
      const calm = scriptedService({ status: [running()] });
      const service: Service = {
        ...scriptedService({ result: [resultOf('COMPLETED')] }),
        status: async (...args) => {
          const atMs = clock.elapsedMs();
          if (atMs > 20 * minute) return state('COMPLETED');
          return atMs > 5 * minute && atMs < 14 * minute ? fault(kind) : calm.status(...args);
        },
      };
      const { ending, told } = await followed(service, {}, { clock });
      expect(ending.problem).toBeUndefined();
      expect(told).toContain('recovered');
    },
  );

  test.each(['untrusted', 'redirected', 'proxy_refused'] as const)('by %s once the run was seen', async (kind) => {
    const service = scriptedService({
      status: [running(), fault(kind), state('COMPLETED')],
      result: [resultOf('COMPLETED')],
    });
    expect((await followed(service)).ending.problem).toBeUndefined();
    const never = scriptedService({ status: [fault(kind)] });
    expect((await followed(never)).ending.problem).toBeDefined();
    expect(never.calls.status).toBe(1);
  });

  test('by a state it does not know', async () => {
    const service = scriptedService({
      status: [running(), state('PAUSED'), state('COMPLETED')],
      result: [resultOf('COMPLETED')],
    });
    expect((await followed(service)).told).toEqual(['status', 'status', 'status', 'final']);
  });

  test('by a run that is not found within 30 seconds of our own trigger', async () => {
    const clock = createVirtualClock();
    const service = scriptedService({
      status: [fault('not_found'), fault('not_found'), state('COMPLETED')],
      result: [resultOf('COMPLETED')],
    });
    const { ending } = await followed(service, { triggeredAtMs: clock.nowMs() }, { clock });
    expect(ending.problem).toBeUndefined();
    const never = scriptedService({ status: [fault('not_found')] });
    const late = createVirtualClock();
    const given = await followed(never, { triggeredAtMs: late.nowMs() }, { clock: late });
    expect(given.ending.problem?.exitCode).toBe(6);
    expect(given.elapsedMs).toBeGreaterThanOrEqual(30 * second);
    expect(given.elapsedMs).toBeLessThan(minute);
  });

  test('by a laptop that sleeps: it looks at once when it wakes, and patience begins anew', async () => {
    const clock = createVirtualClock();
    const looksAtMs: number[] = [];
    const service: Service = {
      ...scriptedService({ result: [resultOf('COMPLETED')] }),
      status: async () => {
        looksAtMs.push(clock.elapsedMs());
        if (looksAtMs.length === 2) setImmediate(() => clock.suspend(8 * hour));
        if (looksAtMs.length < 4) return running();
        return looksAtMs.length < 10 ? fault('unreachable') : state('COMPLETED');
      },
    };
    const { ending } = await followed(service, { pace: { gapMs: () => 5 * minute } }, { clock });
    expect(ending.problem).toBeUndefined();
    expect((looksAtMs[2] ?? 0) - (looksAtMs[1] ?? 0)).toBeLessThanOrEqual(5 * second);
  });
});

describe('Retry-After', () => {
  test('is never shortened, not even by the limit', async () => {
    const clock = createVirtualClock();
    const looksAtMs: number[] = [];
    const service: Service = {
      ...scriptedService({}),
      status: async () => {
        looksAtMs.push(clock.elapsedMs());
        return fault('throttled', { retryAfterMs: 100 * second });
      },
    };
    const { ending } = await followed(service, { timeoutMs: 150 * second }, { clock });
    expect(looksAtMs).toEqual([0, 100 * second]);
    expect(ending.problem?.exitCode).toBe(124);
  });

  test('longer than patience ends the watch at once, and says when to come back', async () => {
    const service = scriptedService({ status: [running(), fault('throttled', { retryAfterMs: hour })] });
    const { ending, elapsedMs } = await followed(service);
    expect(ending.problem).toMatchObject({ exitCode: 10 });
    expect(ending.problem?.facts.hint).toContain('come back in 1h');
    expect(elapsedMs).toBeLessThan(minute);
  });

  test('slows the looks that follow', async () => {
    const service = scriptedService({
      status: [running(), fault('throttled'), running(), state('COMPLETED')],
      result: [resultOf('COMPLETED')],
    });
    const { elapsedMs } = await followed(service);
    expect(elapsedMs).toBeGreaterThan(25 * second);
  });
});

describe('the result of a run that has ended', () => {
  test('is asked for again while it still says RUNNING', async () => {
    const service = scriptedService({
      status: [state('COMPLETED')],
      result: [resultOf('RUNNING'), fault('unavailable'), resultOf('COMPLETED')],
    });
    const { ending } = await followed(service);
    expect(ending.result?.status).toBe('COMPLETED');
    expect(service.calls.result).toBe(3);
  });

  test.each([
    ['stays late', resultOf('RUNNING')],
    ['is refused', fault('unauthorized')],
    ['is too large', fault('too_large', { transient: false })],
  ])('that %s ends with 13 and the state that is known', async (_, answer) => {
    const { ending } = await followed(scriptedService({ status: [state('FAILED')], result: [answer] }));
    expect(ending.problem?.exitCode).toBe(13);
    expect(ending.execution?.status).toBe('FAILED');
  });
});

test('an agent run ends at any state but RUNNING, and has no result to fetch', async () => {
  const agentRun = { target: { family: 'agent', agentId: executionId } as const, executionId };
  const clock = createVirtualClock();
  const ending = await follow(
    agentRun,
    { pace: { gapMs: () => second }, timeoutMs: hour, giveUpAfterMs: minute },
    {
      service: scriptedService({ status: [running(), state('STOPPED')] }),
      clock,
      random: Math.random,
      signal: new AbortController().signal,
      budget: createBudget(10, clock),
      tempo: createTempo(),
      observe: () => {},
    },
  );
  expect(ending).toMatchObject({ execution: { status: 'STOPPED' }, problem: undefined });
});
