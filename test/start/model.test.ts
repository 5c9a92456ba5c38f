import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { hour, second } from '../helpers/durations.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import {
  checkFollowed,
  checkJournals,
  checkNoneTwice,
  checkNotRepeated,
  checkRecoveries,
  checkStart,
  type Past,
  tally,
  tell,
} from './model-checks.ts';
import type { Condition } from './simulated-service.ts';
import { createSimulation, type SimulationOptions, type Use } from './simulation.ts';

const lossy = (['lost', 'unreadable'] as const).flatMap((kind): Condition[] => [
  { kind, acts: true },
  { kind, acts: false },
]);
const doubtful = [503, 409, 501].flatMap((status): Condition[] => [
  { kind: 'answer', status, acts: true },
  { kind: 'answer', status },
]);
const unacting: Condition[] = [
  { kind: 'unreachable' },
  { kind: 'tls_handshake_failed' },
  { kind: 'answer', status: 429 },
  { kind: 'answer', status: 429, retryAfter: 3 },
  { kind: 'answer', status: 429, retryAfter: 45 },
  { kind: 'answer', status: 503, retryAfter: 700 },
  { kind: 'answer', status: 401 },
  { kind: 'answer', status: 402 },
  { kind: 'answer', status: 400 },
];
const odd: Condition[] = [{ kind: 'stale' }, { kind: 'missing' }, { kind: 'odd' }, { kind: 'undated' }];
const isClear = ({ kind }: Condition) => ['normal', 'undated', 'stale', 'missing', 'odd'].includes(kind);

const anyCondition = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Condition>({ kind: 'normal' }) },
  { weight: 4, arbitrary: fc.constantFrom(...lossy) },
  { weight: 2, arbitrary: fc.constantFrom(...doubtful) },
  { weight: 2, arbitrary: fc.constantFrom(...unacting) },
  { weight: 2, arbitrary: fc.constantFrom(...odd) },
);

const uses: fc.Arbitrary<Use> = fc.record({
  command: fc.constantFrom('trigger', 'trigger', 'trigger', 'recover', 'watch', 'schedule', 'schedule'),
  machine: fc.constantFrom(0, 0, 1),
  key: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
  ifActive: fc.constantFrom('fail', 'skip', 'wait'),
  lateMs: fc.constantFrom(0, 100, 1_000, 2_500, 20_000, 90_000),
  watches: fc.boolean(),
  conditions: fc.array(anyCondition, { maxLength: 8 }),
  kill: fc.option(fc.record({ nth: fc.integer({ min: 1, max: 9 }), after: fc.boolean() }), { nil: undefined, freq: 2 }),
  disturbed: fc.option(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 60_000 }),
      byMs: fc.constantFrom(-5 * hour, -hour, -240_000, -30_000, -3_000, 3_000, 30_000, hour, 5 * hour),
    }),
    { nil: undefined, freq: 3 },
  ),
});

/** What is used alone, or at once, perhaps with the same key; all of it with one API key. */
interface Moment {
  uses: Use[];
  account: 0 | 1;
  /** By how much the wall clock of the first machine is set before. */
  setMs: number;
  /** Time until the next one. */
  restMs: number;
}

const moments: fc.Arbitrary<Moment> = fc.record({
  uses: fc.array(uses, { minLength: 1, maxLength: 3 }),
  account: fc.constantFrom(0, 0, 0, 1),
  setMs: fc.constantFrom(0, 0, 0, -48 * hour, -2 * hour, 120 * second, 2 * hour),
  restMs: fc.constantFrom(0, 1_000, 5_000, 60_000, 300_000, hour),
});

const simulations: fc.Arbitrary<SimulationOptions> = fc.record({
  seed: fc.integer(),
  order: fc.constantFrom('keyFirst', 'activeFirst'),
  namesActiveRun: fc.constantFrom(true, true, false),
  replaysRefusals: fc.boolean(),
  idempotencyKeys: fc.constantFrom('honored', 'ignored'),
  ignoresKeys: fc.boolean(),
  durationMs: fc.constantFrom(1_000, 20_000, 120_000, hour),
  hostSkewMs: fc.constantFrom(0, 2_000, 60_000),
  latencyMs: fc.constantFrom(0, 200, 200, 5_000),
  offsetsMs: fc.tuple(fc.constantFrom(0, -5 * hour, 3_000, 7 * hour), fc.constantFrom(0, -40_000)),
  disturbance: fc.constantFrom('set', 'sleep'),
  fileBytes: fc.constantFrom(undefined, 10_000),
});

const scratch = mkdtempSync(join(tmpdir(), 'runctl-model-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let count = 0;

async function simulate(options: SimulationOptions, sequence: Moment[]): Promise<void> {
  const simulation = createSimulation(join(scratch, String(count++)), options);
  const past: Past = { simulation, options, sent: [], isClear: true };
  for (const [index, moment] of sequence.entries()) {
    simulation.setClock(moment.setMs);
    past.isClear &&= moment.uses.every(({ kill, conditions }) => !kill && conditions.every(isClear));
    const outcomes = await Promise.all(
      moment.uses.map(async (use) => ({ use, outcome: await simulation.run(use, moment.account) })),
    );
    for (const { use, outcome } of outcomes) {
      const isKilled = outcome.isKilled === true;
      for (const attempt of simulation.sentBy.get(use) ?? [])
        past.sent.push({ moment: index, machine: use.machine, attempt, use, isKilled });
    }
    for (const { use, outcome } of outcomes) {
      if (outcome.isKilled) tell('killed');
      if (use.command === 'trigger') checkStart(use, moment.uses, outcome, past);
      checkRecoveries(use, outcome, past);
      checkFollowed(use, outcome, past);
    }
    checkJournals(past);
    checkNoneTwice(past);
    checkNotRepeated(past);
    await simulation.clock.sleep(moment.restMs);
  }
}

const alone: Use = { command: 'trigger', machine: 0, ifActive: 'fail', lateMs: 0, watches: false, conditions: [] };
const plain: SimulationOptions = {
  seed: 1,
  order: 'activeFirst',
  namesActiveRun: true,
  replaysRefusals: false,
  idempotencyKeys: 'honored',
  ignoresKeys: false,
  durationMs: hour,
  hostSkewMs: 0,
  latencyMs: 0,
  offsetsMs: [0, 0],
  disturbance: 'set',
};
const momentOf = (uses: Use[], restMs = 0): Moment => ({ uses, account: 0, setMs: 0, restMs });
const throttled: Condition = { kind: 'answer', status: 429, retryAfter: 45 };

const killed = { nth: 2, after: true };

/** What chance seldom finds. */
const rare: [SimulationOptions, Moment[]][] = [
  // A schedule starts a run long after the last attempt in doubt.
  [
    plain,
    [
      momentOf([
        { ...alone, conditions: [{ kind: 'lost', acts: false }, throttled, throttled] },
        { ...alone, command: 'schedule', lateMs: 90_000 },
      ]),
    ],
  ],
  // A given key is superseded while its outcome is unknown, and then used with another API key.
  [
    { ...plain, order: 'keyFirst', durationMs: second },
    [
      momentOf([
        { ...alone, key: 'a', kill: killed },
        { ...alone, lateMs: 20_000 },
      ]),
      {
        ...momentOf([
          { ...alone, key: 'a', lateMs: 90_000 },
          { ...alone, command: 'recover' },
        ]),
        account: 1,
      },
    ],
  ],
  // A trigger that completed while the clock was 2 minutes ahead is no later one than a trigger that was lost after it.
  [
    { ...plain, durationMs: second },
    [
      { ...momentOf([alone], 60_000), setMs: 120 * second },
      { ...momentOf([{ ...alone, kill: killed }]), setMs: -120 * second },
      momentOf([{ ...alone, command: 'recover' }]),
    ],
  ],
  // The clock is set back between a trigger that is killed and `recover`: its own run seems to be older than it.
  [
    plain,
    [
      momentOf([{ ...alone, kill: killed, disturbed: { afterMs: 1_000, byMs: -240_000 } }], 60_000),
      momentOf([{ ...alone, command: 'recover' }]),
    ],
  ],
];

test('whatever fails and whenever runctl is killed, a trigger starts one run at most, no run is lost, and each is reported correctly', async () => {
  await fc.assert(fc.asyncProperty(simulations, fc.array(moments, { minLength: 1, maxLength: 5 }), simulate), {
    numRuns: propertyRuns(Number(process.env.SIMULATIONS ?? 200)),
    examples: rare,
  });
  // The simulations have met what is rare.
  expect(Object.keys(tally)).toEqual(expect.arrayContaining(['started yes', 'killed', 'outcome_unknown']));
  if (process.env.SIMULATIONS) process.stderr.write(`${JSON.stringify({ simulations: count, ...tally }, null, 1)}\n`);
}, 3_600_000);
