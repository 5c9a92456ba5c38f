import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { isFinal } from '../../src/runs/run.ts';
import { propertyRuns, propertyTimeoutMs } from '../helpers/property-runs.ts';
import { fault, target } from '../helpers/scripted-service.ts';
import type { Condition } from '../helpers/service-model.ts';
import { baseUrl } from '../helpers/session.ts';
import { createSimulation, type ServiceOptions, type Simulation, type Use } from './simulation.ts';

vi.setConfig({ testTimeout: propertyTimeoutMs });

const lossy = (['lost', 'unavailable', 'unreadable', 'in_progress'] as const).flatMap((kind): Condition[] =>
  [true, false].map((acts) => ({ ...fault(kind), acts })),
);
const unacting = [
  fault('unreachable'),
  fault('throttled', { httpStatus: 429 }),
  fault('throttled', { httpStatus: 429, retryAfterMs: 3_000 }),
  fault('throttled', { httpStatus: 429, retryAfterMs: 45_000 }),
  fault('unavailable', { httpStatus: 503, retryAfterMs: 700_000 }),
  fault('unauthorized', { httpStatus: 401 }),
  fault('no_credits', { httpStatus: 402 }),
  fault('rejected', { httpStatus: 400 }),
  fault('untrusted'),
].map((condition): Condition => ({ ...condition, acts: false }));
const lostForGood: Condition = {
  ...fault('rejected', { httpStatus: 501 }),
  acts: true,
};
const normal: Condition = { kind: 'normal' };

const anyCondition = fc.oneof(
  { weight: 3, arbitrary: fc.constant(normal) },
  { weight: 4, arbitrary: fc.constantFrom(...lossy) },
  { weight: 3, arbitrary: fc.constantFrom<Condition>(...unacting, lostForGood) },
  { weight: 2, arbitrary: fc.constantFrom<Condition>({ kind: 'stale' }, { kind: 'missing' }, { kind: 'odd' }) },
);

const uses: fc.Arbitrary<Use> = fc.record({
  command: fc.constantFrom('trigger', 'trigger', 'trigger', 'recover', 'watch', 'elsewhere'),
  key: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
  ifActive: fc.constantFrom('fail', 'skip', 'wait', 'attach'),
  lateMs: fc.constantFrom(0, 100, 1_000),
  watches: fc.boolean(),
  conditions: fc.array(anyCondition, { maxLength: 8 }),
  kill: fc.option(fc.record({ nth: fc.integer({ min: 1, max: 9 }), after: fc.boolean() }), { nil: undefined, freq: 2 }),
  restMs: fc.constantFrom(0, 5_000, 60_000, 300_000),
});

/** What is used alone, or two at once, perhaps with the same key. */
const moments = fc.oneof(
  uses.map((use) => [use]),
  fc.tuple(uses, uses),
);

const services: fc.Arbitrary<ServiceOptions> = fc.record({
  order: fc.constantFrom('keyFirst', 'activeFirst'),
  namesActiveRun: fc.boolean(),
  replaysRefusals: fc.boolean(),
  durationMs: fc.constantFrom(1_000, 20_000, 120_000),
});

const scratch = mkdtempSync(join(tmpdir(), 'runctl-model-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let worlds = 0;

/** What must hold whatever has happened. */
function checkSimulation({ model, journal, keysOf, foreignKeys }: Simulation): void {
  const { runs } = model;
  const records = [...journal().runs({ baseUrl })];
  const known = new Set(records.map(({ executionId }) => executionId));
  const open = new Set(
    journal()
      .unresolvedTriggers({ baseUrl })
      .map(({ idempotencyKey }) => idempotencyKey),
  );
  for (const { executionId, idempotencyKey } of runs) {
    const isOurs = !foreignKeys.has(idempotencyKey);
    if (isOurs) expect(known.has(executionId) || open.has(idempotencyKey), 'no run is lost').toBe(true);
    expect(
      runs.filter((run) => run.idempotencyKey === idempotencyKey),
      'one run for a key',
    ).toHaveLength(1);
  }
  for (const { executionId, idempotencyKey } of records) {
    const run = runs.find((candidate) => candidate.executionId === executionId);
    if (run && idempotencyKey !== null)
      expect(idempotencyKey, 'the journal knows it by its key').toBe(run.idempotencyKey);
  }
  for (const [use, keys] of keysOf) {
    if (use.command !== 'trigger') continue;
    const its = runs.filter((run) => keys.has(run.idempotencyKey));
    expect(its.length, 'one run for a trigger').toBeLessThanOrEqual(1);
  }
}

/** What one use of the program told must agree with the service. */
function checkTold(
  use: Use,
  moment: Use[],
  sequence: Use[][],
  told: Awaited<ReturnType<Simulation['run']>>,
  { model, keysOf, foreignKeys, journal, clock }: Simulation,
): void {
  const keys = keysOf.get(use) ?? new Set();
  const its = model.runs.filter((run) => keys.has(run.idempotencyKey));
  const { started, problem, followed } = told;
  if (started) expect([...keys], 'a run that was started is of our key').toContain(started.idempotencyKey);
  // Of a given key another process may start one at the same time.
  const isAlone = use.key === undefined || moment.every((other) => other === use || other.key !== use.key);
  if (use.command === 'trigger' && isAlone && problem?.facts.started === 'no') {
    expect(its, `no run was started (${problem.message})`).toEqual([]);
  }
  if (problem?.facts.started === 'unknown') {
    const { idempotencyKey = '' } = problem.facts;
    const known = journal().findKey({ baseUrl, target, idempotencyKey });
    const mayHaveClosed = isAlone ? /open|accepted/ : /open|accepted|refused/;
    expect(known?.state ?? 'refused', 'what is unknown can be recovered, or has been meanwhile').toMatch(mayHaveClosed);
    // Somebody's answer was lost, or somebody was killed: else there is nothing to doubt.
    const isClear = ({ conditions, kill }: Use) => !kill && conditions.every(({ kind }) => kind !== 'fault');
    expect(sequence.flat().every(isClear), 'there is a reason for doubt').toBe(false);
  }
  if (!followed) return;
  const { watched } = followed;
  const run = model.runs.find(({ executionId }) => executionId === watched.run.executionId);
  const { status = 'nothing' } = watched.execution ?? {};
  if (isFinal(target, status)) {
    expect(status, 'a final state is told truly').toBe(run?.outcome);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(run?.endsAtMs ?? Number.NaN);
    const record = journal().find(watched.run.executionId, { baseUrl });
    expect(record?.status, 'and stays in the journal').toBe(status);
    expect(followed.problem?.facts.name ?? 'none').toMatch(/^(none|result_unavailable)$/);
    if (!followed.problem) expect(watched).toMatchObject({ kind: 'finished', result: { status } });
  } else {
    expect(followed.problem, 'a watch without an end has a reason').toBeDefined();
    const isOurs = run !== undefined && !foreignKeys.has(run.idempotencyKey);
    if (isOurs) expect(followed.problem?.facts.name).not.toBe('not_found');
  }
}

const plain: Use = { command: 'trigger', ifActive: 'fail', lateMs: 0, watches: false, conditions: [], restMs: 0 };
const waiting: Use = { ...plain, conditions: [{ ...fault('throttled', { retryAfterMs: 5_000 }), acts: false }] };
const recover: Use = { ...plain, command: 'recover' };
const meanwhile: Use = { ...recover, lateMs: 1_000 };
const unsent = { nth: 1, after: true };
const sent = { nth: 2, after: true };
const rude: ServiceOptions = { order: 'activeFirst', namesActiveRun: true, replaysRefusals: false, durationMs: 1_000 };
const slow = { ...rude, durationMs: 20_000 };
/** What chance has found, or a reviewer, and what chance may not find again. */
const found: [ServiceOptions, Use[][]][] = [
  // A conflict that names the run of another trigger.
  [rude, [[{ ...plain, kill: sent, restMs: 5_000 }], [{ ...plain, kill: sent }], [recover]]],
  [rude, [[{ ...plain, kill: sent, restMs: 5_000 }], [plain], [recover]]],
  [rude, [[{ ...plain, command: 'elsewhere' }], [{ ...plain, conditions: [{ ...fault('lost'), acts: false }] }]]],
  // Two of one key that are both refused for the run of somebody else.
  [
    { ...slow, namesActiveRun: false },
    [
      [{ ...plain, command: 'elsewhere' }],
      [
        { ...plain, key: 'a' },
        { ...plain, key: 'a' },
      ],
    ],
  ],
  // A trigger that another process settles while it waits, or is killed over.
  [slow, [[{ ...waiting, ifActive: 'wait' }, meanwhile]]],
  [slow, [[waiting, { ...meanwhile, kill: unsent }]]],
  [slow, [[waiting, { ...meanwhile, kill: sent }]]],
];

test('whatever fails and whenever it is killed, each trigger starts one run at most, none is lost, and each is reported truly', async () => {
  const tally: Record<string, number> = {};
  const count = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1;
  };
  await fc.assert(
    fc.asyncProperty(services, fc.array(moments, { minLength: 1, maxLength: 5 }), async (options, sequence) => {
      const world = createSimulation(join(scratch, String(worlds++)), options);
      for (const moment of sequence) {
        const told = await Promise.all(moment.map(async (use) => ({ use, ...(await world.run(use)) })));
        checkSimulation(world);
        for (const { use, ...tale } of told) {
          checkTold(use, moment, sequence, tale, world);
          count(tale.isKilled ? 'killed' : ((tale.problem ?? tale.followed?.problem)?.facts.name ?? 'fine'));
        }
        await world.clock.sleep(moment[0]?.restMs ?? 0);
      }
      // When nothing fails, and once every run has ended, nothing stays unknown.
      for (let round = 0; round < sequence.flat().length; round++) {
        await world.clock.sleep(options.durationMs);
        await world.run(recover);
        checkSimulation(world);
      }
      if (!options.replaysRefusals) expect(world.journal().unresolvedTriggers({ baseUrl })).toEqual([]);
    }),
    { numRuns: propertyRuns(120), examples: found },
  );
  // The sequences have been where it hurts.
  expect(Object.keys(tally)).toEqual(expect.arrayContaining(['fine', 'killed', 'outcome_unknown']));
});
