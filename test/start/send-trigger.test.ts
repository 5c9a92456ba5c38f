import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attributions } from '../../src/run/attribution.ts';
import type { RecordedKey, UnresolvedTrigger } from '../../src/run/entry.ts';
import type { Answer, RunStatus } from '../../src/run/service.ts';
import type { Trigger } from '../../src/run/trigger.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { isEnd, protocol, type TriggerEvent, type TriggerState } from '../../src/start/protocol.ts';
import { type EarlierUse, type SendPorts, sendUntilKnown, type TriggerResult } from '../../src/start/send-trigger.ts';
import type { JsonObject } from '../../src/system/json.ts';
import { hour } from '../helpers/durations.ts';
import { executionId, fault, projectId, running, scriptedService, state, target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

const trigger: Trigger = {
  baseUrl: 'https://service.test',
  account: 'account',
  target,
  idempotencyKey: 'key-1',
  userProvided: false,
  body: '{}',
};

interface Given {
  ports?: Partial<SendPorts>;
  history?: EarlierUse;
  userProvided?: boolean;
  /** What the journal has of the key; `open` is an unresolved trigger of this age. */
  readKey?(open: (ageMs: number) => UnresolvedTrigger): RecordedKey | undefined;
  isTaken?: boolean;
}

async function triggered(
  script: Answer<RunStatus>[],
  { ports, history = {}, userProvided = false, ...given }: Given = {},
) {
  const service = scriptedService({ trigger: script });
  const clock = createVirtualClock();
  const records: string[] = [];
  const { earlier } = history;
  const at = (ageMs: number) => new Date(clock.nowMs() - ageMs).toISOString();
  const open = (ageMs: number): UnresolvedTrigger => ({
    kind: 'unresolved',
    ...trigger,
    attempts: [],
    senders: [],
    at: at(ageMs),
  });
  const readKey = given.readKey ?? (() => earlier && open(earlier.ageMs));
  const result = await sendUntilKnown(
    { ...trigger, userProvided },
    {
      service,
      clock,
      limiter: createRateLimiter(10, clock),
      random: () => 0.5,
      signal: new AbortController().signal,
      giveUpAfterMs: 30_000,
      record: {
        sending: () => records.push('sending'),
        inDoubt({ kind }, { isLast }) {
          const isConflict = kind === 'already_active';
          records.push(isLast ? 'left in doubt' : isConflict ? 'met a conflict' : 'in doubt');
        },
        started: () => records.push('started'),
        refused: () => records.push('refused'),
        isTaken: () => given.isTaken === true,
        readKey: () => readKey(open),
      },
      ...ports,
    },
    history,
  );
  return { result, records, sent: service.calls.trigger, clock };
}

/** An earlier process sent the idempotency key so long ago, and nobody knows what came of it. */
const earlierOf = (ageMs: number): EarlierUse => ({ earlier: { ageMs } });

const conflict = fault('already_active', { httpStatus: 422 });
const otherId = executionId.replace(/^./, '0');
const ourConflict = fault('already_active', { httpStatus: 422, executionId });
const lost = fault('lost');

describe('one trigger', () => {
  const table: [string, Answer<RunStatus>[], TriggerResult['kind'], string[], number][] = [
    ['accepted at once', [running()], 'started', ['sending', 'started'], 1],
    [
      'accepted after a 429',
      [fault('throttled', { httpStatus: 429 }), running()],
      'started',
      ['sending', 'started'],
      2,
    ],
    ['accepted after a lost answer', [lost, running()], 'started', ['sending', 'in doubt', 'started'], 2],
    [
      'accepted after a 409 for its own key',
      [fault('in_progress', { httpStatus: 409 }), running()],
      'started',
      ['sending', 'in doubt', 'started'],
      2,
    ],
    ['refused for an active run', [conflict], 'refused', ['sending', 'refused'], 1],
    ['not its own when refused for a named active run at once', [ourConflict], 'refused', ['sending', 'refused'], 1],
    [
      'in doubt after a lost answer and a conflict that names nothing',
      [lost, conflict],
      'unknown',
      ['sending', 'in doubt', 'left in doubt'],
      2,
    ],
    ['refused for good with a bad certificate', [fault('untrusted')], 'refused', ['sending', 'refused'], 1],
    [
      'in doubt when a 501 answers',
      [fault('rejected', { httpStatus: 501 })],
      'unknown',
      ['sending', 'left in doubt'],
      1,
    ],
  ];
  test.each(table)('is %s', async (_, script, end, records, attempts) => {
    const ended = await triggered(script);
    expect(ended.result.kind).toBe(end);
    expect(ended.records).toEqual(records);
    expect(ended.sent).toHaveLength(attempts);
  });

  test('sends the same key and the same bytes at every attempt', async () => {
    const { sent } = await triggered([lost, fault('unreachable'), fault('throttled'), running()]);
    expect(sent).toMatchObject([trigger, trigger, trigger, trigger]);
  });

  test('waits for the rate limiter before every attempt', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(0.1, clock);
    const ports = { clock, limiter, giveUpAfterMs: 600_000 };
    const { sent } = await triggered([lost, fault('unreachable'), running()], { ports });
    expect(sent).toHaveLength(3);
    // A second is counted 5 % longer.
    expect(clock.elapsedMs()).toBe(21_000);
  });

  test('counts only the time without an answer against --give-up-after, not the wait for its own turn', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1 / 60, clock);
    const { result, sent } = await triggered([lost, lost, running()], {
      ports: { clock, limiter, giveUpAfterMs: 10_000 },
    });
    expect([result.kind, sent.length]).toEqual(['started', 3]);
    expect(clock.elapsedMs()).toBe(126_000);
  });

  test('takes no longer than what is left of --give-up-after', async () => {
    const limitsMs: (number | undefined)[] = [];
    const clock = createVirtualClock();
    const service: SendPorts['service'] = {
      async trigger(_request, _signal, { timeoutMs } = {}) {
        limitsMs.push(timeoutMs);
        await clock.sleep(Math.min(timeoutMs ?? 0, 3_000));
        return lost;
      },
    };
    const { result } = await triggered([], { ports: { service, clock, giveUpAfterMs: 5_000 } });
    expect([result.kind, limitsMs]).toEqual(['unknown', [5_000, 1_750]]);
  });

  test('is reported as refused, not as interrupted, when the refusal arrives as the user presses Ctrl-C', async () => {
    const interrupt = new AbortController();
    const service = {
      async trigger() {
        interrupt.abort('SIGINT');
        return fault('no_credits', { httpStatus: 402 });
      },
    };
    const { result, records } = await triggered([], { ports: { service, signal: interrupt.signal } });
    expect(result).toMatchObject({ kind: 'refused', fault: { kind: 'no_credits' } });
    expect(records).toEqual(['sending', 'refused']);
  });

  test.each([
    ['aborted', false],
    ['aborted_in_flight', true],
  ] as const)('that the user ends (%s) may have started a run: %s', async (kind, mayHaveStarted) => {
    const { result } = await triggered([fault(kind)]);
    expect(result).toMatchObject({ kind: 'interrupted', mayHaveStarted });
  });

  test.each([
    [fault('unreachable'), false, ['sending', 'refused']],
    [lost, true, ['sending', 'in doubt', 'left in doubt']],
  ] as const)(
    "that the user ends between two attempts isn't sent again (%j)",
    async (first, mayHaveStarted, records) => {
      const interrupt = new AbortController();
      const ports = { signal: interrupt.signal, onRetry: () => interrupt.abort('SIGINT') };
      const ended = await triggered([first], { ports });
      expect(ended.result).toMatchObject({ kind: 'interrupted', mayHaveStarted });
      expect([ended.sent.length, ended.records]).toEqual([1, records]);
    },
  );

  test('sends no more than 64 at once', async () => {
    let most = 0;
    let inFlight = 0;
    const trigger = async () => {
      most = Math.max(most, ++inFlight);
      await new Promise(setImmediate);
      inFlight -= 1;
      return running();
    };
    const service = { trigger };
    const ports = { service, limiter: createRateLimiter(100_000, createVirtualClock()) };
    const results = await Promise.all(Array.from({ length: 80 }, () => triggered([], { ports })));
    expect([most, results.every(({ result }) => result.kind === 'started')]).toEqual([64, true]);
  });

  test('waits a moment for another process that is just sending the same key', async () => {
    let reads = 0;
    const readKey: Given['readKey'] = (open) => (++reads < 5 ? open(1000) : undefined);
    const { result, clock } = await triggered([conflict], { readKey });
    expect(result.kind).toBe('refused');
    expect(clock.elapsedMs()).toBeLessThan(2_000);
  });

  test('waits as long for one that was at it before, but not in `recover`', async () => {
    const readKey: Given['readKey'] = (open) => open(1000);
    const history = earlierOf(600);
    const killed = await triggered([conflict], { history, readKey });
    expect([killed.result.kind, killed.clock.elapsedMs()]).toEqual(['refused', 5_000]);
    const recovered = await triggered([conflict], { history: { ...history, isRecovery: true }, readKey });
    expect([recovered.result.kind, recovered.clock.elapsedMs()]).toEqual(['unknown', 0]);
  });

  test('waits for no process that has long exited', async () => {
    const readKey: Given['readKey'] = (open) => open(60_000);
    const { result, clock } = await triggered([conflict], { readKey });
    expect([result.kind, clock.elapsedMs()]).toEqual(['refused', 0]);
  });
});

describe('what an answer shows of the start', () => {
  const conflict = fault('already_active', { httpStatus: 422, executionId });
  const old = { createdAt: '2020-01-01T00:00:00Z', startedAt: '2020-01-01T00:00:00Z' };
  const finished = [state('FAILED'), running({ completedAt: '2026-01-01T00:00:00Z' })];
  const given: Given = { userProvided: true };
  const recovery: Given = { history: { earlier: { ageMs: 60_000 }, isRecovery: true } };
  const own: Given = { history: { earlier: { ageMs: 60_000, isOwn: true } } };

  test.each<[string, Answer<RunStatus>[], Given, string]>([
    ['a generated key', [running()], {}, 'started yes'],
    ['a generated key, whenever the run began', [running(old)], {}, 'started yes'],
    ['a generated key, finished', [state('FAILED')], {}, 'started yes'],
    ['a generated key, after a lost answer', [lost, running(old)], {}, 'started yes'],
    ['a generated key, after a lost answer, finished', [lost, state('FAILED')], {}, 'started yes'],
    ['a given key', [running()], given, 'found unknown'],
    ['a given key, whenever the run began', [running(old)], given, 'found unknown'],
    ['a given key, after a 429', [fault('throttled'), running()], given, 'found unknown'],
    ['a given key, finished', [state('FAILED')], given, 'replayed no'],
    ['a given key, with an end', finished.slice(1), given, 'replayed no'],
    ['a given key, finished, after a lost answer', [lost, state('FAILED')], given, 'found unknown'],
    [
      'a given key that an earlier command left in doubt, finished',
      [state('FAILED')],
      { ...given, history: { earlier: { ageMs: 60_000 } } },
      'replayed no',
    ],
    ['a given key that this command left in doubt, finished', [state('FAILED')], { ...given, ...own }, 'found unknown'],
    ['`recover`', [running()], recovery, 'recovered unknown'],
    ['`recover`, whenever the run began', [running(old)], recovery, 'recovered unknown'],
    ['`recover`, finished', [state('FAILED')], recovery, 'recovered no'],
    ['`recover`, finished, after a lost answer', [lost, state('FAILED')], recovery, 'recovered unknown'],
  ])('%s', async (_, script, given, expected) => {
    const { result } = await triggered(script, given);
    const { how, started } = attributions[result.kind === 'started' ? result.attribution : 'in_doubt'];
    expect(`${how} ${started}`).toBe(expected);
  });

  test.each<[string, Answer<RunStatus>[], Given, string, string[]]>([
    ['nothing is in doubt', [conflict], {}, 'refused', ['sending', 'refused']],
    ['an answer was lost', [lost, conflict], {}, 'unknown', ['sending', 'in doubt', 'left in doubt']],
    [
      'an earlier command left the key in doubt',
      [conflict],
      { ...given, history: { earlier: { ageMs: 120_000 } } },
      'refused',
      ['sending', 'refused'],
    ],
    ['this command left the key in doubt', [conflict], own, 'unknown', ['sending', 'left in doubt']],
    ['`recover` sends it', [conflict], recovery, 'unknown', ['sending', 'refused']],
  ])('a named active run is never taken for ours: %s', async (_, script, given, end, records) => {
    const ended = await triggered(script, given);
    expect([ended.result.kind, ended.records]).toEqual([end, records]);
  });

  test.each<[string, Answer<RunStatus>, Given]>([
    ['402', fault('no_credits', { httpStatus: 402 }), { userProvided: true }],
    ['no connection', fault('unreachable'), { userProvided: true }],
  ])('a refusal is this command’s own, whatever an earlier one left in doubt: %s', async (_, answer, given) => {
    const { result } = await triggered([answer], { ...given, history: { earlier: { ageMs: 120_000 } } });
    expect(result.kind).toBe('refused');
  });

  test('a trigger that this process sends again later is not left to others', async () => {
    const history: EarlierUse = { isContinuedAfter: (fault) => fault.kind === 'already_active' };
    const { records } = await triggered([lost, conflict], { history });
    expect(records).toEqual(['sending', 'in doubt', 'met a conflict']);
  });
});

describe('a key that the user chose', () => {
  const other = (document: JsonObject) => running({ document: { executionId, status: 'RUNNING', ...document } });
  const given: Given = { userProvided: true };

  test.each<[string, JsonObject, TriggerResult['kind']]>([
    ['the automation as we write it', { projectId, automationName: 'nightly' }, 'started'],
    ['the automation in another spelling', { projectId, automationName: ' Nightly ' }, 'started'],
    ['nothing', {}, 'started'],
    ['another automation', { projectId, automationName: 'weekly' }, 'refused'],
    ['another project', { projectId: executionId, automationName: 'nightly' }, 'refused'],
  ])('is answered with a run of ours, or was used before: the answer names %s', async (_, document, end) => {
    expect((await triggered([other(document)], given)).result.kind).toBe(end);
  });

  test('was used before, whatever became of earlier attempts', async () => {
    const { result, records } = await triggered([lost, other({ automationName: 'weekly' })], given);
    expect(result).toMatchObject({ kind: 'refused', fault: { message: expect.stringContaining('weekly') } });
    expect(records).toEqual(['sending', 'in doubt', 'refused']);
  });

  test('is needed for that: a minted key is new', async () => {
    expect((await triggered([other({ automationName: 'weekly' })])).result.kind).toBe('started');
  });
});

describe('a key that another process recorded first', () => {
  test.each([
    ['is not sent if keys are ignored', false, { kind: 'unknown', fault: { kind: 'taken_key' } }, 0],
    ['is sent if they are honored', true, { kind: 'started' }, 1],
  ])('%s', async (_, isRepeatable, expected, sends) => {
    const given = { isTaken: true, userProvided: true, history: { isRepeatable } };
    const { result, sent, records, clock } = await triggered([running()], given);
    expect([sent.length, clock.sleepsMs]).toEqual([sends, []]);
    expect(result).toMatchObject(expected);
    expect(records).toEqual(['sending', sends === 0 ? 'refused' : 'started']);
  });
});

describe('a key that the service may have forgotten', () => {
  const message = expect.stringContaining('more than 24h ago');

  test.each<[string, EarlierUse, number, object]>([
    [
      'not sent when it is over a day old',
      earlierOf(25 * hour),
      0,
      { kind: 'unknown', fault: { kind: 'stale_key', message } },
    ],
    ['sent when it is a day old', earlierOf(24 * hour), 1, { kind: 'started' }],
  ])('is %s', async (_, history, attempts, expected) => {
    const { result, sent } = await triggered([running()], { history });
    expect(sent).toHaveLength(attempts);
    expect(result).toMatchObject(expected);
  });

  test('is sent no more when the machine has slept since the answer was lost', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { result, sent } = await triggered([lost, running()], { ports: { clock, onRetry } });
    expect([result.kind, sent.length]).toEqual(['unknown', 1]);
  });

  test('is no matter while nothing that was sent can have started a run', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { result } = await triggered([fault('throttled'), running()], { ports: { clock, onRetry } });
    expect(result.kind).toBe('started');
  });
});

describe('a key that another process has sent, too', () => {
  const accepted = () => ({ kind: 'run', executionId: otherId }) as const;

  const recovery = { isRecovery: true, earlier: { ageMs: 1000 } };

  test.each<[string, Answer<RunStatus>[], EarlierUse, Given['readKey'], string]>([
    ['has a run there, when it is refused here', [conflict], {}, accepted, 'replayed no'],
    ['has a run there, when it stays in doubt here', [lost, conflict], {}, accepted, 'found unknown'],
    ['has a run there, while `recover` is refused', [conflict], recovery, accepted, 'recovered no'],
    ['has a run there, while `recover` is in doubt', [lost, conflict], recovery, accepted, 'recovered unknown'],
    ['may have started a run there, when it is refused here', [conflict], {}, (open) => open(1000), 'refused'],
    ['has come to nothing there either', [conflict], {}, () => undefined, 'refused'],
  ])('%s', async (_, script, history, readKey, end) => {
    const { result } = await triggered(script, { history, readKey });
    if (result.kind !== 'recorded') return expect(result.kind).toBe(end);
    const { how, started } = attributions[result.attribution];
    expect([result.executionId, `${how} ${started}`]).toEqual([otherId, end]);
  });
});

describe('a service that ignores keys', () => {
  test.each<[string, Answer<RunStatus>[], string, number]>([
    ['after a lost answer', [lost, running()], 'unknown', 1],
    ['but after a 429', [fault('throttled'), running()], 'started', 2],
    ['but after a connection that was not made', [fault('unreachable'), running()], 'started', 2],
  ])('is sent nothing again %s', async (_, script, kind, attempts) => {
    const { result, sent } = await triggered(script, { history: { isRepeatable: false } });
    expect([result.kind, sent.length]).toEqual([kind, attempts]);
  });
});

describe('the protocol', () => {
  const events = Object.keys(protocol) as TriggerEvent[];
  const lossy = new Set<TriggerEvent>(['lost', 'lost_for_good', 'interrupted', 'expired']);
  test('never says that no run was started once an answer was lost, unless an answer is about all attempts', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 12 }), (sequence) => {
        let state: TriggerState = 'ready';
        let inDoubt = false;
        for (const event of sequence) {
          if (isEnd(state)) break;
          // The response to a reused key is about all attempts.
          inDoubt = event !== 'reused' && (inDoubt || lossy.has(event));
          state = protocol[event][state];
        }
        expect(inDoubt && state === 'refused', 'refused although an answer was lost').toBe(false);
        expect(!inDoubt && (state === 'in_doubt' || state === 'unknown'), 'in doubt without a lost answer').toBe(false);
      }),
    );
  });

  test('calls a run ours only for the id in the response to a trigger', () => {
    const starting = events.filter((event) => Object.values(protocol[event]).some((state) => state === 'started'));
    expect(starting).toEqual(['accepted']);
  });
});
