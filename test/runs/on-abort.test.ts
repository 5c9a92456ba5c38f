import { expect, test } from 'vitest';
import { isInterrupted, onAbort } from '../../src/runs/clock.ts';

test('everybody who waits for a signal is called when it aborts, but those who took that back, through one listener', () => {
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
])('that a signal %s means that the process was interrupted: %s', (_, signal, expected) => {
  expect(isInterrupted(signal)).toBe(expected);
});
