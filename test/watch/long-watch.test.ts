import { beforeAll, describe, expect, test, vi } from 'vitest';
import { plainHintContext } from '../../src/messages/hint-context.ts';
import { diagnosticOf } from '../../src/messages/outcome-diagnostics.ts';
import type { WatchOptions } from '../../src/ports.ts';
import { exitNameOfOutcome, factsOf } from '../../src/run/exit-of.ts';
import type { Fault, FaultKind } from '../../src/run/fault.ts';
import { defaults } from '../../src/run/limits.ts';
import type { Answer, RunResource, Service } from '../../src/run/service.ts';
import { watchRun } from '../../src/watch/watch-run.ts';
import { createWatchSession } from '../../src/watch/watch-session.ts';
import { createConnection } from '../helpers/connection.ts';
import { hour, minute, second } from '../helpers/durations.ts';
import { propertyTimeoutMs } from '../helpers/property-runs.ts';
import { createRandom } from '../helpers/random.ts';
import { fault, resultOf, run, state } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

vi.setConfig({ testTimeout: propertyTimeoutMs });

interface Outage {
  /** Default both. */
  on?: RunResource;
  fromMs: number;
  forMs: number;
  kind: FaultKind;
  fields?: Partial<Fault>;
  /** How long each attempt hangs before it fails. */
  hangMs?: number;
}

interface Flags {
  timeoutMs?: number;
  giveUpAfterMs?: number;
  watchOptions?: WatchOptions;
}

/** Watches a run that ends after `endsAtMs` with the program's own schedule and these flags, through outages. */
async function watch(endsAtMs: number, outages: Outage[], flags: Flags = {}) {
  const { timeoutMs = defaults.timeoutMs, ...limits } = flags;
  const clock = createVirtualClock();
  const random = createRandom(7);
  const startedAt = new Date(clock.nowMs()).toISOString();
  const sentAtMs: number[] = [];
  const answer = async <T>(asked: Outage['on'], limitMs = 0, good: () => Answer<T>): Promise<Answer<T>> => {
    const nowMs = clock.elapsedMs();
    sentAtMs.push(nowMs);
    const outage = outages.find(
      ({ on = asked, fromMs, forMs }) => on === asked && nowMs >= fromMs && nowMs < fromMs + forMs,
    );
    if (outage?.hangMs) await clock.sleep(Math.min(limitMs, outage.hangMs));
    return outage ? fault(outage.kind, outage.fields) : good();
  };
  const isOver = () => clock.elapsedMs() >= endsAtMs;
  const service: Service = {
    trigger: () => expect.unreachable(),
    status: (_, __, sending) =>
      answer('status', sending?.timeoutMs, () => state(isOver() ? 'COMPLETED' : 'RUNNING', { startedAt })),
    result: (_, __, sending) => answer('result', sending?.timeoutMs, () => resultOf('COMPLETED')),
  };
  const connection = createConnection(service, {
    clock,
    random,
    session: createWatchSession(timeoutMs, clock),
    ...limits,
  });
  const watched = await watchRun({ run }, connection);
  const { snapshot, result } = factsOf(watched);
  return {
    problem: diagnosticOf(watched, plainHintContext) && exitNameOfOutcome(watched),
    status: snapshot,
    result,
    requests: sentAtMs.length,
    sentAtMs,
    lagMs: clock.elapsedMs() - endsAtMs,
  };
}

describe('a long watch', () => {
  const end = 3 * hour;
  let undisturbed: Awaited<ReturnType<typeof watch>>;
  beforeAll(async () => {
    undisturbed = await watch(end, []);
  });

  test('of three hours makes about 776 requests if nothing fails, and sees the end within one gap between polls', () => {
    const { problem, requests, lagMs } = undisturbed;
    expect(problem).toBeUndefined();
    expect(requests).toBeGreaterThan(700);
    expect(requests).toBeLessThan(850);
    expect(lagMs).toBeLessThan(17 * second);
  });

  test('ends with the final status through many kinds of failures, with no more requests, and as soon', async () => {
    const {
      problem,
      status: snapshot,
      result,
      requests,
      lagMs,
    } = await watch(end, [
      { fromMs: 0, forMs: 20 * second, kind: 'unreachable' },
      { fromMs: hour, forMs: 9 * minute, kind: 'throttled', fields: { retryAfterMs: 2 * second } },
      { fromMs: 1.5 * hour, forMs: 9 * minute, kind: 'unavailable', fields: { httpStatus: 502 } },
      { fromMs: 2 * hour, forMs: 9 * minute, kind: 'lost', hangMs: 30 * second },
      { fromMs: 2.5 * hour, forMs: 9 * minute, kind: 'unreadable' },
      { fromMs: 2.75 * hour, forMs: 9 * minute, kind: 'rejected', fields: { httpStatus: 522 } },
      { fromMs: 2.95 * hour, forMs: 2 * minute, kind: 'tls_handshake_failed' },
    ]);
    expect(problem).toBeUndefined();
    expect([snapshot?.status, result?.status]).toEqual(['COMPLETED', 'COMPLETED']);
    expect(requests).toBeLessThan(1_000);
    expect(lagMs).toBeLessThan(17 * second);
  });

  test('of three hours makes less than twice as many requests through thirty outages', async () => {
    const outages = Array.from({ length: 30 }, (_, n): Outage => {
      return { fromMs: n * 6 * minute, forMs: 3 * minute, kind: 'unavailable' };
    });
    const { problem, requests } = await watch(end, outages);
    expect(problem).toBeUndefined();
    expect(requests).toBeLessThan(2 * undisturbed.requests);
  });

  test.each<[string, Partial<Outage>]>([
    ['an unreachable network', { kind: 'unreachable' }],
    ['502s', { kind: 'unavailable', fields: { httpStatus: 502 } }],
    ['429s', { kind: 'throttled' }],
    ['answers that never come', { kind: 'lost', hangMs: 30 * second }],
    ['pages of a proxy', { kind: 'unreadable' }],
    ['a hotel that wants a login', { kind: 'tls_handshake_failed' }],
  ])('tolerates nine minutes of %s, and gives up after eleven', async (_, outage) => {
    const at = { fromMs: 2 * hour, kind: 'lost' as const, ...outage };
    const tolerated = await watch(end, [{ ...at, forMs: 9 * minute }]);
    expect(tolerated).toMatchObject({ problem: undefined, result: { status: 'COMPLETED' } });
    const ended = await watch(end, [{ ...at, forMs: 11 * minute }]);
    expect(ended.problem).toBe(outage.kind === 'throttled' ? 'rate_limited' : 'unavailable');
    expect(ended.status?.status).toBe('RUNNING');
    const outAtMs = ended.lagMs + end - at.fromMs;
    expect(outAtMs).toBeGreaterThanOrEqual(9.4 * minute);
    expect(outAtMs).toBeLessThanOrEqual(11 * minute);
  });

  test('tolerates an hour of 429s that ask for a minute, because a requested wait is no silence', async () => {
    const outage = { fromMs: hour, forMs: hour, kind: 'throttled', fields: { retryAfterMs: minute } } as const;
    const { problem, requests } = await watch(end, [outage]);
    expect(problem).toBeUndefined();
    expect(requests).toBeLessThan(undisturbed.requests);
  });

  test('lasts fifty hours if nothing limits it', async () => {
    const { problem, requests } = await watch(50 * hour, [], {
      timeoutMs: Number.POSITIVE_INFINITY,
      watchOptions: { interval: 5 * minute },
    });
    expect(problem).toBeUndefined();
    expect(requests).toBe(50 * 12 + 2);
  });
});
