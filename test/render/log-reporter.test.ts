import { describe, expect, test } from 'vitest';
import { Problem } from '../../src/problems/problem.ts';
import { createLineReporter } from '../../src/render/log-reporter.ts';
import type { ReportedEvent } from '../../src/render/reporter.ts';
import { lastConfirmed } from '../../src/render/state.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { executionId, fault, run } from '../helpers/scripted-service.ts';

const execution = (status: string) => ({ status, document: {} });
const known = { run, execution: execution('RUNNING'), ageMs: 15_000 };
const failed = (failures: number, silentMs: number): ReportedEvent => {
  const { fault: gateway } = fault('unavailable', { message: 'the service answered 502' });
  return { event: 'poll_failed', fault: gateway, failures, silentMs, retryInMs: 2_000, ...known };
};
const waiting: ReportedEvent = { event: 'waiting', nextPollMs: 5_000, ...known };

describe('a log', () => {
  test.each<[ReportedEvent, string]>([
    [{ event: 'status', run, execution: execution('RUNNING'), changed: true }, `RUNNING (run ${executionId})`],
    [
      { event: 'status', run, execution: execution('PAUSED'), changed: true },
      `PAUSED, a state this version does not know: following on (run ${executionId})`,
    ],
    [failed(1, 0), 'no good answer: the service answered 502; last seen RUNNING 15s ago; asking again in 2s'],
    [{ event: 'service_back', run, afterMs: 95_000 }, 'answers again after 1m 35s'],
    [{ event: 'final', run, execution: execution('COMPLETED') }, 'COMPLETED'],
  ])('says of %j: %s', (event, words) => {
    const memory = createMemory();
    createLineReporter(memory).observe(event);
    expect(memory.err()).toBe(`2026-01-02T03:04:05Z nightly ${words}\n`);
    expect(memory.out()).toBe('');
  });

  test.each<[string, ReportedEvent]>([
    ['a look that changes nothing', { event: 'status', run, execution: execution('RUNNING'), changed: false }],
    [
      'the look that finds the end, which is told as that',
      { event: 'status', run, execution: execution('FAILED'), changed: true },
    ],
    ['a trigger, which is told as it happens', { event: 'triggered', run, replayed: false }],
    [
      'a problem, which is told at the end',
      { event: 'problem', run, problem: new Problem({ name: 'usage', message: 'x' }) },
    ],
    ['a wait just begun', waiting],
  ])('says nothing of %s', (_, event) => {
    const memory = createMemory();
    createLineReporter(memory).observe(event);
    expect(memory.err()).toBe('');
  });

  /** The minutes at which a line is written when the same happens every five seconds. */
  const minutesOf = async (event: ReportedEvent, minutes: number) => {
    const memory = createMemory();
    const { observe } = createLineReporter(memory);
    for (let second = 0; second <= minutes * 60; second += 5) {
      observe(event);
      await memory.clock.sleep(5_000);
    }
    return [...memory.err().matchAll(/T(\d\d):(\d\d):05Z/g)].map(
      ([, hour, minute]) => Number(hour) * 60 + Number(minute) - 184,
    );
  };

  test('gives a sign of life after a minute, then every five', async () => {
    expect(await minutesOf(waiting, 22)).toEqual([1, 6, 11, 16, 21]);
  });

  test('does not repeat a failure more often than a sign of life', async () => {
    expect(await minutesOf(failed(7, 60_000), 22)).toEqual([1, 6, 11, 16, 21]);
  });

  test('holds neither a line break, an escape nor a control character of the service', () => {
    const memory = createMemory();
    const { observe, say } = createLineReporter(memory);
    const hostile = 'a\r\nb\u001B[2Jc\u202Ed\u0007';
    const named = { ...run, target: { ...run.target, automationName: hostile } };
    observe({ event: 'status', run: named, execution: execution(hostile), changed: true });
    observe({
      event: 'poll_failed',
      fault: fault('lost', { message: hostile }).fault,
      failures: 1,
      silentMs: 0,
      retryInMs: 1,
      ...known,
    });
    say(hostile);
    expect(memory.err().split('\n')).toHaveLength(4);
    expect(memory.err().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202E]/u);
  });
});

test.each([
  [{}, 'not confirmed yet'],
  [{ execution: execution('RUNNING'), ageMs: 8 * 3_600_000 }, 'last seen RUNNING 8h ago'],
  [{ execution: execution('RUN\u001B[1mNING') }, 'last seen RUNNING 0s ago'],
])('what was confirmed last: %j is %s', (given, words) => expect(lastConfirmed(given)).toBe(words));
