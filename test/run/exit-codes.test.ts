import { expect, test } from 'vitest';
import { type ExitName, exitCodeOfAll } from '../../src/run/exit-codes.ts';

test.each<[ExitName[], number]>([
  [[], 0],
  [['ok'], 0],
  [['ok', 'run_failed', 'already_active'], 1],
  [['already_active', 'run_failed'], 5],
  [['run_failed', 'outcome_unknown'], 12],
  [['outcome_unknown', 'interrupted'], 130],
  [['run_failed', 'ok', 'interrupted_terminated'], 143],
])('a command with the exit names %j exits with %i', (names, code) => {
  expect(exitCodeOfAll(names)).toBe(code);
});
