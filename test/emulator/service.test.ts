import { describe, expect, test } from 'vitest';
import { type AutomationPlan, createService } from '../../src/emulator/service.ts';
import { createHarness, project } from './harness.ts';

const unknown = '33333333-3333-4333-8333-333333333333';
const hourMs = 3_600_000;

const withPlan = (plan: AutomationPlan) => createHarness(createService({ '*': plan }, ['key-1', 'key-2']));

describe('a run', () => {
  test('changes from RUNNING to COMPLETED as time passes', () => {
    const { trigger, status, result, pass } = createHarness();
    const created = trigger();
    const { executionId } = created.json();
    expect([created.status, created.json()]).toEqual([
      201,
      {
        executionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        projectId: project,
        automationName: 'nightly',
        status: 'RUNNING',
        title: null,
        message: null,
        startedAt: '2026-11-21T09:00:00.000Z',
        completedAt: null,
        createdAt: '2026-11-21T09:00:00.000Z',
      },
    ]);
    pass(19_999);
    expect(status(executionId).json()).toMatchObject({ status: 'RUNNING', completedAt: null });
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
  ] as const)('that is planned to end %s does', (finalStatus, errorType, failedSteps) => {
    const { trigger, status, result, pass } = withPlan({ finalStatus });
    const { executionId } = trigger().json();
    pass(20_000);
    expect(status(executionId).json().status).toBe(finalStatus);
    const { error, summary, output } = result(executionId).json();
    expect([error?.type, summary.failedSteps, output]).toEqual([errorType, failedSteps, null]);
  });

  test('is created RUNNING even if it takes no time', () => {
    const { trigger, status } = withPlan({ durationMs: 0 });
    const { executionId, status: created } = trigger().json();
    expect([created, status(executionId).json().status]).toEqual(['RUNNING', 'COMPLETED']);
  });

  test.each(['a/b%2Fc', '100 %', 'Übersicht 🚀', '..%2f', '__proto__', '*'])('is found as %j', (name) => {
    const { trigger, status, result } = createHarness();
    const { executionId, automationName } = trigger(name).json();
    expect([automationName, status(executionId, name).json().automationName]).toEqual([name, name]);
    expect(result(executionId, name).status).toBe(200);
  });

  test('gets 422 notFound if it is unknown, or of another automation or project', () => {
    const { trigger, status, result, deliver, automationUrl } = createHarness();
    const { executionId } = trigger().json();
    const elsewhere = deliver('GET', automationUrl('nightly', `executions/${executionId}`, unknown));
    for (const reply of [status(unknown), result(unknown), status(executionId, 'daily'), elsewhere])
      expect([reply.status, reply.json().code]).toEqual([422, 'notFound']);
  });
});

test('a second trigger of the same automation gets 422 runAlreadyActive until the first run has finished', () => {
  const { trigger, pass, deliver, automationUrl } = createHarness();
  trigger();
  pass(19_999);
  expect(trigger().json()).toEqual({ code: 'runAlreadyActive', message: expect.any(String) });
  expect(trigger('another').status).toBe(201);
  expect(deliver('POST', automationUrl('nightly', 'trigger', unknown), { body: '{}' }).status).toBe(201);
  pass(1);
  expect(trigger().status).toBe(201);
});

test('an idempotency key always gets its first response, one per API key and automation', () => {
  const { trigger, pass, service } = withPlan({});
  const first = trigger('nightly', { key: 'k' });
  expect(trigger('nightly', { key: 'k' })).toMatchObject({ status: 201, body: first.body });
  pass(hourMs);
  expect(trigger('nightly', { key: 'k' }).body).toBe(first.body);
  expect(service.runs()).toHaveLength(1);
  expect(trigger('daily', { key: 'k' }).status).toBe(201);
  expect(trigger('nightly', { key: 'k', apiKey: 'key-2' }).status).toBe(201);
  expect(service.runs()).toHaveLength(3);
});

test('a response is lost once for each trigger, and a repeat with the same key finds the run', () => {
  const { trigger, pass, service } = withPlan({ losesFirst: ['trigger'] });
  for (const key of ['k', 'l']) {
    expect(trigger('nightly', { key }).isSentWhole).toBe(false);
    const again = trigger('nightly', { key });
    expect([again.isSentWhole, again.json().executionId]).toEqual([true, service.runs().at(-1)?.executionId]);
    pass(hourMs);
  }
  expect(service.runs()).toHaveLength(2);
});
