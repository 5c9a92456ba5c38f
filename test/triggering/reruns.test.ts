import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { finalStatuses } from '../../src/runs/statuses.ts';
import { propertyRuns, propertyTimeoutMs } from '../helpers/property-runs.ts';
import type { Condition } from './simulated-service.ts';
import { createSimulation, type Use } from './simulation.ts';

const hour = 3_600_000;
const maxReruns = 2;
const conditions: Condition[] = [
  { kind: 'normal' },
  { kind: 'normal' },
  { kind: 'lost', acts: true },
  { kind: 'lost', acts: false },
  { kind: 'answer', status: 503, acts: true },
  { kind: 'answer', status: 429 },
  { kind: 'answer', status: 402 },
  { kind: 'unreachable' },
  { kind: 'stale' },
  { kind: 'missing' },
];

const uses: fc.Arbitrary<Use> = fc.record({
  command: fc.constantFrom('trigger', 'trigger', 'trigger', 'recover', 'schedule'),
  machine: fc.constantFrom(0, 1),
  key: fc.constant('K'),
  ifActive: fc.constantFrom('fail', 'wait', 'attach'),
  lateMs: fc.constantFrom(0, 100, 1_000, 20_000, 90_000),
  watches: fc.constant(true),
  maxReruns: fc.constant(maxReruns),
  conditions: fc.array(fc.constantFrom(...conditions), { maxLength: 10 }),
  kill: fc.option(fc.record({ nth: fc.integer({ min: 1, max: 25 }), after: fc.boolean() }), {
    nil: undefined,
    freq: 2,
  }),
});

const moments = fc.record({
  uses: fc.array(uses, { minLength: 1, maxLength: 3 }),
  restMs: fc.constantFrom(0, 1_000, 60_000, hour),
});

const services = fc.record({
  seed: fc.integer(),
  order: fc.constantFrom('keyFirst', 'activeFirst'),
  namesActiveRun: fc.boolean(),
  replaysRefusals: fc.boolean(),
  idempotencyKeys: fc.constant('honored'),
  durationMs: fc.constantFrom(1_000, 20_000, 300_000),
  outcomes: fc.array(fc.constantFrom(...finalStatuses, 'FAILED', 'FAILED'), { minLength: 1, maxLength: 5 }),
  hostSkewMs: fc.constantFrom(0, 2_000),
  latencyMs: fc.constantFrom(0, 200),
  offsetsMs: fc.constant<[number, number]>([0, -40_000]),
  disturbance: fc.constant('set'),
});

/** Two processes send the key while another's run is active. One takes that run for its own, and the other goes by its record. */
const takenForOwn: [Parameters<typeof createSimulation>[1], { uses: Use[]; restMs: number }[]] = [
  {
    seed: 0,
    order: 'keyFirst',
    namesActiveRun: true,
    replaysRefusals: false,
    idempotencyKeys: 'honored',
    durationMs: 1_000,
    outcomes: ['FAILED'],
    hostSkewMs: 0,
    latencyMs: 0,
    offsetsMs: [0, -40_000],
    disturbance: 'set',
  },
  [
    {
      uses: (['trigger', 'schedule', 'trigger'] as const).map((command) => ({
        command,
        machine: 0,
        key: 'K',
        ifActive: 'fail',
        lateMs: command === 'schedule' ? 100 : 1_000,
        watches: true,
        maxReruns,
        conditions: [],
      })),
      restMs: 0,
    },
  ],
];

const scratch = mkdtempSync(join(tmpdir(), 'runctl-reruns-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let count = 0;
const tally: Record<string, number> = {};

test(
  'the tries of one key, K, K/1, K/2, start at most one COMPLETED run on any number of machines, and none after an unknown outcome',
  async () => {
    await fc.assert(
      fc.asyncProperty(services, fc.array(moments, { minLength: 1, maxLength: 5 }), async (options, sequence) => {
        const simulation = createSimulation(join(scratch, String(count++)), options);
        for (const { uses, restMs } of sequence) {
          await Promise.all(uses.map((use) => simulation.run(use)));
          await simulation.clock.sleep(restMs);
        }
        const tries = Array.from({ length: 1 + 10 }, (_, n) => (n === 0 ? 'K' : `K/${n}`)).map((key) =>
          simulation.service.runs().filter(({ idempotencyKey }) => idempotencyKey === key),
        );
        const started = tries.flat();
        tally[`${started.length} tries`] = (tally[`${started.length} tries`] ?? 0) + 1;
        for (const [n, runs] of tries.entries()) {
          expect(runs.length, 'a run for each try').toBeLessThanOrEqual(1);
          if (n > 0 && runs.length > 0) {
            expect(tries[n - 1], 'a try follows one that failed').toMatchObject([
              { outcome: expect.stringMatching(/^(FAILED|TIMED_OUT)$/) },
            ]);
          }
        }
        expect(started.length, 'no more tries than allowed').toBeLessThanOrEqual(maxReruns + 1);
        expect(started.filter(({ outcome }) => outcome === 'COMPLETED').length).toBeLessThanOrEqual(1);
      }),
      {
        numRuns: propertyRuns(Number(process.env.SIMULATIONS ?? 200)),
        endOnFailure: true,
        examples: [takenForOwn],
      },
    );
    expect(tally['3 tries'], 'some simulations use every try').toBeGreaterThan(0);
    if (process.env.SIMULATIONS) process.stderr.write(`${JSON.stringify({ simulations: count, ...tally })}\n`);
  },
  process.env.SIMULATIONS ? 3_600_000 : propertyTimeoutMs,
);
