import { expect, test } from 'vitest';
import { usualOf } from '../../src/run/usual-duration.ts';
import { minute, second } from '../helpers/durations.ts';

const times = (count: number, durationMs: number) => Array.from({ length: count }, () => durationMs);

test.each<[string, number[], string | undefined]>([
  ['no runs', [], undefined],
  ['two runs', times(2, minute), undefined],
  ['three runs in any order', [3 * minute, minute, 2 * minute], 'usually 2m'],
  ['an even number of runs', [4, 1, 3, 2].map((each) => each * minute), 'usually 2m'],
  ['runs of which one was odd', [minute, minute, 180 * minute, minute, minute], 'usually 1m'],
  ['runs of 100 s, which are compared as numbers', [100, 100, 100, 9, 9].map((each) => each * second), 'usually 2m'],
  ['runs under a minute', times(3, 41_600), 'usually 42s'],
  ['runs under a second', times(3, 200), 'usually 1s'],
  ['runs of almost a minute', times(3, 59_900), 'usually 1m'],
  ['runs of minutes and seconds', times(3, 4 * minute + 40_000), 'usually 5m'],
  ['runs over an hour', times(3, 83 * minute), 'usually 1h 23m'],
])('%s (%j) usually take: %s', (_, durationsMs, usual) => expect(usualOf(durationsMs)).toBe(usual));
