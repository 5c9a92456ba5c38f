import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/problems/problem.ts';
import {
  exitNameOfWatch,
  pollProblem,
  watchFailedProblem,
  watchProblem,
  watchWarning,
} from '../../src/problems/watch-problems.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
import type { FinishedWatch, UnfinishedWatch, WatchResult } from '../../src/watching/watch-result.ts';
import { executionId, fault, run, target } from '../helpers/scripted-service.ts';

const { signal } = new AbortController();
const terminated = AbortSignal.abort('SIGTERM');
const minute = 60_000;
const hour = 60 * minute;

const of = (status: string) => ({ status, isFinal: isFinalStatus(status), document: {} });
const seen = { run, execution: of('RUNNING'), ageMs: 8 * hour + minute };
const unavailable = fault('unavailable', { httpStatus: 503, message: 'the service is unavailable' }).fault;
const finishedWithoutResult: FinishedWatch = {
  kind: 'finished',
  run,
  execution: of('COMPLETED'),
  resultFault: unavailable,
};
const asksForAnHour = { ...unavailable, retryAfterMs: hour };
const resume = `\`runctl watch ${executionId}\``;

describe('a run that was left', () => {
  test.each<[string, UnfinishedWatch, string, number, string, string]>([
    [
      'after silence',
      { kind: 'gave_up', giveUpAfterMs: 10 * minute, fault: unavailable, ...seen },
      'unavailable',
      10,
      "nightly couldn't be followed: no valid response for 10m, the service is unavailable; the run may still be running, last confirmed RUNNING 8h 1m ago (HTTP 503)",
      resume,
    ],
    [
      'that was never confirmed',
      { kind: 'gave_up', giveUpAfterMs: 10 * minute, fault: unavailable, run },
      'unavailable',
      10,
      "nightly couldn't be followed: no valid response for 10m, the service is unavailable; the run may still be running, its status was never confirmed (HTTP 503)",
      resume,
    ],
    [
      'at the timeout',
      { kind: 'timed_out', timeoutMs: minute, ...seen },
      'timeout',
      124,
      'stopped watching nightly after 1m; the run continues, last confirmed RUNNING 8h 1m ago',
      resume,
    ],
    [
      'at the timeout, though it was known to have finished',
      { kind: 'timed_out', timeoutMs: minute, run, execution: of('COMPLETED'), ageMs: minute },
      'timeout',
      124,
      'stopped watching nightly after 1m; last confirmed COMPLETED 1m ago',
      resume,
    ],
    [
      'before the timeout, since the service asks for a longer wait',
      { kind: 'timed_out', timeoutMs: minute, fault: asksForAnHour, ...seen },
      'timeout',
      124,
      'stopped watching nightly after 1m: the service is unavailable; the run continues, last confirmed RUNNING 8h 1m ago (HTTP 503)',
      `try again in 1h, as the service asks; ${resume}`,
    ],
    [
      "since the service doesn't know it",
      { kind: 'refused', fault: fault('not_found', { httpStatus: 422 }).fault, run },
      'not_found',
      6,
      `nightly has no run ${executionId} (HTTP 422)`,
      'check the id, the project and the automation; `runctl list` shows the runs of this machine',
    ],
    [
      'by the user',
      { kind: 'interrupted', reason: 'SIGTERM', ...seen },
      'interrupted_terminated',
      143,
      'stopped watching nightly; the run continues',
      resume,
    ],
  ])('%s has a name, an exit code, a message and a next command', (_, watched, name, exitCode, message, hint) => {
    const problem = watchProblem(watched, signal);
    expect(problem).toMatchObject({ exitCode, message, facts: { name, hint, started: 'no' } });
  });
});

describe('a run that has finished', () => {
  const finished = (status: string): FinishedWatch => ({
    kind: 'finished',
    run: { target, executionId },
    execution: of(status),
  });
  const tooLarge = fault('too_large', { message: 'too large' }).fault;
  const interrupted = fault('interrupted').fault;

  test.each(['COMPLETED', 'FAILED'])('has no problem when it is %s', (status) => {
    expect(watchProblem(finished(status), signal)).toBeUndefined();
    expect(watchWarning(finished(status))).toBeUndefined();
  });

  test.each([
    [
      'COMPLETED',
      unavailable,
      signal,
      13,
      "nightly finished COMPLETED, but its result couldn't be read: the service is unavailable (HTTP 503)",
    ],
    ['COMPLETED', interrupted, terminated, 143, 'interrupted; nightly finished COMPLETED, but its result was not read'],
    ['FAILED', interrupted, terminated, 143, 'interrupted; nightly finished FAILED, but its result was not read'],
  ])('%s, whose result was not read names `runctl result` (%j)', (status, resultFault, by, exitCode, message) => {
    const problem = watchProblem({ ...finished(status), resultFault }, by);
    expect(problem).toMatchObject({ exitCode, message });
    expect(problem?.facts.hint).toBe(`\`runctl result ${executionId}\``);
  });

  test("names the cause in the problem where the result of a completed run can't be read", () => {
    const problem = watchProblem({ ...finished('COMPLETED'), resultFault: unavailable }, signal);
    expect(problem).toMatchObject({ exitCode: 13, facts: { shownName: 'unavailable' } });
  });

  test.each([
    ['FAILED', 'run_failed'],
    ['TIMED_OUT', 'run_timed_out'],
    ['CANCELLED', 'run_cancelled'],
  ])("%s keeps its own exit code, with a warning, where its result can't be read", (status, name) => {
    const watched = { ...finished(status), resultFault: unavailable };
    expect(watchProblem(watched, signal)).toBeUndefined();
    expect(exitNameOfWatch(watched, undefined)).toBe(name);
    expect(watchWarning(watched)).toEqual({
      name: 'result_unavailable',
      message: `the run finished ${status}, but its result couldn't be read: the service is unavailable (HTTP 503)`,
    });
  });

  test('is warned of where status and result disagree', () => {
    const disagreement = { status: 'COMPLETED', result: 'FAILED' };
    expect(watchWarning({ ...finished('FAILED'), disagreement })).toEqual({
      name: 'conflicting_status',
      message: 'the service reports status COMPLETED for the run, but FAILED in its result; runctl uses FAILED',
    });
  });

  test('whose result is too large is told the limit, not sent to read it again', () => {
    const problem = watchProblem({ ...finished('COMPLETED'), resultFault: tooLarge }, signal);
    expect(problem?.facts.hint).toMatch(/64 MiB.*runctl status/);
  });
});

describe('a run of `trigger --watch` that could not be followed', () => {
  const watched = { run, kind: 'gave_up', giveUpAfterMs: minute, fault: unavailable } as const;

  test('ends with 14, and names the cause in the problem', () => {
    const problem = watchFailedProblem(watchProblem(watched, signal, { argument: 'nightly' }) as Problem);
    expect(problem.facts.hint).toBe('`runctl watch nightly`');
    expect(problem).toMatchObject({ exitCode: 14, facts: { shownName: 'unavailable', httpStatus: 503 } });
  });

  test.each<[WatchResult, number]>([
    [{ ...seen, kind: 'timed_out', timeoutMs: minute }, 124],
    [{ ...seen, kind: 'interrupted', reason: 'SIGTERM' }, 143],
    [finishedWithoutResult, 13],
  ])('keeps the code of another end (%#)', (ended, exitCode) => {
    expect(watchFailedProblem(watchProblem(ended, signal) as Problem).exitCode).toBe(exitCode);
  });
});

describe('a request that failed is followed by the hint', () => {
  const argument = 'nightly';
  test.each([
    ['of the fault itself, first of all', { hint: 'check the proxy', retryAfterMs: minute }, 'check the proxy'],
    [
      'when to try again, if the service asks for a wait',
      { retryAfterMs: minute },
      'try again in 1m, as the service asks',
    ],
    ['to repeat the command, where nothing else helps', {}, undefined],
  ])('%s', (_, fields, hint) => {
    const failed = fault('throttled', fields).fault;
    for (const operation of ['status', 'result'] as const) {
      const expected = hint ?? `\`runctl ${operation} nightly\``;
      expect(pollProblem(failed, { operation, run, argument }).facts.hint).toBe(expected);
    }
    const watched = { ...finishedWithoutResult, resultFault: failed };
    expect(watchProblem(watched, signal, { argument })?.facts.hint).toBe(hint ?? '`runctl result nightly`');
  });
});
