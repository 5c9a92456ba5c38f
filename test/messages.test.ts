import { expect, test } from 'vitest';
import { nextStepOf } from '../src/problems/next-step.ts';
import type { Problem } from '../src/problems/problem.ts';
import {
  expiredKeyProblem,
  interruptedTriggerProblem,
  noRunProblem,
  otherAccountProblem,
  refusedTriggerProblem,
  slotTimeoutProblem,
  tooOldProblem,
  triggerProblem,
  usedKeyProblem,
} from '../src/problems/trigger-problems.ts';
import { interruptedProblem, pollProblem } from '../src/problems/watch-problems.ts';
import type { Fault } from '../src/runs/fault.ts';
import { executionId, projectId, target } from './helpers/scripted-service.ts';

// What a person reads where something went wrong, in one place, so that the voice can be judged. Those of a watch that
// ended stand in test/problems/watch-problems.test.ts.

const run = { target, executionId };
const identity = { target, idempotencyKey: 'nightly-21' };
const signal = AbortSignal.abort('SIGINT');
const fault = (kind: Fault['kind'], message: string, httpStatus?: number, serviceCode?: string): Fault => ({
  kind,
  message,
  httpStatus,
  serviceCode,
});
const active = { ...fault('already_active', 'it is already running', 422, 'runAlreadyActive'), executionId };
const unavailable = fault('unavailable', 'the service is unavailable', 503);
const unauthorized = fault('unauthorized', 'the API key was refused', 401);
const unknown = { kind: 'unknown', fault: unavailable } as const;
const hour = 3_600_000;

const table: [situation: string, problem: Problem, message: string, hint?: string][] = [
  [
    'an automation is running already',
    refusedTriggerProblem(active, { target }),
    'nightly is already running; no run was started (HTTP 422 runAlreadyActive)',
    `\`runctl watch ${projectId}/nightly/${executionId}\``,
  ],
  [
    'an automation does not exist',
    refusedTriggerProblem(fault('not_found', 'not found', 404), { target }),
    'the service does not know nightly; no run was started (HTTP 404)',
    'check the name, the project and the base URL: `runctl config list`',
  ],
  [
    'the credits are used up',
    refusedTriggerProblem(fault('no_credits', 'the AI credit balance is 0', 402), { target }),
    'nightly could not be triggered: the AI credit balance is 0; no run was started (HTTP 402)',
    'top up the credits, then trigger again',
  ],
  [
    'an API key is refused',
    refusedTriggerProblem(unauthorized, { target }),
    'nightly could not be triggered: the API key was refused; no run was started (HTTP 401)',
    'set another with `runctl config set apiKey`; `runctl config list` shows which one is in force',
  ],
  [
    'a rate limit lasts',
    refusedTriggerProblem({ ...fault('throttled', 'the rate limit was reached', 429), retryAfterMs: 8000 }, { target }),
    'nightly could not be triggered: the rate limit was reached; no run was started (HTTP 429)',
    'try again in 8s, as the service asks',
  ],
  [
    'the answer to a trigger is lost',
    triggerProblem(unknown, identity, signal),
    'the trigger of nightly got no valid answer: the service is unavailable; a run may have been started, with the idempotency key nightly-21 (HTTP 503)',
    '`runctl recover`',
  ],
  [
    'a trigger is interrupted on its way',
    interruptedTriggerProblem(signal, identity),
    'interrupted; a run of nightly may have been started (idempotency key nightly-21)',
    '`runctl recover`',
  ],
  ['a trigger is interrupted before', noRunProblem(signal), 'interrupted; no run was started'],
  [
    'an idempotency key belongs to another API key',
    otherAccountProblem(identity),
    'the idempotency key nightly-21 was sent with another API key, and may have started a run of nightly',
    'use that API key, then run `runctl recover`; with this one a second run would start',
  ],
  [
    'an idempotency key is a day old',
    expiredKeyProblem(identity),
    'the idempotency key nightly-21 was first sent more than 24h ago, and may have started a run of nightly',
    'stop tracking it with `runctl recover --forget`, then trigger with a new idempotency key',
  ],
  [
    'a lost trigger is too old to be sent again',
    tooOldProblem(identity, 2 * hour),
    'the trigger of nightly is 2h old and was not sent again: if it never arrived, its run would start now (idempotency key nightly-21)',
    'stop tracking it with `runctl recover --forget`, or send it with a longer `--max-age`',
  ],
  [
    'an idempotency key is used up',
    usedKeyProblem(identity),
    'the idempotency key nightly-21 belongs to a run of nightly that has finished; no run was started',
    'trigger with a new idempotency key',
  ],
  [
    'an automation is running until the timeout',
    slotTimeoutProblem(hour, identity, active),
    'nightly was still running after 1h; no run was started (HTTP 422 runAlreadyActive)',
    'wait longer with `--timeout`',
  ],
  [
    'a run does not exist',
    pollProblem(fault('not_found', 'not found', 422), { operation: 'status', run, argument: 'nightly' }),
    `nightly has no run ${executionId} (HTTP 422)`,
    'check the id, the project and the automation; `runctl list` shows the runs of this machine',
  ],
  [
    'a result cannot be read',
    pollProblem(unavailable, { operation: 'result', run, argument: 'nightly' }),
    'the result of nightly could not be read: the service is unavailable; the run is not affected (HTTP 503)',
    '`runctl result nightly`',
  ],
  [
    'Ctrl-C is pressed',
    interruptedProblem(signal, run, 'nightly'),
    'stopped watching nightly; the run was left alone',
    '`runctl watch nightly`',
  ],
];

test.each(table)('where %s, runctl says so in common words', (_, { facts }, message, hint) => {
  expect([facts.message, facts.hint]).toEqual([message, hint]);
});

test.each([
  ['FAILED', 'step_failed', 'fix the failing step, then: `runctl trigger nightly --watch`'],
  ['TIMED_OUT', 'timed_out', 'runs are limited to 3 hours; split the work, then: `runctl trigger nightly --watch`'],
  ['FAILED', 'not_runnable', 'fix the Automation, then: `runctl trigger nightly --watch`'],
  [
    'FAILED',
    'lease_lost',
    'the run lost its environment, which is no fault of the Automation; start a new run: `runctl trigger nightly --watch`',
  ],
  ['CANCELLED', undefined, 'start a new run: `runctl trigger nightly --watch`'],
  ['COMPLETED', undefined, undefined],
])('after a run that finished %s (%s), the next step is: %s', (status, errorType, step) => {
  expect(nextStepOf(run, status, errorType, projectId)).toBe(step);
});

/** Words that this house replaced by common ones. */
const odd = /\b(goes on|settle|mend|look at|last seen|base address|patience|nobody knows|ridden out)\b/;

test('no message uses a word that has a common one', () => {
  expect(table.filter(([, , message, hint]) => odd.test(`${message} ${hint}`))).toEqual([]);
});
