import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finalStatuses } from '../../src/run/statuses.ts';
import { createHarness } from '../emulator/harness.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { createRandom } from '../helpers/random.ts';
import { createFaultyService } from './faulty-service.ts';
import type { Scenario } from './scenario.ts';

const harnessOf = (scenario: Scenario = {}) => createHarness(createFaultyService(scenario, 'key-1', createRandom(1)));

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
    finalStatus: fc.array(fc.constantFrom(...finalStatuses), { minLength: 1 }),
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
    credits: fc.nat(40),
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
