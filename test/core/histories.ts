import fc from 'fast-check';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { WriteFault } from './journal.ts';
import type { Condition, Traits } from './service.ts';

export const projectId = '00000000-0000-4000-8000-000000000001';
const otherProjectId = '00000000-0000-4000-8000-000000000002';

const normal: Condition = { arrivesMs: 50 };
/** Surely nothing was started. */
const refusals: Condition[] = [
  { reply: 'unreachable' },
  { reply: 'tls' },
  { reply: 'unauthorized' },
  { reply: 'rate_limited', retryAfterMs: 45_000 },
  { ...normal, refusal: 'no_credits' },
  { arrivesMs: 10_000, refusal: 'no_credits' },
  { arrivesMs: 20_000, refusal: 'rejected' },
];
/** A run may have been started. */
const losses: Condition[] = [
  { reply: 'no_response' },
  { reply: 'connection_lost' },
  { reply: 'server_error', retryAfterMs: 2 * minuteMs },
  { reply: 'redirected' },
  { ...normal, reply: 'no_response' },
  { ...normal, reply: 'connection_lost' },
  { ...normal, reply: 'server_error' },
  { ...normal, reply: 'invalid_response' },
  { ...normal, reply: 'redirected' },
  { ...normal, worksMs: 45_000 },
  { ...normal, worksMs: 5 * minuteMs },
  { ...normal, isBroken: true },
  { arrivesMs: 40_000 },
  { arrivesMs: 20 * minuteMs },
];
const conditions = fc.oneof(
  fc.constant(normal),
  fc.constantFrom(...refusals),
  fc.constantFrom(...losses),
);
const writeFaults: WriteFault[] = [undefined, 'lost', 'torn', 'whole', 'doubled'];

export const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 11, arbitrary: fc.constant(undefined) }, arbitrary);
const mostly = <const T>(usual: T, other: T) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, fc.constant(other));
export const hours = (...each: number[]) => fc.constantFrom(...each.map((hour) => hour * hourMs));

/** What commands that run at once have in common. */
const places = fc.record({
  machine: mostly(0, 1),
  apiKey: mostly('one', 'two'),
  /** Two projects have an automation of the same name. */
  projectId: mostly(projectId, otherProjectId),
  /** `--idempotency-key` of `trigger`. */
  key: fc.constantFrom(undefined, undefined, 'a', 'b'),
});

/** A command as somebody types it, and what happens to it. */
const uses = fc.record({
  command: fc.constantFrom('trigger', 'trigger', 'recover'),
  startsMs: fc.constantFrom(0, 1000, 5000, 10_000),
  ifActive: fc.constantFrom('fail', 'skip', 'wait'),
  watch: fc.boolean(),
  giveUpAfterMs: seldom(fc.constantFrom(0, 30_000)),
  timeoutMs: seldom(fc.constantFrom(minuteMs, hourMs)),
  /** What becomes of its requests to trigger, in order. */
  network: fc.array(conditions, { maxLength: 5 }),
  writeFaults: seldom(fc.array(fc.constantFrom(...writeFaults), { maxLength: 4 })),
  isUnreadable: seldom(fc.constant(true)),
  /** How long each of its steps takes at most. */
  stepMs: fc.constantFrom(10, 2000, 20_000),
  /** It dies before or after one of its uses of service, journal and clock. */
  killedAt: seldom(fc.integer({ min: 1, max: 12 })),
  interruptedAfterMs: seldom(fc.nat(2 * minuteMs)),
});

const moments = fc.record({
  afterMs: hours(0, 0.001, 0.005, 0.02, 0.2, 1, 5, 23, 26),
  place: places,
  uses: fc.array(uses, { minLength: 1, maxLength: 4 }),
  /** Somebody sets the time of day of the first machine. */
  setByMs: seldom(hours(-48, -5, -1, 1, 5, 48)),
  /** The first machine sleeps. */
  sleepMs: seldom(hours(0.01, 1, 9, 30)),
  /** Somebody else starts a run. */
  hasOtherRun: seldom(fc.constant(true)),
});

/** What happens on two machines, and to one service. */
export const histories = fc.record({
  seed: fc.nat(),
  traits: fc.record<Traits>({
    looksFirstFor: fc.constantFrom('key', 'active run'),
    storesRefusals: fc.boolean(),
    hasConflicts: fc.boolean(),
    replaysFirstResponse: fc.boolean(),
    isKeyOfAutomation: fc.boolean(),
    ignoresKeys: mostly(false, true),
    runMs: fc.constantFrom(1000, 20_000, 2 * minuteMs, hourMs),
  }),
  moments: fc.array(moments, { minLength: 1, maxLength: 5 }),
});

export type Value<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type History = Value<typeof histories>;
type AnyUse = Value<typeof uses> & Value<typeof places>;
export type Use = Partial<AnyUse> & Pick<AnyUse, 'command' | 'machine' | 'apiKey' | 'network'>;
