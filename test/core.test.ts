import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FailureKind } from '../src/run/failure.ts';
import { checkHistory, tally } from './core/checks.ts';
import { runCommand, type Use, type World } from './core/commands.ts';
import type { DiskFault } from './core/journal.ts';
import { type Condition, createService, type ServiceTraits } from './core/service.ts';
import {
  createMachine,
  createRandom,
  createTime,
  dayMs,
  hourMs,
  minuteMs,
  secondMs,
} from './core/time.ts';
import { checkWatch, type Watch } from './core/watch.ts';

const projectIds = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];

type Act =
  | { type: 'command'; use: Use }
  /** Somebody sets the time of day of the first machine. */
  | { type: 'set clock'; byMs: number }
  | { type: 'sleep'; ms: number }
  /** Somebody else starts a run. */
  | { type: 'other run' };

interface History {
  seed: number;
  traits: ServiceTraits;
  countsSleep: boolean;
  steps: { afterMs: number; act: Act }[];
}

const normal: Condition = { arrivesMs: 50 };
const faults: Condition[] = [
  { reply: 'unreachable' },
  { reply: 'tls' },
  { reply: 'no_response' },
  { reply: 'connection_lost' },
  { reply: 'server_error', retryAfterMs: 2 * minuteMs },
  { reply: 'rate_limited' },
  { reply: 'rate_limited', retryAfterMs: 45 * secondMs },
  { reply: 'redirected' },
  { reply: 'unauthorized' },
  { arrivesMs: 50, reply: 'no_response' },
  { arrivesMs: 50, reply: 'connection_lost' },
  { arrivesMs: 50, reply: 'server_error' },
  { arrivesMs: 50, reply: 'invalid_response' },
  { arrivesMs: 50, reply: 'redirected' },
  { arrivesMs: 50, worksMs: 45 * secondMs },
  { arrivesMs: 50, worksMs: 5 * minuteMs },
  { arrivesMs: 40 * secondMs },
  { arrivesMs: 20 * minuteMs },
  { arrivesMs: 50, isBroken: true },
  { arrivesMs: 50, refusal: 'no_credits' },
  { arrivesMs: 50, refusal: 'rejected' },
];

const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const uses: fc.Arbitrary<Use> = fc.record({
  command: fc.constantFrom('trigger', 'trigger', 'trigger', 'recover'),
  machine: fc.constantFrom(0, 0, 0, 1),
  apiKey: fc.constantFrom('one', 'one', 'one', 'two'),
  projectId: fc.constantFrom(projectIds[0] as string, ...projectIds),
  key: fc.constantFrom(undefined, undefined, 'a', 'a', 'b'),
  ifActive: fc.constantFrom('fail', 'skip', 'wait'),
  watch: fc.constantFrom(false, false, true),
  giveUpAfterMs: seldom(fc.constantFrom(0, 30 * secondMs)),
  timeoutMs: fc.constantFrom(undefined, minuteMs, hourMs),
  network: fc.array(fc.oneof(fc.constant(normal), fc.constantFrom(...faults)), { maxLength: 5 }),
  writeFaults: seldom(
    fc.array(fc.constantFrom<DiskFault>(undefined, 'lost', 'torn', 'whole', 'doubled'), {
      maxLength: 4,
    }),
  ).map((each) => each ?? []),
  isUnreadable: fc.constantFrom(...Array(15).fill(false), true),
  killedAt: seldom(fc.integer({ min: 1, max: 20 })),
  interruptedAfterMs: seldom(fc.integer({ min: 0, max: 2 * minuteMs })),
});

const hours = (...each: number[]) => fc.constantFrom(...each.map((hour) => hour * hourMs));
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 12, arbitrary: uses.map((use): Act => ({ type: 'command', use })) },
  {
    weight: 1,
    arbitrary: hours(-48, -5, -1, 1, 5, 48).map((byMs): Act => ({ type: 'set clock', byMs })),
  },
  { weight: 1, arbitrary: hours(0.01, 1, 9, 30).map((ms): Act => ({ type: 'sleep', ms })) },
  { weight: 1, arbitrary: fc.constant<Act>({ type: 'other run' }) },
);

const pauses = [0, 0.1, 0.1, 5, 60, 60, 600, 3600, 5 * 3600, 23 * 3600, 26 * 3600];
const histories: fc.Arbitrary<History> = fc.record({
  seed: fc.integer(),
  traits: fc.record({
    looksFirstFor: fc.constantFrom('key', 'active run'),
    storesRefusals: fc.boolean(),
    hasConflicts: fc.boolean(),
    replays: fc.constantFrom('first response', 'current state'),
    isKeyOfAutomation: fc.boolean(),
    ignoresKeys: fc.constantFrom(false, false, false, true),
    runMs: fc.constantFrom(secondMs, 20 * secondMs, 2 * minuteMs, hourMs),
  }),
  countsSleep: fc.boolean(),
  steps: fc.array(
    fc.record({ afterMs: fc.constantFrom(...pauses.map((each) => each * 1000)), act: acts }),
    { minLength: 1, maxLength: 7 },
  ),
});

const calm: Use = {
  command: 'recover',
  machine: 0,
  apiKey: 'one',
  projectId: projectIds[0] as string,
  key: undefined,
  ifActive: 'fail',
  watch: false,
  giveUpAfterMs: undefined,
  timeoutMs: undefined,
  network: [],
  writeFaults: [],
  isUnreadable: false,
  killedAt: undefined,
  interruptedAfterMs: undefined,
};

async function play({ seed, traits, countsSleep, steps }: History): Promise<World> {
  const time = createTime();
  const world: World = {
    time,
    machines: [createMachine(time, countsSleep), createMachine(time, countsSleep)],
    disks: [{ lines: [] }, { lines: [] }],
    service: createService(traits, time),
    areKeysIgnored: traits.ignoresKeys,
    random: createRandom(seed),
    commands: [],
  };
  const [machine] = world.machines;
  let atMs = 0;
  const errors: unknown[] = [];
  for (const { afterMs, act } of steps) {
    atMs += afterMs;
    time.after(atMs, () => {
      if (act.type === 'command')
        runCommand(act.use, world).catch((error) => errors.push(error));
      else if (act.type === 'sleep') machine?.sleep(act.ms);
      else if (act.type === 'set clock' && machine) machine.setByMs += act.byMs;
      else world.service.start({ projectId: projectIds[0] as string, name: 'nightly' });
    });
  }
  await time.pass();
  expect(errors).toEqual([]);
  return world;
}

const path = process.env.RUNCTL_PATH;
const count = Number(process.env.RUNCTL_HISTORIES ?? 400);
const seed = Number(process.env.RUNCTL_SEED ?? Date.now() % 2 ** 31);

test('histories', { timeout: 3_600_000 }, async () => {
  const startMs = Date.now();
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      checkHistory(await play(history));
    }),
    { numRuns: count, seed, path },
  );
  console.log(Date.now() - startMs, 'ms', tally);
});

const replies = fc.array(
  fc.record({
    tookMs: fc.constantFrom(0, 50, 50, 5 * secondMs, 29 * secondMs, hourMs),
    failure: fc.constantFrom<(FailureKind | undefined)[]>(
      undefined,
      undefined,
      'unreachable',
      'tls',
      'no_response',
      'server_error',
      'redirected',
      'rate_limited',
      'unauthorized',
      'not_found',
    ),
    retryAfterMs: seldom(
      fc.constantFrom(secondMs, minuteMs, 9 * minuteMs, 11 * minuteMs, 2 * hourMs),
    ),
    times: fc.constantFrom(1, 1, 5, 100),
  }),
  { maxLength: 6 },
);

const watches: fc.Arbitrary<Watch> = fc.record({
  seed: fc.integer(),
  statuses: replies,
  results: replies,
  sleeps: fc.array(
    fc.record({ atMs: fc.integer({ max: hourMs, min: 0 }), ms: hours(0.01, 1, 9) }),
    { maxLength: 3 },
  ),
  countsSleep: fc.boolean(),
  options: fc.record({
    patienceMs: fc.constantFrom(0, secondMs, 30 * secondMs, 10 * minuteMs),
    isPatienceGiven: fc.boolean(),
    deadlineMs: fc.constantFrom(
      ...[minuteMs, 20 * minuteMs, 3 * hourMs, Number.POSITIVE_INFINITY],
    ),
    isAccepted: fc.boolean(),
    isRecorded: fc.boolean(),
  }),
});

test('watches', { timeout: 3_600_000 }, async () => {
  const startMs = Date.now();
  await fc.assert(fc.asyncProperty(watches, checkWatch), { numRuns: count, seed, path });
  console.log(Date.now() - startMs, 'ms');
});
