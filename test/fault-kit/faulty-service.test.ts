import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finalStatuses } from '../../src/runs/statuses.ts';
import { createHarness } from '../emulator/harness.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { createRandom } from '../helpers/random.ts';
import { type ErrorShape, errorShapes } from './error-shapes.ts';
import { createFaultyService } from './faulty-service.ts';
import type { Condition, Fault, Scenario } from './scenario.ts';
import { createFaultSelector } from './select-fault.ts';

const hourMs = 3_600_000;
const names = ['nightly', 'a/b c', 'Übersicht 🚀'];

const harnessOf = (scenario: Scenario = {}) => createHarness(createFaultyService(scenario, 'key-1', createRandom(1)));

describe('a fault strikes', () => {
  test.each<[string, Condition, string]>([
    ['every request', {}, 'xxxxxxxx'],
    ['the third', { nth: 3 }, '..x.....'],
    ['from the third to the fifth', { from: 3, to: 5 }, '..xxx...'],
    ['never', { chance: 0 }, '........'],
  ])('%s', (_, condition, expected) => {
    const select = createFaultSelector([{ ...condition, do: 'reset' }], createRandom(1));
    const struck = Array.from({ length: 8 }, () => (select({ kind: 'status', automationName: 'nightly' }) ? 'x' : '.'));
    expect(struck.join('')).toBe(expected);
  });

  test('requests of its kind and automation alone, and counts no others', () => {
    const select = createFaultSelector([{ on: 'result', automation: 'a', nth: 2, do: 'reset' }], Math.random);
    expect(select({ kind: 'result', automationName: 'a' })).toBeUndefined();
    expect(select({ kind: 'status', automationName: 'a' })).toBeUndefined();
    expect(select({ kind: 'result', automationName: 'b' })).toBeUndefined();
    expect(select({ kind: 'result', automationName: 'a' })).toBeDefined();
  });

  test('while the run is of a certain age', () => {
    const select = createFaultSelector([{ during: { after: '1h', for: '5m' }, do: 'reset' }], Math.random);
    const strikes = (ageMs?: number) => select({ kind: 'status', automationName: 'a', ageMs }) !== undefined;
    expect([hourMs - 1, hourMs, 1.05 * hourMs, 1.1 * hourMs, undefined].map(strikes)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
  });

  test('before the next in the list, which counts the request all the same', () => {
    const faults: Fault[] = [
      { nth: 1, do: 'reset' },
      { nth: 2, do: 'close' },
    ];
    const select = createFaultSelector(faults, Math.random);
    const struck = [1, 2, 3].map(() => select({ kind: 'status', automationName: 'a' })?.do);
    expect(struck).toEqual(['reset', 'close', undefined]);
  });
});

/** How many runs a trigger has started that met the fault, for each kind of fault. */
const startedRuns: Record<Fault['do'], [Fault, number][]> = {
  status: [
    [{ do: 'status', status: 502 }, 0],
    [{ do: 'status', status: 502, acts: true }, 1],
  ],
  html: [[{ do: 'html' }, 0]],
  reset: [[{ do: 'reset' }, 0]],
  close: [[{ do: 'close', acts: true }, 1]],
  hang: [
    [{ do: 'hang' }, 0],
    [{ do: 'hang', acts: true }, 1],
  ],
  loseAnswer: [[{ do: 'loseAnswer' }, 1]],
  wrongJson: [[{ do: 'wrongJson' }, 1]],
  hangBody: [[{ do: 'hangBody' }, 1]],
  truncate: [[{ do: 'truncate' }, 1]],
  drip: [[{ do: 'drip' }, 1]],
  delay: [[{ do: 'delay', delay: '1s' }, 1]],
  revokeKey: [[{ do: 'revokeKey' }, 0]],
};

test.each(Object.values(startedRuns).flat())('with the fault %j the service has started %d runs', (fault, count) => {
  const { trigger, service } = harnessOf({ faults: [{ nth: 1, ...fault }] });
  trigger('nightly', { key: 'k' });
  expect(service.runs()).toHaveLength(count);
});

test.each<[Fault, number, string, RegExp]>([
  [{ do: 'status', status: 503 }, 503, 'application/json; charset=utf-8', /^\{"code":"plannedFault"/],
  [{ do: 'status', status: 418, body: { any: [1] } }, 418, 'application/json; charset=utf-8', /^\{"any":\[1\]\}$/],
  [{ do: 'status', status: 502, body: '<p>', headers: { 'content-type': 'text/html' } }, 502, 'text/html', /^<p>$/],
  [{ do: 'html', status: 504 }, 504, 'text/html; charset=utf-8', /^<!doctype html>/],
  [{ do: 'wrongJson' }, 201, 'application/json; charset=utf-8', /^\{"ok":true\}$/],
])('the planned answer of %j is as planned', (fault, status, contentType, body) => {
  const reply = harnessOf({ faults: [fault] }).trigger();
  expect(reply).toMatchObject({ status, headers: { 'content-type': contentType }, body: expect.stringMatching(body) });
});

describe('a service', () => {
  test('refuses a revoked API key from that request on, and takes others', () => {
    const faults: Fault[] = [{ on: 'status', nth: 2, do: 'revokeKey' }];
    const { trigger, status } = harnessOf({ apiKeys: ['key-2'], faults });
    const { executionId } = trigger().json();
    expect([1, 2, 3].map(() => status(executionId).status)).toEqual([200, 401, 401]);
    expect(trigger('other', { apiKey: 'key-2' }).status).toBe(201);
  });

  test('that looks for an active run first hides the run of a key until that has finished', () => {
    for (const replayErrors of [false, true]) {
      const { trigger, pass, service } = harnessOf({ order: 'activeFirst', replayErrors });
      const first = trigger('nightly', { key: 'k' });
      expect(trigger('nightly', { key: 'k' }).json().code).toBe('runAlreadyActive');
      pass(hourMs);
      expect(trigger('nightly', { key: 'k' }).body).toBe(first.body);
      expect(service.runs()).toHaveLength(1);
    }
  });

  test('that ignores keys starts a second run for one', () => {
    const { trigger, pass, service } = harnessOf({ idempotencyKeys: 'ignored' });
    trigger('nightly', { key: 'k' });
    expect(trigger('nightly', { key: 'k' }).status).toBe(422);
    pass(hourMs);
    expect(trigger('nightly', { key: 'k' }).status).toBe(201);
    expect(service.runs()).toHaveLength(2);
  });

  test.each([
    [false, 201],
    [true, 422],
  ])('that replays errors (%s) answers a key that was refused with %d', (replayErrors, status) => {
    const { trigger, pass } = harnessOf({ replayErrors });
    trigger();
    expect(trigger('nightly', { key: 'k' }).status).toBe(422);
    pass(hourMs);
    expect(trigger('nightly', { key: 'k' }).status).toBe(status);
  });

  test('counts credits: every finished run costs, and at 0 a trigger gets 402', () => {
    const { trigger, pass } = harnessOf({ credits: 20, automations: { '*': { creditsCharged: 10 } } });
    const statuses = [1, 2, 3].map(() => {
      const { status } = trigger();
      pass(20_000);
      return status;
    });
    expect(statuses).toEqual([201, 201, 402]);
  });

  test.each([
    ['seconds', '8'],
    ['date', 'Sat, 21 Nov 2026 09:00:10 GMT'],
  ] as const)('limits the rate with a Retry-After in %s', (retryAfter, header) => {
    const { trigger, pass } = harnessOf({ rateLimit: { requests: 2, window: '10s', retryAfter } });
    trigger('a');
    pass(2500);
    trigger('b');
    expect(trigger('c')).toMatchObject({ status: 429, headers: { 'retry-after': header } });
    pass(7500);
    expect(trigger('c').status).toBe(201);
  });

  test('takes the outcomes of its runs from a list, the last one staying', () => {
    const { trigger, status, pass } = harnessOf({ automations: { '*': { outcome: ['FAILED', 'COMPLETED'] } } });
    const outcomes = [1, 2, 3].map(() => {
      const { executionId } = trigger().json();
      pass(20_000);
      return status(executionId).json().status;
    });
    expect(outcomes).toEqual(['FAILED', 'COMPLETED', 'COMPLETED']);
  });

  test('may know of a run late, and of its end', () => {
    const { trigger, status, result, pass } = harnessOf({
      automations: { '*': { duration: '20s', statusLate: '3s', resultLate: '5s' } },
    });
    const { executionId } = trigger().json();
    pass(2999);
    expect([status(executionId).status, result(executionId).status]).toEqual([422, 422]);
    pass(22_000);
    expect(status(executionId).json().status).toBe('COMPLETED');
    expect(result(executionId).json()).toMatchObject({ status: 'RUNNING', output: null });
    pass(1);
    expect(result(executionId).json().status).toBe('COMPLETED');
  });

  test('adds fields to its responses', () => {
    const { trigger, status } = harnessOf({ automations: { '*': { extra: { region: 'north' } } } });
    const created = trigger().json();
    expect([created.region, status(created.executionId).json().region]).toEqual(['north', 'north']);
  });
});

describe('an error body', () => {
  const message = 'The same Automation is already running';
  const code = 'runAlreadyActive';

  test.each<[ErrorShape, (executionId: string) => unknown]>([
    ['flat', (executionId) => ({ code, message, executionId })],
    ['string', (executionId) => ({ error: code, executionId })],
    ['nested', (executionId) => ({ error: { code, message, executionId } })],
    ['list', (executionId) => ({ errors: [{ code, detail: message, executionId }] })],
    ['data', (executionId) => ({ data: { code, message, executionId } })],
    [
      'problem',
      (executionId) => ({ type: 'about:blank', title: code, status: 422, detail: message, code, executionId }),
    ],
  ])('of the shape %s names the active run', (errorShape, body) => {
    const { trigger } = harnessOf({ errorShape, namesActiveRun: true });
    const { executionId } = trigger().json();
    expect(trigger().json()).toEqual(body(executionId));
  });

  test.each<[ErrorShape, string | undefined, RegExp]>([
    ['text', 'text/plain; charset=utf-8', /^runAlreadyActive: The same Automation is already running$/],
    ['html', 'text/html; charset=utf-8', /^<!doctype html>.*runAlreadyActive/],
    ['empty', undefined, /^$/],
  ])('of the shape %s', (errorShape, contentType, body) => {
    const { trigger } = harnessOf({ errorShape });
    trigger();
    const refused = trigger();
    expect([refused.status, refused.headers['content-type']]).toEqual([422, contentType]);
    expect(refused.body).toMatch(body);
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
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(15_000) }),
);
const scenario = fc.record(
  {
    order: fc.constantFrom('keyFirst' as const, 'activeFirst' as const),
    replayErrors: fc.boolean(),
    namesActiveRun: fc.boolean(),
    errorShape: fc.constantFrom(...errorShapes),
    credits: fc.nat(40),
    rateLimit: fc.record({ requests: fc.integer({ min: 1, max: 9 }), window: fc.constant('10s') }),
    automations: fc.record({
      '*': fc.record(
        {
          duration: fc.constantFrom('0s', '1s', '20s'),
          outcome: fc.array(fc.constantFrom(...finalStatuses), { minLength: 1 }),
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
    fc.property(scenario, fc.array(step, { maxLength: 40 }), (scenario, steps) => {
      const harness = harnessOf(scenario);
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
          const scope = `${step.key} ${step.name}`;
          if (step.key) expect(idOf.get(scope) ?? executionId).toBe(executionId);
          idOf.set(scope, executionId);
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
