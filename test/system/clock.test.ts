import { describe, expect, test } from 'vitest';
import { isAbortedByOsSignal, onAbort, pause, stopwatch } from '../../src/system/clock.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

const { signal } = new AbortController();

test.each([
  ['both clocks go on', 0, 5000],
  ['the machine sleeps', 60_000, 65_000],
  ['the wall clock is set back', -60_000, 5000],
])('a stopwatch measures by the clock that has gone further, if %s', async (_, suspendedMs, expectedMs) => {
  const clock = createVirtualClock();
  await clock.sleep(1000);
  const tookMs = stopwatch(clock);
  await clock.sleep(5000);
  clock.suspend(suspendedMs);
  expect(tookMs()).toBe(expectedMs);
});

describe('a pause', () => {
  test.each([
    [12_000, [5000, 5000, 2000]],
    [0.4, [1]],
    [0, []],
    [-1, []],
  ])('of %d ms is taken in slices', async (ms, slicesMs) => {
    const clock = createVirtualClock();
    expect(await pause(ms, clock, signal)).toBe(false);
    expect(clock.sleepsMs).toEqual(slicesMs);
  });

  const [asleep, stopped] = [
    (ms: number) => (clock: VirtualClock) => clock.suspend(ms),
    (ms: number) => (clock: VirtualClock) => clock.stop(ms),
  ];
  const stoppedAndSetBack = (clock: VirtualClock) => {
    clock.stop(14_001);
    clock.suspend(-60_000);
  };
  test.each<[string, (clock: VirtualClock) => void, number | undefined, boolean, number]>([
    ['the machine slept for ten seconds', asleep(10_000), undefined, false, 60_000],
    ['the machine slept for longer', asleep(10_001), undefined, true, 10_000],
    ['the process was stopped until ten seconds after the slice', stopped(14_000), undefined, false, 60_000],
    ['the process was stopped for longer', stopped(14_001), undefined, true, 20_001],
    ['the process was stopped for longer, and the clock set back', stoppedAndSetBack, undefined, true, 20_001],
    ['half of the wait was asked for', asleep(3_600_000), 30_000, true, 30_000],
    ['all of the wait was asked for', asleep(3_600_000), 60_000, true, 60_000],
  ])('ends by the clock that can not be set if, meanwhile, %s', async (_, happens, leastMs, woke, endMs) => {
    const clock = createVirtualClock();
    clock.stop(1000);
    const begun = pause(60_000, clock, signal, leastMs);
    // In the second slice, so that the first one is no excuse.
    void clock.sleep(6000).then(() => happens(clock));
    expect(await begun).toBe(woke);
    expect(clock.elapsedMs()).toBe(1000 + endMs);
  });

  test.each([0, 7000])('ends at once with a signal that aborts after %d ms', async (abortMs) => {
    const clock = createVirtualClock();
    const abort = new AbortController();
    if (abortMs === 0) abort.abort();
    else void clock.sleep(abortMs).then(() => abort.abort());
    expect(await pause(60_000, clock, abort.signal)).toBe(false);
    expect(clock.elapsedMs()).toBe(abortMs);
  });
});

test('every listener that was not cancelled is called when a signal aborts, through one EventTarget listener', () => {
  const abort = new AbortController();
  let listeners = 0;
  const { signal } = abort;
  const listen = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof listen>) => {
    listeners += 1;
    listen(...args);
  };
  const called: string[] = [];
  const takeBack = ['a', 'b', 'c'].map((name) => onAbort(signal, () => called.push(name)))[1];
  takeBack?.();
  abort.abort();
  expect([called, listeners]).toEqual([['a', 'c'], 1]);
});

test.each([
  ['aborts with SIGTERM', AbortSignal.abort('SIGTERM'), true],
  ['aborts with an error', AbortSignal.abort(), false],
  ['has not aborted', new AbortController().signal, false],
])('a signal that %s means that the process was interrupted: %s', (_, signal, expected) => {
  expect(isAbortedByOsSignal(signal)).toBe(expected);
});
