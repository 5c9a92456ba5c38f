import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../src/emulator/read-scenario.ts';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { agent, createEmulatorHarness, project } from './harness.ts';
import { objectNames } from './object-names.ts';

const hourMs = 3_600_000;
const unknown = '33333333-3333-4333-8333-333333333333';

describe('a run', () => {
  test('is created RUNNING, with nothing that only a finished run has', () => {
    const { trigger } = createEmulatorHarness();
    const reply = trigger();
    expect(reply.status).toBe(201);
    expect(reply.json()).toEqual({
      executionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      projectId: project,
      automationName: 'nightly',
      status: 'RUNNING',
      title: null,
      message: null,
      startedAt: '2026-11-21T09:00:00.000Z',
      completedAt: null,
      createdAt: '2026-11-21T09:00:00.000Z',
    });
  });

  test('changes by the clock from RUNNING to COMPLETED', () => {
    const { trigger, status, result, pass } = createEmulatorHarness();
    const { executionId } = trigger().json();
    pass(19_999);
    expect(status(executionId).json()).toMatchObject({ status: 'RUNNING', completedAt: null });
    expect(status(executionId).json()).not.toHaveProperty('creditsCharged');
    expect(result(executionId).json()).toMatchObject({ status: 'RUNNING', output: null, error: null });
    pass(1);
    const ended = { status: 'COMPLETED', completedAt: '2026-11-21T09:00:20.000Z' };
    expect(status(executionId).json()).toMatchObject({ ...ended, creditsCharged: 12 });
    const summary = { stepCount: 3, succeededSteps: 3, failedSteps: 0, skippedSteps: 0 };
    expect(result(executionId).json()).toMatchObject({ ...ended, summary, error: null, output: expect.any(String) });
  });

  test.each([
    ['FAILED', 'step_failed', 1],
    ['TIMED_OUT', 'timed_out', 0],
    ['CANCELLED', undefined, 0],
  ] as const)('that is planned to end %s does', (outcome, errorType, failedSteps) => {
    const { trigger, status, result, pass } = createEmulatorHarness({ automations: { '*': { outcome } } });
    const { executionId } = trigger().json();
    pass(20_000);
    expect(status(executionId).json().status).toBe(outcome);
    const { error, summary, output } = result(executionId).json();
    expect(error?.type).toBe(errorType);
    expect(summary.failedSteps).toBe(failedSteps);
    expect(output).toBeNull();
  });

  test('of no time at all is still created RUNNING', () => {
    const { trigger, status } = createEmulatorHarness({ automations: { '*': { duration: '0s' } } });
    const created = trigger().json();
    expect(created.status).toBe('RUNNING');
    expect(status(created.executionId).json().status).toBe('COMPLETED');
  });

  test('that exceeds 3 hours is ended there, whatever its plan', () => {
    const plan = { duration: '4h', outcome: 'FAILED', error: { type: 'reaped', message: 'gone' } } as const;
    const { trigger, status, result, pass } = createEmulatorHarness({ automations: { '*': plan } });
    const { executionId } = trigger().json();
    pass(3 * hourMs - 1);
    expect(status(executionId).json().status).toBe('RUNNING');
    pass(1);
    expect(status(executionId).json()).toMatchObject({ status: 'TIMED_OUT', completedAt: '2026-11-21T12:00:00.000Z' });
    expect(result(executionId).json().error.type).toBe('timed_out');
  });

  test('of just 3 hours completes', () => {
    const { trigger, status, pass } = createEmulatorHarness({ automations: { '*': { duration: '3h' } } });
    const { executionId } = trigger().json();
    pass(3 * hourMs);
    expect(status(executionId).json().status).toBe('COMPLETED');
  });

  test('answers what its plan says', () => {
    const plan = {
      duration: '1s',
      outcome: 'FAILED',
      steps: { count: 9, failed: 2, skipped: 3 },
      output: 'half\u001b[31m done',
      error: { type: 'run_failed', message: 'why' },
      creditsCharged: 0.25,
      extra: { region: 'north' },
    } as const;
    const { trigger, status, result, pass } = createEmulatorHarness({ automations: { nightly: plan } });
    const created = trigger().json();
    expect(created.region).toBe('north');
    pass(1000);
    expect(status(created.executionId).json()).toMatchObject({ creditsCharged: 0.25, region: 'north' });
    expect(result(created.executionId).json()).toMatchObject({
      output: plan.output,
      error: plan.error,
      summary: { stepCount: 9, succeededSteps: 4, failedSteps: 2, skippedSteps: 3 },
      region: 'north',
    });
  });

  test('takes its outcome from the list, the last one staying', () => {
    const harness = createEmulatorHarness({ automations: { '*': { outcome: ['FAILED', 'COMPLETED', 'CANCELLED'] } } });
    const outcomes = [1, 2, 3, 4].map(() => {
      const { executionId } = harness.trigger().json();
      harness.pass(20_000);
      return harness.status(executionId).json().status;
    });
    expect(outcomes).toEqual(['FAILED', 'COMPLETED', 'CANCELLED', 'CANCELLED']);
  });

  test('that completes has no error, whatever its plan', () => {
    const plan = { outcome: 'COMPLETED', error: { type: 'run_failed', message: 'why' } } as const;
    const { trigger, result, pass } = createEmulatorHarness({ automations: { '*': plan } });
    const { executionId } = trigger().json();
    pass(20_000);
    expect(result(executionId).json().error).toBeNull();
  });

  test('with resultLate ends before its result does', () => {
    const { trigger, status, result, pass } = createEmulatorHarness({ automations: { '*': { resultLate: '5s' } } });
    const { executionId } = trigger().json();
    pass(24_999);
    expect(status(executionId).json().status).toBe('COMPLETED');
    expect(result(executionId).json()).toMatchObject({ status: 'RUNNING', output: null });
    pass(1);
    expect(result(executionId).json().status).toBe('COMPLETED');
  });

  test('with statusLate cannot be found at first', () => {
    const { trigger, status, result, pass } = createEmulatorHarness({ automations: { '*': { statusLate: '3s' } } });
    const { executionId } = trigger().json();
    pass(2999);
    expect([status(executionId).status, result(executionId).status]).toEqual([422, 422]);
    pass(1);
    expect([status(executionId).status, result(executionId).status]).toEqual([200, 200]);
  });
});

describe('a poll', () => {
  test.each(['spaced name', 'a/b%2Fc', '100 %', 'Übersicht 🚀', '..%2f', '__proto__', '*'])('finds %j', (name) => {
    const { trigger, status, result } = createEmulatorHarness();
    const created = trigger(name).json();
    expect(created.automationName).toBe(name);
    expect(status(created.executionId, name).json().automationName).toBe(name);
    expect(result(created.executionId, name).status).toBe(200);
  });

  test('finds an id in capitals', () => {
    const { trigger, status } = createEmulatorHarness();
    const { executionId } = trigger().json();
    expect(status(executionId.toUpperCase()).status).toBe(200);
  });

  test('of an unknown run, or under another automation or project, gets 422 notFound', () => {
    const { trigger, status, result, send, automationUrl } = createEmulatorHarness();
    const { executionId } = trigger().json();
    const elsewhere = send('GET', automationUrl('nightly', `executions/${executionId}`, unknown));
    for (const reply of [status(unknown), result(unknown), status(executionId, 'daily'), elsewhere]) {
      expect(reply.status).toBe(422);
      expect(reply.json().code).toBe('notFound');
    }
  });
});

describe('a second trigger', () => {
  test('gets 422 runAlreadyActive until the first run has finished', () => {
    const { trigger, pass } = createEmulatorHarness();
    trigger();
    pass(19_999);
    expect(trigger().json()).toEqual({ code: 'runAlreadyActive', message: expect.any(String) });
    pass(1);
    expect(trigger().status).toBe(201);
  });

  test('is given the active run if the scenario says so', () => {
    const { trigger } = createEmulatorHarness({ namesActiveRun: true });
    const { executionId } = trigger().json();
    expect(trigger().json().executionId).toBe(executionId);
  });

  test('of another automation or project is none', () => {
    const { trigger, send, automationUrl } = createEmulatorHarness();
    expect(trigger('a').status).toBe(201);
    expect(trigger('b').status).toBe(201);
    expect(send('POST', automationUrl('a', 'trigger', unknown), { body: '{}' }).status).toBe(201);
  });
});

describe('an idempotency key', () => {
  test('gets the first answer again, also when the run has finished', () => {
    const { trigger, pass, service } = createEmulatorHarness();
    const first = trigger('nightly', { key: 'k' });
    expect(trigger('nightly', { key: 'k' })).toMatchObject({ status: 201, body: first.body });
    pass(hourMs);
    expect(trigger('nightly', { key: 'k' }).body).toBe(first.body);
    expect(service.runs()).toHaveLength(1);
  });

  test('meets its own run where active runs are looked up first', () => {
    const { trigger, pass, service } = createEmulatorHarness({ order: 'activeFirst' });
    const first = trigger('nightly', { key: 'k' });
    expect(trigger('nightly', { key: 'k' }).json().code).toBe('runAlreadyActive');
    pass(hourMs);
    expect(trigger('nightly', { key: 'k' }).body).toBe(first.body);
    expect(service.runs()).toHaveLength(1);
  });

  test('used for another target or another body is refused', () => {
    const { trigger } = createEmulatorHarness();
    trigger('nightly', { key: 'k' });
    const replies = [trigger('daily', { key: 'k' }), trigger('nightly', { key: 'k', body: '{ }' })];
    for (const reply of replies) expect(reply.json().code).toBe('idempotencyKeyReused');
  });

  test('is scoped per API key', () => {
    const { trigger, service } = createEmulatorHarness({ apiKeys: ['key-2'] });
    trigger('nightly', { key: 'k' });
    expect(trigger('daily', { key: 'k', apiKey: 'key-2' }).status).toBe(201);
    expect(service.runs().map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k', 'k']);
  });

  test.each([
    ['honored', 1],
    ['ignored', 2],
  ] as const)('%s: sent again after its run has finished, it has started %d in all', (idempotencyKeys, runs) => {
    const { trigger, pass, service } = createEmulatorHarness({ idempotencyKeys });
    trigger('nightly', { key: 'k' });
    expect(trigger('nightly', { key: 'k' }).status).toBe(idempotencyKeys === 'honored' ? 201 : 422);
    pass(hourMs);
    expect(trigger('nightly', { key: 'k' }).status).toBe(201);
    expect(service.runs()).toHaveLength(runs);
  });

  test.each([
    [false, 201],
    [true, 422],
  ])('that was refused, with replayErrors %s, is later answered %d', (replayErrors, status) => {
    const { trigger, pass } = createEmulatorHarness({ replayErrors });
    trigger();
    expect(trigger('nightly', { key: 'k' }).status).toBe(422);
    pass(hourMs);
    expect(trigger('nightly', { key: 'k' }).status).toBe(status);
  });

  test('keeps its run though a retry met 422, also with replayErrors', () => {
    const { trigger, pass } = createEmulatorHarness({ order: 'activeFirst', replayErrors: true });
    const first = trigger('nightly', { key: 'k' });
    expect(trigger('nightly', { key: 'k' }).status).toBe(422);
    pass(hourMs);
    expect(trigger('nightly', { key: 'k' }).body).toBe(first.body);
  });

  test('that met a planned 500 gets it again with replayErrors', () => {
    const { trigger } = createEmulatorHarness({ replayErrors: true, faults: [{ nth: 1, do: 'status', status: 500 }] });
    expect(trigger('nightly', { key: 'k' }).status).toBe(500);
    expect(trigger('nightly', { key: 'k' }).status).toBe(500);
    expect(trigger('nightly', { key: 'l' }).status).toBe(201);
  });
});

describe('a limit', () => {
  test('of credits: every finished run costs, and at 0 a trigger gets 402', () => {
    const { trigger, pass } = createEmulatorHarness({ credits: 20, automations: { '*': { creditsCharged: 10 } } });
    const statuses = [1, 2, 3].map(() => {
      const { status } = trigger();
      pass(20_000);
      return status;
    });
    expect(statuses).toEqual([201, 201, 402]);
  });

  test('of credits is not touched by an unfinished run', () => {
    const { trigger, pass } = createEmulatorHarness({ credits: 1 });
    expect(trigger('a').status).toBe(201);
    expect(trigger('b').status).toBe(201);
    pass(20_000);
    expect(trigger('c').status).toBe(402);
  });

  test.each([
    ['seconds', '8'],
    ['date', 'Sat, 21 Nov 2026 09:00:10 GMT'],
    ['none', undefined],
  ] as const)('of the rate comes with Retry-After: %s', (retryAfter, header) => {
    const { trigger, pass, status } = createEmulatorHarness({ rateLimit: { requests: 2, window: '10s', retryAfter } });
    const { executionId } = trigger('a').json();
    pass(2500);
    trigger('b');
    const refused = trigger('c');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe(header);
    expect(status(executionId, 'a').status).toBe(200);
    pass(7499);
    expect(trigger('c').status).toBe(429);
    pass(1);
    expect(trigger('c').status).toBe(201);
  });

  test('of the rate may hold for every request', () => {
    const { trigger, status } = createEmulatorHarness({ rateLimit: { requests: 1, window: '10s', on: 'any' } });
    const { executionId } = trigger().json();
    expect(status(executionId).status).toBe(429);
  });
});

test('an agent no longer starts, and has no run', () => {
  const { send, service } = createEmulatorHarness();
  const trigger = send('POST', `/v0/agent/${agent}/trigger`, { body: '{}' });
  expect([trigger.status, trigger.json().message]).toEqual([410, expect.stringContaining('discontinued')]);
  const status = send('GET', `/v0/agent/${agent}/executions/${unknown}`);
  expect([status.status, status.json().code]).toEqual([422, 'notFound']);
  expect(service.runs()).toEqual([]);
});

describe('automation names', () => {
  const scenario: Scenario = { automations: { nightly: {} } };

  test('without a "*" are only those given', () => {
    const { trigger } = createEmulatorHarness(scenario);
    expect(trigger('nightly').status).toBe(201);
    expect(trigger('constructor').json().code).toBe('automationNotFound');
    expect(trigger('daily').status).toBe(404);
  });

  test.each(objectNames)('may be %s', (name) => {
    const text = `{"automations":{"${name}":{"duration":"1h","extra":{"${name}":"kept"}}}}`;
    const { trigger, status, pass } = createEmulatorHarness(parseScenario(text, 'my.json'));
    const created = trigger(name);
    expect(created.status).toBe(201);
    expect(Object.entries(created.json())).toContainEqual([name, 'kept']);
    pass(60_000);
    expect(status(created.json().executionId, name).json().status).toBe('RUNNING');
    expect(trigger('valueOf').status).toBe(404);
  });

  test('beside a "*" have their own plans', () => {
    const { trigger, status, pass } = createEmulatorHarness({ automations: { '*': {}, slow: { duration: '1h' } } });
    const slow = trigger('slow').json();
    const quick = trigger('quick').json();
    pass(20_000);
    expect(status(slow.executionId, 'slow').json().status).toBe('RUNNING');
    expect(status(quick.executionId, 'quick').json().status).toBe('COMPLETED');
  });
});
