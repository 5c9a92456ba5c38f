import { describe, expect, test } from 'vitest';
import { createLogReporter } from '../../src/output/log-reporter.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { isFinalStatus } from '../../src/run/statuses.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { fault, run, target } from '../helpers/scripted-service.ts';

const state = (status: string) => ({
  executionId: run.executionId,
  status,
  isFinal: isFinalStatus(status),
  document: {},
});
const known = { run, lastConfirmed: { snapshot: state('RUNNING'), ageMs: 15_000 } };
const failed = (failures: number, silentMs: number): RunEvent => {
  const { fault: gateway } = fault('unavailable', { message: 'the service answered 502' });
  return {
    event: 'attempt_failed',
    resource: 'status',
    fault: gateway,
    failures,
    silentMs,
    retryForMs: 600_000,
    retryInMs: 2_000,
    ...known,
  };
};
const waiting: RunEvent = { event: 'waiting', for: 'poll', nextMs: 5_000, ...known };

const done = (pending: number) =>
  ({ event: 'run_done', run, document: {}, pending, failure: { name: 'not_found', endsAll: false } }) as const;

// How each line reads is in test/words.txt.
describe('the log', () => {
  test('has a sentence about a wait for another run every five minutes', async () => {
    const memory = createMemory();
    const { emit } = createLogReporter(memory);
    for (let second = 0; second <= 660; second += 5) {
      emit({ event: 'waiting', for: 'active_run', target, nextMs: 1_000 });
      await memory.clock.sleep(5_000);
    }
    expect(memory.err().match(/^nightly /gm)).toHaveLength(3);
  });

  test('has a sentence about each warning, once', () => {
    const memory = createMemory();
    const { emit } = createLogReporter(memory);
    for (const message of ['a', 'b', 'a']) emit({ event: 'warning', name: 'hook_failed', message });
    expect(memory.err()).toBe('runctl: a\nrunctl: b\n');
  });

  test('has with --quiet only the warnings that need somebody to act', () => {
    const memory = createMemory();
    const { emit } = createLogReporter(memory, { quiet: true });
    emit({ event: 'trigger_ended', run, isWatched: true, how: 'started' });
    emit({ event: 'warning', name: 'unknown_status', message: 'PAUSED is unknown', run });
    emit({ event: 'warning', name: 'agents_discontinued', message: 'Agents are discontinued' });
    emit({ event: 'warning', name: 'hook_failed', message: 'it ended with 1', run });
    emit({ event: 'warning', name: 'unresolved_trigger', message: 'recover it', target });
    emit({ event: 'warning', name: 'replayed_failure', message: 'no new run', run });
    emit({ event: 'status', run, snapshot: state('RUNNING'), changed: true });
    expect(memory.err()).toBe('runctl: it ended with 1\nrunctl: recover it\nrunctl: no new run\n');
  });
});

describe('the lines of the log about runs', () => {
  test('begin with the time and the name, on stderr', () => {
    const memory = createMemory();
    createLogReporter(memory).emit({ event: 'final', run, snapshot: state('COMPLETED') });
    expect([memory.err(), memory.out()]).toEqual(['2026-01-02 03:04:05 +0000 nightly COMPLETED\n', '']);
  });

  test.each<[string, RunEvent]>([
    ['a poll that changes nothing', { event: 'status', run, snapshot: state('RUNNING'), changed: false }],
    [
      'the poll that finds the end, which is reported as that',
      { event: 'status', run, snapshot: state('FAILED'), changed: true },
    ],
    [
      'a trigger that failed, which is reported at the end',
      { event: 'trigger_ended', how: 'not_started', target, isWatched: true },
    ],
    ['the end of the last run, which is reported in full', done(0)],
    ['an interruption of one of several', { ...done(1), failure: { name: 'interrupted', endsAll: true } }],
    ['a wait just begun', waiting],
  ])('say nothing about %s', (_, event) => {
    const memory = createMemory();
    createLogReporter(memory).emit(event);
    expect(memory.err()).toBe('');
  });

  /** The minutes at which a line is written when the same happens every five seconds. */
  const minutesOf = async (event: RunEvent, minutes: number) => {
    const memory = createMemory();
    const { emit } = createLogReporter(memory);
    for (let second = 0; second <= minutes * 60; second += 5) {
      emit(event);
      await memory.clock.sleep(5_000);
    }
    return [...memory.err().matchAll(/ (\d\d):(\d\d):05 /g)].map(
      ([, hour, minute]) => Number(hour) * 60 + Number(minute) - 184,
    );
  };

  test('repeat that nothing has changed after a minute, then every five', async () => {
    expect(await minutesOf(waiting, 22)).toEqual([1, 6, 11, 16, 21]);
  });

  test('say once that there will be ten seconds without a valid response before the next attempt in 2s', async () => {
    expect(await minutesOf(failed(7, 7_999), 22)).toEqual([1, 6, 11, 16, 21]);
    expect(await minutesOf(failed(7, 8_000), 22)).toEqual([0, 1, 6, 11, 16, 21]);
  });

  test('say in each outage how long the service has been silent', () => {
    const memory = createMemory();
    const { emit } = createLogReporter(memory);
    const back: RunEvent = { event: 'service_back', run, afterMs: 12_000 };
    for (const event of [failed(7, 8_000), back, failed(7, 8_000)]) emit(event);
    expect(memory.err().match(/ no valid response /g)).toHaveLength(2);
  });

  test('have no line break, escape or control character from the service', () => {
    const memory = createMemory();
    const { emit } = createLogReporter(memory);
    const hostile = 'a\r\nb\u001B[2Jc\u202Ed\u0007';
    const named = { ...run, target: { ...run.target, automationName: hostile } };
    emit({ event: 'status', run: named, snapshot: state(hostile), changed: true });
    emit({
      event: 'attempt_failed',
      resource: 'status',
      fault: fault('lost', { message: hostile }).fault,
      failures: 1,
      silentMs: 0,
      retryForMs: 600_000,
      retryInMs: 1,
      run,
      lastConfirmed: { snapshot: state(hostile), ageMs: 0 },
    });
    emit({ event: 'warning', name: 'hook_failed', message: hostile });
    expect(memory.err().split('\n')).toHaveLength(4);
    expect(memory.err().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202E]/u);
  });
});
