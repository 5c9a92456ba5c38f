import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finalStatuses } from '../../src/run/statuses.ts';
import { createHarness } from '../emulator/harness.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { createRandom } from '../helpers/random.ts';
import { errorShapes } from './error-shapes.ts';
import { createFaultyService } from './faulty-service.ts';
import type { Condition, Fault, Scenario } from './scenario.ts';
import { createFaultSelector } from './select-fault.ts';

const hourMs = 3_600_000;

const harnessOf = (scenario: Scenario = {}) => createHarness(createFaultyService(scenario, 'key-1', createRandom(1)));

describe('a fault strikes', () => {
  const requests = ['status a', 'result a', 'result b', 'status b', 'result a', 'status a'] as const;
  test.each<[string, Condition, string]>([
    ['every request', {}, 'xxxxxx'],
    ['the third', { nth: 3 }, '..x...'],
    ['from the third to the fifth', { from: 3, to: 5 }, '..xxx.'],
    ['never', { chance: 0 }, '......'],
    ['the second for a result of its automation', { on: 'result', automation: 'a', nth: 2 }, '....x.'],
    [
      'while the run is of a certain age, here of one minute for each request',
      { during: { after: '2m', for: '2m' } },
      '..xx..',
    ],
  ])('%s', (_, condition, expected) => {
    const select = createFaultSelector([{ ...condition, do: 'reset' }], createRandom(1));
    const struck = requests.map((request, minutes) => {
      const [kind, automationName = ''] = request.split(' ') as ['status' | 'result', string];
      return select({ kind, automationName, ageMs: minutes * 60_000 }) ? 'x' : '.';
    });
    expect(struck.join('')).toBe(expected);
  });

  test('before the next in the list, which counts the request all the same', () => {
    const select = createFaultSelector(
      [
        { nth: 1, do: 'reset' },
        { nth: 2, do: 'close' },
      ],
      Math.random,
    );
    const struck = [1, 2, 3].map(() => select({ kind: 'trigger', automationName: 'a' })?.do);
    expect(struck).toEqual(['reset', 'close', undefined]);
  });
});

test.each<[number, Fault]>([
  [0, { do: 'status', status: 502 }],
  [1, { do: 'status', status: 502, acts: true }],
  [0, { do: 'html' }],
  [0, { do: 'reset' }],
  [1, { do: 'close', acts: true }],
  [0, { do: 'hang' }],
  [1, { do: 'hang', acts: true }],
  [1, { do: 'loseAnswer' }],
  [1, { do: 'wrongJson' }],
  [1, { do: 'hangBody' }],
  [1, { do: 'truncate' }],
  [1, { do: 'drip' }],
  [1, { do: 'delay', delay: '1s' }],
  [0, { do: 'revokeKey' }],
])('a trigger starts %d runs if it meets %j', (count, fault) => {
  const { trigger, service } = harnessOf({ faults: [{ nth: 1, ...fault }] });
  trigger('nightly', { key: 'k' });
  expect(service.runs()).toHaveLength(count);
});

describe('a service', () => {
  /** The status of each answer to a trigger with a key, an hour after the one before if it is marked. */
  const answersTo = (scenario: Scenario, keys: (string | undefined)[], gapMs = 0) => {
    const { trigger, pass, service } = harnessOf(scenario);
    const statuses = keys.map((key) => {
      const { status } = trigger('nightly', { key });
      pass(gapMs);
      return status;
    });
    return { statuses, runs: service.runs().length };
  };

  test.each<[string, Scenario, number, number[], runs: number]>([
    ['honors a key', {}, 0, [201, 201], 1],
    ['may look for an active run first', { order: 'activeFirst' }, 0, [201, 422], 1],
    ['may look for an active run first, which hides no key later', { order: 'activeFirst' }, hourMs, [201, 201], 1],
    ['may ignore a key', { idempotencyKeys: 'ignored' }, 0, [201, 422], 1],
    ['may ignore a key, and starts a second run', { idempotencyKeys: 'ignored' }, hourMs, [201, 201], 2],
    ['may count credits', { credits: 0 }, 0, [402, 402], 0],
    ['may count requests', { rateLimit: { requests: 1, window: '10s' } }, 0, [201, 429], 1],
    ['may count requests in a window', { rateLimit: { requests: 1, window: '10s' } }, 10_000, [201, 201], 1],
  ])('%s', (_, scenario, gapMs, statuses, runs) => {
    expect(answersTo(scenario, ['k', 'k'], gapMs)).toEqual({ statuses, runs });
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

  test.each([
    ['seconds', '8'],
    ['date', 'Sat, 21 Nov 2026 09:00:10 GMT'],
  ] as const)('asks for a wait in %s', (retryAfter, header) => {
    const { trigger, pass } = harnessOf({ rateLimit: { requests: 1, window: '10s', retryAfter } });
    trigger();
    pass(2500);
    expect(trigger().headers['retry-after']).toBe(header);
  });

  test('refuses a revoked API key from that request on, and takes others', () => {
    const { trigger, status } = harnessOf({ apiKeys: ['key-2'], faults: [{ on: 'status', nth: 2, do: 'revokeKey' }] });
    const { executionId } = trigger().json();
    expect([1, 2, 3].map(() => status(executionId).status)).toEqual([200, 401, 401]);
    expect(trigger('other', { apiKey: 'key-2' }).status).toBe(201);
  });

  test('may know of a run late, of its end, too, add to what it says, and take endings from a list', () => {
    const plan = { statusLate: '3s', resultLate: '5s', extra: { region: 'north' }, outcome: ['FAILED', 'COMPLETED'] };
    const { trigger, status, result, pass } = harnessOf({ automations: { '*': plan as object } });
    const ends = [1, 2, 3].map(() => {
      const { executionId, region } = trigger().json();
      pass(2999);
      expect([region, status(executionId).status, result(executionId).status]).toEqual(['north', 422, 422]);
      pass(22_000);
      expect(result(executionId).json()).toMatchObject({ status: 'RUNNING', output: null });
      pass(1);
      expect(result(executionId).json().status).toBe(status(executionId).json().status);
      return status(executionId).json().status;
    });
    expect(ends).toEqual(['FAILED', 'COMPLETED', 'COMPLETED']);
  });

  test('says why it refuses in each shape differently, and names the active run', () => {
    const bodies = errorShapes.map((errorShape) => {
      const { trigger } = harnessOf({ errorShape, namesActiveRun: true });
      const { executionId } = trigger().json();
      const { body } = trigger();
      const isEmpty = errorShape === 'empty';
      expect([body.includes('runAlreadyActive'), body.includes(executionId)]).toEqual([!isEmpty, !isEmpty]);
      return body.replace(executionId, '');
    });
    expect(new Set(bodies).size).toBe(errorShapes.length);
  });
});

type Step =
  | { kind: 'trigger'; name: string; key?: string }
  | { kind: 'look'; at: number }
  | { kind: 'pass'; ms: number };

const names = ['nightly', 'a/b c', 'Übersicht 🚀'];
const key = fc.option(fc.constantFrom('k', 'l', 'm'), { nil: undefined });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('trigger' as const), name: fc.constantFrom(...names), key }),
  fc.record({ kind: fc.constant('look' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(15_000) }),
);
const late = fc.constantFrom('0s', '3s');
const plan = fc.record(
  {
    duration: fc.constantFrom('0s', '1s', '20s'),
    outcome: fc.array(fc.constantFrom(...finalStatuses), { minLength: 1 }),
    statusLate: late,
    resultLate: late,
  },
  { requiredKeys: [] },
);
const scenario = fc.record(
  {
    order: fc.constantFrom('keyFirst' as const, 'activeFirst' as const),
    replayErrors: fc.boolean(),
    namesActiveRun: fc.boolean(),
    errorShape: fc.constantFrom(...errorShapes),
    credits: fc.nat(40),
    rateLimit: fc.record({ requests: fc.integer({ min: 1, max: 9 }), window: fc.constant('10s') }),
    automations: fc.record({ '*': plan }),
  },
  { requiredKeys: [] },
);

/** What must hold whatever the scenario and whatever is asked; the harness holds every answer against the document. */
test('in every situation the answers conform, no key starts two runs and no automation has two', () => {
  fc.assert(
    fc.property(scenario, fc.array(step, { maxLength: 40 }), (scenario, steps) => {
      const { trigger, status, result, pass, service } = harnessOf(scenario);
      const idOf = new Map<string, string>();
      for (const step of steps) {
        if (step.kind === 'pass') pass(step.ms);
        else if (step.kind === 'look') {
          const run = service.runs()[step.at];
          if (run) for (const look of [status, result]) look(run.executionId, run.target.automationName);
        } else {
          const reply = trigger(step.name, step);
          if (reply.status !== 201) continue;
          const { executionId, status } = reply.json();
          expect(status).toBe('RUNNING');
          const scope = `${step.key} ${step.name}`;
          if (step.key) expect(idOf.get(scope) ?? executionId).toBe(executionId);
          idOf.set(scope, executionId);
        }
      }
      for (const name of names) {
        const runs = service.runs().filter(({ target }) => target.automationName === name);
        for (const [i, run] of runs.entries()) {
          expect(runs[i + 1]?.startedAtMs ?? run.endsAtMs).toBeGreaterThanOrEqual(run.endsAtMs);
        }
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});
