import fc from 'fast-check';
import { hourMs, minuteMs } from '../../src/run/time.ts';
import type { WriteFault } from './journal.ts';
import type { Condition, Traits } from './service.ts';

export const projectId = '00000000-0000-4000-8000-000000000001';
const otherProjectId = '00000000-0000-4000-8000-000000000002';

const normal: Condition = { arrivesMs: 50 };
const faults: Condition[] = [
  { reply: 'unreachable' },
  { reply: 'tls' },
  { reply: 'no_response' },
  { reply: 'connection_lost' },
  { reply: 'server_error', retryAfterMs: 2 * minuteMs },
  { reply: 'rate_limited', retryAfterMs: 45_000 },
  { reply: 'redirected' },
  { reply: 'unauthorized' },
  { ...normal, reply: 'no_response' },
  { ...normal, reply: 'connection_lost' },
  { ...normal, reply: 'server_error' },
  { ...normal, worksMs: 45_000 },
  { ...normal, worksMs: 5 * minuteMs },
  { ...normal, isBroken: true },
  { ...normal, refusal: 'no_credits' },
  { ...normal, refusal: 'rejected' },
  { arrivesMs: 40_000 },
  { arrivesMs: 20 * minuteMs },
];
const writeFaults: WriteFault[] = [undefined, 'lost', 'torn', 'whole', 'doubled'];

export const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** A command as somebody types it, and what happens to it. */
const uses = fc.record({
  command: fc.constantFrom('trigger', 'trigger', 'trigger', 'recover'),
  machine: fc.constantFrom(0, 0, 0, 0, 1),
  apiKey: fc.constantFrom('one', 'one', 'one', 'one', 'two'),
  /** Two projects have an automation of the same name. */
  projectId: fc.constantFrom(projectId, projectId, projectId, otherProjectId),
  /** `--idempotency-key` */
  key: fc.constantFrom(undefined, undefined, 'a', 'a', 'b'),
  ifActive: fc.constantFrom('fail', 'skip', 'wait'),
  watch: fc.constantFrom(false, false, true),
  giveUpAfterMs: seldom(fc.constantFrom(0, 30_000)),
  timeoutMs: seldom(fc.constantFrom(minuteMs, hourMs)),
  /** What becomes of its requests to trigger, in order. */
  network: fc.array(fc.oneof(fc.constant(normal), fc.constantFrom(...faults)), { maxLength: 5 }),
  writeFaults: seldom(fc.array(fc.constantFrom(...writeFaults), { maxLength: 4 })),
  isUnreadable: seldom(fc.constantFrom(true)),
  /** It dies before or after one of its uses of service, journal and clock. */
  killedAt: seldom(fc.integer({ min: 1, max: 12 })),
  interruptedAfterMs: seldom(fc.nat(2 * minuteMs)),
});

export const hours = (...each: number[]) => fc.constantFrom(...each.map((hour) => hour * hourMs));
const acts = fc.oneof(
  { weight: 12, arbitrary: fc.record({ type: fc.constant('command' as const), use: uses }) },
  // Somebody sets the time of day of the first machine.
  fc.record({ type: fc.constant('set clock' as const), byMs: hours(-48, -5, -1, 1, 5, 48) }),
  fc.record({ type: fc.constant('sleep' as const), ms: hours(0.01, 1, 9, 30) }),
  // Somebody else starts a run.
  fc.record({ type: fc.constant('other run' as const) }),
);

/** What happens on two machines, and to one service. */
export const histories = fc.record({
  seed: fc.nat(),
  traits: fc.record<Traits>({
    looksFirstFor: fc.constantFrom('key', 'active run'),
    storesRefusals: fc.boolean(),
    hasConflicts: fc.boolean(),
    replaysFirstResponse: fc.boolean(),
    isKeyOfAutomation: fc.boolean(),
    ignoresKeys: fc.constantFrom(false, false, false, true),
    runMs: fc.constantFrom(1000, 20_000, 2 * minuteMs, hourMs),
  }),
  countsSleep: fc.boolean(),
  steps: fc.array(
    fc.record({
      afterMs: hours(0, 0.0005, 0.001, 0.002, 0.005, 0.02, 0.2, 1, 5, 23, 26),
      act: acts,
    }),
    { minLength: 1, maxLength: 7 },
  ),
});

export type Value<A> = A extends fc.Arbitrary<infer T> ? T : never;
type AnyUse = Value<typeof uses>;
export type Use = Partial<AnyUse> & Pick<AnyUse, 'command' | 'machine' | 'apiKey' | 'network'>;
export type History = Value<typeof histories>;
