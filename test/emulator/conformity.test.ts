import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ErrorShape } from '../../src/emulator/scenario.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { createRandom } from '../helpers/random.ts';
import { faultsOfReply, faultsOfRequest } from './conformity.ts';
import { createEmulatorHarness } from './harness.ts';

const secondMs = 1000;
const names = ['nightly', 'a/b c', 'Übersicht 🚀'];
const shapes: ErrorShape[] = ['flat', 'string', 'nested', 'list', 'problem', 'data', 'text', 'html', 'empty'];
const outcomes = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'] as const;

describe('the OpenAPI document', () => {
  const { trigger, status, result, pass, deliver, automationUrl } = createEmulatorHarness();
  const { request } = deliver('POST', automationUrl('nightly', 'trigger'), { body: '{}' });
  const id = trigger('daily').json().executionId;
  const statusRequest = deliver('GET', automationUrl('daily', `executions/${id}`)).request;
  const resultRequest = deliver('GET', automationUrl('daily', `executions/${id}/result`)).request;
  const running = status(id, 'daily');
  pass(20 * secondMs);
  const created = trigger('weekly');
  const [ended, endedResult] = [status(id, 'daily'), result(id, 'daily')];

  test.each([
    ['a run that is not created RUNNING', request, created, { status: 'COMPLETED' }],
    ['credits in the answer to a trigger', request, created, { creditsCharged: 1 }],
    ['an id that is no UUID', request, created, { executionId: '7' }],
    ['a time that is no timestamp', request, created, { startedAt: 'now' }],
    ['a title', request, created, { title: 'x' }],
    ['credits before the end', statusRequest, running, { creditsCharged: 1 }],
    ['an end before the end', statusRequest, running, { completedAt: '2026-11-21T09:00:00Z' }],
    ['no credits after the end', statusRequest, ended, { creditsCharged: undefined }],
    ['no end after the end', statusRequest, ended, { completedAt: null }],
    ['a state of its own', statusRequest, ended, { status: 'PAUSED' }],
    ['output of a running run', resultRequest, endedResult, { status: 'RUNNING' }],
    ['half a step', resultRequest, endedResult, { summary: { stepCount: 0.5 } }],
    ['an error of its own', resultRequest, endedResult, { error: { type: 'x', message: '' } }],
    ['no error field', resultRequest, endedResult, { error: undefined }],
  ])('refuses %s', (_, asked, reply, change) => {
    expect(faultsOfReply(asked, reply)).toEqual([]);
    expect(faultsOfReply(asked, { ...reply, body: JSON.stringify({ ...reply.json(), ...change }) })).not.toEqual([]);
  });

  test('refuses a success that is not its own', () => {
    expect(faultsOfReply(request, { ...created, status: 200 })).not.toEqual([]);
    expect(faultsOfReply(statusRequest, { ...ended, status: 204 })).not.toEqual([]);
  });
});

type Step =
  | { kind: 'trigger'; name: string; key?: string }
  | { kind: 'look'; at: number }
  | { kind: 'pass'; ms: number };

const key = fc.option(fc.constantFrom('k', 'l', 'm'), { nil: undefined });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('trigger' as const), name: fc.constantFrom(...names), key }),
  fc.record({ kind: fc.constant('look' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(15 * secondMs) }),
);
const scenario = fc.record(
  {
    order: fc.constantFrom('keyFirst', 'activeFirst'),
    replayErrors: fc.boolean(),
    namesActiveRun: fc.boolean(),
    errorShape: fc.constantFrom(...shapes),
    credits: fc.nat(40),
    rateLimit: fc.record({ requests: fc.integer({ min: 1, max: 9 }), window: fc.constant('10s') }),
    runLimit: fc.constantFrom('5s', '3h'),
    automations: fc.record({
      '*': fc.record(
        {
          duration: fc.constantFrom('0s', '1s', '20s'),
          outcome: fc.array(fc.constantFrom(...outcomes), { minLength: 1 }),
          statusLate: fc.constantFrom('0s', '3s'),
          resultLate: fc.constantFrom('0s', '3s'),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { requiredKeys: [] },
);

/** What must hold whatever the scenario and whatever is asked; the harness holds every answer against the document. */
test('in every situation the answers conform, no key starts two runs and no automation has two', () => {
  fc.assert(
    fc.property(scenario, fc.array(step, { maxLength: 40 }), fc.nat(), (scenario, steps, seed) => {
      const harness = createEmulatorHarness(scenario, { random: createRandom(seed) });
      const idOf = new Map<string, string>();
      for (const step of steps) {
        if (step.kind === 'pass') harness.pass(step.ms);
        else if (step.kind === 'look') {
          const run = harness.service.runs()[step.at];
          if (run) {
            harness.status(run.executionId, run.target.automationName);
            harness.result(run.executionId, run.target.automationName);
          }
        } else {
          const reply = harness.trigger(step.name, step);
          if (reply.status !== 201) continue;
          const { executionId, status } = reply.json();
          expect(status).toBe('RUNNING');
          if (step.key) expect(idOf.get(step.key) ?? executionId).toBe(executionId);
          if (step.key) idOf.set(step.key, executionId);
        }
      }
      for (const name of names) {
        const runs = harness.service.runs().filter(({ target }) => target.automationName === name);
        for (const [i, run] of runs.entries()) {
          const next = runs[i + 1];
          if (next) expect(next.startedAtMs).toBeGreaterThanOrEqual(run.endsAtMs);
        }
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('a request to the harness conforms', () => {
  const { deliver, automationUrl } = createEmulatorHarness();
  for (const name of names) {
    const { request } = deliver('POST', automationUrl(name, 'trigger'), { body: '{}' });
    expect(faultsOfRequest(request)).toEqual([]);
  }
});
