import { describe, expect, test } from 'vitest';
import { watchProblem } from '../../src/problems/watch-problems.ts';
import type { FinishedWatch, UnfinishedWatch } from '../../src/runs/watch-result.ts';
import { executionId, fault, run, target } from '../helpers/scripted-service.ts';

const { signal } = new AbortController();
const terminated = AbortSignal.abort('SIGTERM');
const minute = 60_000;
const hour = 60 * minute;

const of = (status: string) => ({ status, document: {} });
const seen = { run, execution: of('RUNNING'), ageMs: 8 * hour + minute };
const unavailable = fault('unavailable', { httpStatus: 503, message: 'the service answered 503' }).fault;
const asksForAnHour = { ...unavailable, retryAfterMs: hour };
const resume = `follow it again with \`runctl watch ${executionId}\``;

describe('a run that was left', () => {
  test.each<[string, UnfinishedWatch, string, number, string, string]>([
    [
      'after silence',
      { kind: 'gave_up', giveUpAfterMs: 10 * minute, fault: unavailable, ...seen },
      'unavailable',
      10,
      'no good answer for 10m (the service answered 503): the run may still be going, last seen RUNNING 8h 1m ago',
      resume,
    ],
    [
      'that was never seen',
      { kind: 'gave_up', giveUpAfterMs: 10 * minute, fault: unavailable, run },
      'unavailable',
      10,
      'no good answer for 10m (the service answered 503): the run may still be going, its state was never confirmed',
      resume,
    ],
    [
      'since the service asks for a longer wait',
      { kind: 'gave_up', giveUpAfterMs: 10 * minute, fault: asksForAnHour, ...seen },
      'unavailable',
      10,
      'the service answered 503, and the wait it asks for outlasts `--give-up-after` (10m): the run may still be going, last seen RUNNING 8h 1m ago',
      `come back in 1h, as the service asks; ${resume}`,
    ],
    [
      'at the timeout',
      { kind: 'timed_out', timeoutMs: minute, ...seen },
      'watch_timeout',
      124,
      'the limit of 1m passed: the run goes on, last seen RUNNING 8h 1m ago',
      resume,
    ],
    [
      'before the timeout, since the service asks for a longer wait',
      { kind: 'timed_out', timeoutMs: minute, fault: asksForAnHour, ...seen },
      'watch_timeout',
      124,
      'the service answered 503, and the limit of 1m passes first: the run goes on, last seen RUNNING 8h 1m ago',
      `come back in 1h, as the service asks; ${resume}`,
    ],
    [
      'since the service does not know it',
      { kind: 'refused', fault: fault('not_found', { message: 'the service answered 422' }).fault, run },
      'not_found',
      6,
      `the service answered 422: there is no run ${executionId} under nightly`,
      'check the id, the project and the automation name; `runctl list` shows the runs known here',
    ],
    [
      'by the user',
      { kind: 'interrupted', reason: 'SIGTERM', ...seen },
      'interrupted_terminated',
      143,
      'interrupted: the run goes on',
      resume,
    ],
  ])('%s has a name, an exit code, a message and a next command', (_, watched, name, exitCode, message, hint) => {
    const problem = watchProblem(watched, signal);
    expect(problem).toMatchObject({ exitCode, message, facts: { name, hint, started: 'no' } });
  });
});

describe('a run that has finished', () => {
  const finished: FinishedWatch = { kind: 'finished', run: { target, executionId }, execution: of('FAILED') };

  test('has no problem, whatever its status', () => {
    expect(watchProblem(finished, signal)).toBeUndefined();
  });

  test.each([
    [unavailable, signal, 13, 'the run ended FAILED, but its result could not be read: the service answered 503'],
    [fault('interrupted').fault, terminated, 143, 'interrupted: the run ended FAILED, its result was not read'],
  ])('whose result was not read names its status and `runctl result` (%j)', (resultFault, by, exitCode, message) => {
    const problem = watchProblem({ ...finished, resultFault }, by);
    expect(problem).toMatchObject({ exitCode, message });
    expect(problem?.facts.hint).toBe(`ask again with \`runctl result ${executionId}\``);
  });

  test('whose result is too large has the command that reads it', () => {
    const problem = watchProblem({ ...finished, resultFault: fault('too_large').fault }, signal);
    expect(problem?.facts.hint).toBe(`read it whole with \`runctl result ${executionId} --max-output 512MiB\``);
  });
});
