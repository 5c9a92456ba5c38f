import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiKeyReload } from '../../src/run/api-key-reload.ts';
import { attributions } from '../../src/run/attribution.ts';
import type { RecordedKey, UnresolvedTrigger } from '../../src/run/entry.ts';
import { deliveryOf, type FaultKind } from '../../src/run/fault.ts';
import type { InDoubtReason } from '../../src/run/in-doubt.ts';
import type { Answer, RunSnapshot } from '../../src/run/service.ts';
import type { Trigger } from '../../src/run/trigger.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import type { SendOptions, SendPorts } from '../../src/start/send-attempts.ts';
import type { TriggerResult } from '../../src/start/trigger-result.ts';
import type { JsonObject } from '../../src/system/json.ts';
import { hour } from '../helpers/durations.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { executionId, fault, projectId, running, scriptedService, state, target } from '../helpers/scripted-service.ts';
import { sendAndSettle } from '../helpers/send-and-settle.ts';
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
  sendOptions?: Options;
  userProvided?: boolean;
  /** What the journal has of the key; `open` is an unresolved trigger of this age. */
  readKey?(open: (ageMs: number) => UnresolvedTrigger): RecordedKey | undefined;
  isTaken?: boolean;
}

/** `isLast`: this command won't send the trigger again. It is so unless a test says otherwise. */
type Options = Partial<SendOptions> & { isLast?: boolean };

async function triggered(
  script: Answer<RunSnapshot>[],
  { ports, sendOptions = {}, userProvided = false, ...given }: Given = {},
) {
  const service = scriptedService({ trigger: script });
  const clock = createVirtualClock();
  const records: string[] = [];
  const { earlier } = sendOptions;
  const at = (ageMs: number) => new Date(clock.nowMs() - ageMs).toISOString();
  const open = (ageMs: number): UnresolvedTrigger => ({
    kind: 'unresolved',
    ...trigger,
    sendingIds: [],
    senders: [],
    at: at(ageMs),
  });
  const readKey = given.readKey ?? (() => earlier && open(earlier.ageMs));
  const result = await sendAndSettle({ ...trigger, userProvided }, sendOptions, {
    service,
    clock,
    limiter: createRateLimiter(10, clock),
    random: () => 0.5,
    signal: new AbortController().signal,
    giveUpAfterMs: 30_000,
    record: {
      triggered: () => records.push('sending'),
      inDoubt({ kind }, { isLast }) {
        const isConflict = kind === 'already_active';
        records.push(isLast ? 'left in doubt' : isConflict ? 'met a conflict' : 'in doubt');
      },
      accepted: () => records.push('started'),
      refused: () => records.push('refused'),
      isTaken: () => given.isTaken === true,
      readKey: () => readKey(open),
    },
    ...ports,
  });
  return { result, records, sent: service.calls.trigger, clock };
}

/** An earlier process sent the idempotency key so long ago, and nobody knows what came of it. */
const earlierOf = (ageMs: number): Options => ({ earlier: { ageMs } });

/** What a result says of this command's part in the run. */
function attributionIn(result: TriggerResult) {
  if (result.kind !== 'has_run') throw new Error(`the trigger has no known run: ${result.kind}`);
  return attributions[result.attribution];
}

const conflict = fault('already_active', { httpStatus: 422 });
const otherId = executionId.replace(/^./, '0');
const ourConflict = fault('already_active', { httpStatus: 422, executionId });
const lost = fault('lost');

describe('the sending of one trigger', () => {
  interface Case {
    what: string;
    answers: Answer<RunSnapshot>[];
    result: TriggerResult['kind'];
    records: string[];
  }

  test.each<Case>([
    { what: 'accepted at once', answers: [running()], result: 'has_run', records: ['sending', 'started'] },
    {
      what: 'accepted after a 429',
      answers: [fault('throttled', { httpStatus: 429 }), running()],
      result: 'has_run',
      records: ['sending', 'started'],
    },
    {
      what: 'accepted after a lost response',
      answers: [lost, running()],
      result: 'has_run',
      records: ['sending', 'in doubt', 'started'],
    },
    {
      what: 'accepted after a 409 for its own key',
      answers: [fault('in_progress', { httpStatus: 409 }), running()],
      result: 'has_run',
      records: ['sending', 'in doubt', 'started'],
    },
    {
      what: 'refused for an active run',
      answers: [conflict],
      result: 'no_run',
      records: ['sending', 'refused'],
    },
    {
      what: 'refused for a named active run at once',
      answers: [ourConflict],
      result: 'no_run',
      records: ['sending', 'refused'],
    },
    {
      what: 'refused for an active run that nobody names, after a lost response',
      answers: [lost, conflict],
      result: 'in_doubt',
      records: ['sending', 'in doubt', 'left in doubt'],
    },
    {
      what: 'stopped by a bad certificate',
      answers: [fault('tls_handshake_failed')],
      result: 'no_run',
      records: ['sending', 'refused'],
    },
    {
      what: 'answered with a 501',
      answers: [fault('rejected', { httpStatus: 501 })],
      result: 'in_doubt',
      records: ['sending', 'left in doubt'],
    },
  ])('ends with $result if the trigger is $what', async ({ answers, result, records }) => {
    const ended = await triggered(answers);
    expect(ended.result.kind).toBe(result);
    expect(ended.records).toEqual(records);
    // No attempt follows the last answer, and none is left out before.
    expect(ended.sent).toHaveLength(answers.length);
  });

  test('repeats the same key and the same bytes at every attempt', async () => {
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

  test('counts only the time without a response for --give-up-after, not the wait for a permit', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1 / 60, clock);
    const { result, sent } = await triggered([lost, lost, running()], {
      ports: { clock, limiter, giveUpAfterMs: 10_000 },
    });
    expect([result.kind, sent.length]).toEqual(['has_run', 3]);
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
    expect([result.kind, limitsMs]).toEqual(['in_doubt', [5_000, 1_750]]);
  });

  test('is reported as refused, not as interrupted, if the refusal arrives as the user presses Ctrl-C', async () => {
    const interrupt = new AbortController();
    const service = {
      async trigger() {
        interrupt.abort('SIGINT');
        return fault('no_credits', { httpStatus: 402 });
      },
    };
    const { result, records } = await triggered([], { ports: { service, signal: interrupt.signal } });
    expect(result).toEqual({ kind: 'no_run', fault: fault('no_credits', { httpStatus: 402 }).fault });
    expect(records).toEqual(['sending', 'refused']);
  });

  const interrupted: TriggerResult = { kind: 'no_run', fault: fault('interrupted').fault, isInterrupted: true };
  const interruptedInDoubt: TriggerResult = { kind: 'in_doubt', reason: { kind: 'interrupted' } };

  test.each<[FaultKind, TriggerResult]>([
    ['interrupted', interrupted],
    ['interrupted_in_flight', interruptedInDoubt],
  ])('may have started a run after Ctrl-C only if it was sent: %s', async (kind, expected) => {
    const { result } = await triggered([fault(kind)]);
    expect(result).toEqual(expected);
  });

  test.each<[string, Answer<RunSnapshot>, TriggerResult, string[]]>([
    [
      'nothing was sent',
      fault('unreachable'),
      { ...interrupted, fault: fault('unreachable').fault },
      ['sending', 'refused'],
    ],
    ['a response was lost', lost, interruptedInDoubt, ['sending', 'in doubt', 'left in doubt']],
  ])('ends without another attempt after Ctrl-C between two attempts: %s', async (_, first, expected, records) => {
    const interrupt = new AbortController();
    const ports = { signal: interrupt.signal, onRetry: () => interrupt.abort('SIGINT') };
    const ended = await triggered([first], { ports });
    expect(ended.result).toEqual(expected);
    expect([ended.sent.length, ended.records]).toEqual([1, records]);
  });

  test('is limited to 64 triggers at the same time', async () => {
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
    expect([most, results.every(({ result }) => result.kind === 'has_run')]).toEqual([64, true]);
  });

  test('waits a moment for another process that is just sending the same key', async () => {
    let reads = 0;
    const readKey: Given['readKey'] = (open) => (++reads < 5 ? open(1000) : undefined);
    const { result, clock } = await triggered([conflict], { readKey });
    expect(result.kind).toBe('no_run');
    expect(clock.elapsedMs()).toBeLessThan(2_000);
  });

  test('waits as long for a process that was sending it before, but not in `recover`', async () => {
    const readKey: Given['readKey'] = (open) => open(1000);
    const sendOptions = earlierOf(600);
    const killed = await triggered([conflict], { sendOptions, readKey });
    expect([killed.result.kind, killed.clock.elapsedMs()]).toEqual(['no_run', 5_000]);
    const recovered = await triggered([conflict], {
      sendOptions: { ...sendOptions, resolvesEarlierAttempts: true },
      readKey,
    });
    expect([recovered.result.kind, recovered.clock.elapsedMs()]).toEqual(['in_doubt', 0]);
  });

  test('does not wait for a process that exited long ago', async () => {
    const readKey: Given['readKey'] = (open) => open(60_000);
    const { result, clock } = await triggered([conflict], { readKey });
    expect([result.kind, clock.elapsedMs()]).toEqual(['no_run', 0]);
  });

  test.each<[string, Answer<RunSnapshot>]>([
    ['402', fault('no_credits', { httpStatus: 402 })],
    ['no connection', fault('unreachable')],
  ])('ends without a run if it is refused, whatever an earlier command left in doubt: %s', async (_, answer) => {
    const { result } = await triggered([answer], { userProvided: true, sendOptions: earlierOf(120_000) });
    expect(result.kind).toBe('no_run');
  });

  test('keeps the trigger to this process if it sends it again later', async () => {
    const { records } = await triggered([lost, conflict], { sendOptions: { isLast: false } });
    expect(records).toEqual(['sending', 'in doubt', 'met a conflict']);
  });
});

describe('the attribution of a run', () => {
  const conflict = fault('already_active', { httpStatus: 422, executionId });
  const old = { createdAt: '2020-01-01T00:00:00Z', startedAt: '2020-01-01T00:00:00Z' };
  const given: Given = { userProvided: true };
  const recovery: Given = { sendOptions: { ...earlierOf(60_000), resolvesEarlierAttempts: true } };
  const own: Given = { sendOptions: { earlier: { ageMs: 60_000, sentByThisCommand: true } } };

  interface ShownCase {
    what: string;
    answers: Answer<RunSnapshot>[];
    given?: Given;
    how: string;
    started: string;
  }

  const startedCases: ShownCase[] = [
    { what: 'a generated key', answers: [running()], how: 'started', started: 'yes' },
    { what: 'a generated key, whenever the run began', answers: [running(old)], how: 'started', started: 'yes' },
    { what: 'a generated key, finished', answers: [state('FAILED')], how: 'started', started: 'yes' },
    {
      what: 'a generated key, after a lost response',
      answers: [lost, running(old)],
      how: 'started',
      started: 'yes',
    },
    {
      what: 'a generated key, after a lost response, finished',
      answers: [lost, state('FAILED')],
      how: 'started',
      started: 'yes',
    },
  ];

  const givenKeyCases: ShownCase[] = [
    { what: 'a given key', answers: [running()], given, how: 'found', started: 'unknown' },
    {
      what: 'a given key, whenever the run began',
      answers: [running(old)],
      given,
      how: 'found',
      started: 'unknown',
    },
    {
      what: 'a given key, after a 429',
      answers: [fault('throttled'), running()],
      given,
      how: 'found',
      started: 'unknown',
    },
    { what: 'a given key, finished', answers: [state('FAILED')], given, how: 'replayed', started: 'no' },
    {
      what: 'a given key, with an end',
      answers: [running({ completedAt: '2026-01-01T00:00:00Z' })],
      given,
      how: 'replayed',
      started: 'no',
    },
    {
      what: 'a given key, finished, after a lost response',
      answers: [lost, state('FAILED')],
      given,
      how: 'found',
      started: 'unknown',
    },
    {
      what: 'a given key that an earlier command left in doubt, finished',
      answers: [state('FAILED')],
      given: { ...given, sendOptions: earlierOf(60_000) },
      how: 'replayed',
      started: 'no',
    },
    {
      what: 'a given key that this command left in doubt, finished',
      answers: [state('FAILED')],
      given: { ...given, ...own },
      how: 'found',
      started: 'unknown',
    },
  ];

  const recoveryCases: ShownCase[] = [
    { what: '`recover`', answers: [running()], given: recovery, how: 'recovered', started: 'unknown' },
    {
      what: '`recover`, whenever the run began',
      answers: [running(old)],
      given: recovery,
      how: 'recovered',
      started: 'unknown',
    },
    { what: '`recover`, finished', answers: [state('FAILED')], given: recovery, how: 'recovered', started: 'no' },
    {
      what: '`recover`, finished, after a lost response',
      answers: [lost, state('FAILED')],
      given: recovery,
      how: 'recovered',
      started: 'unknown',
    },
  ];

  test.each([...startedCases, ...givenKeyCases, ...recoveryCases])(
    '$what: $how, started by this command: $started',
    async ({ answers, given, how, started }) => {
      const { result } = await triggered(answers, given);
      expect(attributionIn(result)).toEqual({ how, started });
    },
  );

  interface ConflictCase {
    when: string;
    answers: Answer<RunSnapshot>[];
    given?: Given;
    result: TriggerResult['kind'];
    records: string[];
  }

  test.each<ConflictCase>([
    { when: 'nothing is in doubt', answers: [conflict], result: 'no_run', records: ['sending', 'refused'] },
    {
      when: 'a response was lost',
      answers: [lost, conflict],
      result: 'in_doubt',
      records: ['sending', 'in doubt', 'left in doubt'],
    },
    {
      when: 'an earlier command left the key in doubt',
      answers: [conflict],
      given: { ...given, sendOptions: earlierOf(120_000) },
      result: 'no_run',
      records: ['sending', 'refused'],
    },
    {
      when: 'this command left the key in doubt',
      answers: [conflict],
      given: own,
      result: 'in_doubt',
      records: ['sending', 'left in doubt'],
    },
    {
      when: '`recover` sends it',
      answers: [conflict],
      given: recovery,
      result: 'in_doubt',
      records: ['sending', 'refused'],
    },
  ])(
    'never takes the active run that a refusal names for a run of this command: $when',
    async ({ answers, given, result, records }) => {
      const ended = await triggered(answers, given);
      expect([ended.result.kind, ended.records]).toEqual([result, records]);
    },
  );
});

describe('a refused API key', () => {
  const refusal = fault('unauthorized', { httpStatus: 401 });
  const withRenewal = (renewal: ApiKeyReload): Given => ({ ports: { reloadApiKey: async () => renewal } });

  test.each<[string, ApiKeyReload, boolean]>([
    ['another one', { kind: 'changed' }, true],
    ['the same', { kind: 'same' }, false],
    ['none', { kind: 'unreadable', reason: 'ENOENT' }, false],
  ])('is read again, and there is %s', async (_, renewal, hasNewApiKey) => {
    const { result, sent } = await triggered([refusal], withRenewal(renewal));
    expect(result).toMatchObject({ kind: 'no_run', fault: { kind: 'unauthorized' }, hasNewApiKey });
    expect(sent).toHaveLength(1);
  });

  test('leaves a trigger in doubt with the API key that it was first sent with', async () => {
    const { result, sent } = await triggered([lost, refusal, running()], withRenewal({ kind: 'changed' }));
    const message = expect.stringContaining('there is a new API key');
    expect(result).toMatchObject({ kind: 'in_doubt', reason: { kind: 'last_attempt_failed', fault: { message } } });
    expect(sent).toHaveLength(2);
  });

  test.each<[string, Answer<RunSnapshot>[], object]>([
    ['started no run', [refusal], { kind: 'no_run', isInterrupted: true }],
    ['may have started one', [lost, refusal], { kind: 'in_doubt', reason: { kind: 'interrupted' } }],
  ])('ends as interrupted if the user leaves while it is read again: the trigger %s', async (_, answers, expected) => {
    const interrupt = new AbortController();
    const reloadApiKey = async (): Promise<ApiKeyReload> => {
      interrupt.abort('SIGINT');
      return { kind: 'changed' };
    };
    const { result } = await triggered(answers, { ports: { signal: interrupt.signal, reloadApiKey } });
    expect(result).toMatchObject(expected);
    expect(result).not.toHaveProperty('hasNewApiKey');
  });
});

describe('an idempotency key that the user gave', () => {
  const other = (document: JsonObject) => running({ document: { executionId, status: 'RUNNING', ...document } });
  const given: Given = { userProvided: true };

  test.each<[string, JsonObject, TriggerResult['kind']]>([
    ['the automation as we write it', { projectId, automationName: 'nightly' }, 'has_run'],
    ['the automation in another spelling', { projectId, automationName: ' Nightly ' }, 'has_run'],
    ['nothing', {}, 'has_run'],
    ['another automation', { projectId, automationName: 'weekly' }, 'no_run'],
    ['another project', { projectId: executionId, automationName: 'nightly' }, 'no_run'],
  ])('has a run of this command, or was used before: the response names %s', async (_, document, end) => {
    expect((await triggered([other(document)], given)).result.kind).toBe(end);
  });

  test('was used before, however earlier attempts ended', async () => {
    const { result, records } = await triggered([lost, other({ automationName: 'weekly' })], given);
    expect(result).toMatchObject({ kind: 'no_run', fault: { message: expect.stringContaining('weekly') } });
    expect(records).toEqual(['sending', 'in doubt', 'refused']);
  });

  test('is the only kind that can have been used before: a generated key is new', async () => {
    expect((await triggered([other({ automationName: 'weekly' })])).result.kind).toBe('has_run');
  });
});

describe('a key that another process recorded first', () => {
  const given: Given = { isTaken: true, userProvided: true };

  test('is sent if keys are honored', async () => {
    const { result, sent, records } = await triggered([running()], given);
    expect([result.kind, sent.length, records]).toEqual(['has_run', 1, ['sending', 'started']]);
  });

  test.each<[string, readonly { process: string; at: string }[], InDoubtReason]>([
    ['is sending it', [{ process: 'host 7 1', at: '2026-11-22T03:00:00Z' }], { kind: 'sending', process: 'host 7 1' }],
    ['has ended', [], { kind: 'withheld', because: 'keys_ignored' }],
  ])("isn't sent if keys are ignored, and the other process %s", async (_, senders, reason) => {
    const sendOptions = { mayRepeatAfterLoss: false };
    const readKey: Given['readKey'] = (open) => ({ ...open(1000), senders });
    const { result, sent, records, clock } = await triggered([running()], { ...given, sendOptions, readKey });
    expect(result).toEqual({ kind: 'in_doubt', reason });
    expect([sent, clock.sleepsMs]).toEqual([[], []]);
    expect(records).toEqual(['sending', 'refused']);
  });
});

describe('a key that the service may have forgotten', () => {
  test("isn't sent if it is over a day old", async () => {
    const { result, sent } = await triggered([running()], { sendOptions: earlierOf(25 * hour) });
    expect(result).toEqual({ kind: 'in_doubt', reason: { kind: 'key_expired' } });
    expect(sent).toEqual([]);
  });

  test('is sent when it is a day old', async () => {
    const { result, sent } = await triggered([running()], { sendOptions: earlierOf(24 * hour) });
    expect([result.kind, sent.length]).toEqual(['has_run', 1]);
  });

  test('is not sent again if the machine has slept since the response was lost', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { result, sent } = await triggered([lost, running()], { ports: { clock, onRetry } });
    expect(result).toEqual({ kind: 'in_doubt', reason: { kind: 'key_expired' } });
    expect(sent).toHaveLength(1);
  });

  test('does not matter if no attempt can have started a run', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { result } = await triggered([fault('throttled'), running()], { ports: { clock, onRetry } });
    expect(result.kind).toBe('has_run');
  });
});

describe('a key that another process has sent, too', () => {
  const recovery: Options = { ...earlierOf(1000), resolvesEarlierAttempts: true };
  const accepted = () => ({ kind: 'run', executionId: otherId }) as const;

  test.each([
    { what: 'it is refused here', answers: [conflict], sendOptions: {}, how: 'replayed', started: 'no' },
    { what: 'it stays in doubt here', answers: [lost, conflict], sendOptions: {}, how: 'found', started: 'unknown' },
    { what: '`recover` is refused', answers: [conflict], sendOptions: recovery, how: 'recovered', started: 'no' },
    {
      what: '`recover` is in doubt',
      answers: [lost, conflict],
      sendOptions: recovery,
      how: 'recovered',
      started: 'unknown',
    },
  ])('has a run of that process if $what', async ({ answers, sendOptions, how, started }) => {
    const { result } = await triggered(answers, { sendOptions, readKey: accepted });
    expect(result).toMatchObject({ kind: 'has_run', executionId: otherId });
    expect(attributionIn(result)).toEqual({ how, started });
  });

  test.each<[string, Given['readKey']]>([
    ['still in doubt there', (open) => open(1000)],
    ['refused there, too', () => undefined],
  ])('has no run if it is refused here, and is %s', async (_, readKey) => {
    const { result } = await triggered([conflict], { readKey });
    expect(result.kind).toBe('no_run');
  });
});

describe('a service that ignores keys', () => {
  test.each<[string, Answer<RunSnapshot>[], TriggerResult['kind'], number]>([
    ['only one attempt after a lost response', [lost, running()], 'in_doubt', 1],
    ['a second attempt after a 429', [fault('throttled'), running()], 'has_run', 2],
    ['a second attempt after a connection that was not made', [fault('unreachable'), running()], 'has_run', 2],
  ])('gets %s', async (_, answers, kind, attempts) => {
    const { result, sent } = await triggered(answers, { sendOptions: { mayRepeatAfterLoss: false } });
    expect([result.kind, sent.length]).toEqual([kind, attempts]);
  });
});

describe('any sequence of responses', () => {
  const kinds: FaultKind[] = [
    'unreachable',
    'tls_handshake_failed',
    'tls_failed_after_handshake',
    'lost',
    'unavailable',
    'throttled',
    'unreadable',
    'unauthorized',
    'no_credits',
    'already_active',
    'not_found',
    'redirected_to_run',
    'in_progress',
    'rejected',
    'interrupted',
    'interrupted_in_flight',
  ];
  const faults = kinds.map((kind) => fault(kind));
  const reusedKey = running({ document: { automationName: 'weekly' } });
  const sequences = fc.array(fc.constantFrom(...faults, running(), reusedKey), { minLength: 1, maxLength: 8 });
  const isLost = (answer: Answer<RunSnapshot>) => answer.kind === 'fault' && deliveryOf(answer.fault) === 'unknown';

  /** What is true of a trigger that received these answers. */
  function resultAfter(received: Answer<RunSnapshot>[]): TriggerResult['kind'] {
    const last = received.at(-1);
    // That answer is about all attempts with the key.
    if (last === reusedKey) return 'no_run';
    if (last?.kind === 'ok') return 'has_run';
    return received.some(isLost) ? 'in_doubt' : 'no_run';
  }

  test('ends with the named run, otherwise in doubt if and only if a response was lost', async () => {
    const property = fc.asyncProperty(sequences, async (answers) => {
      const { result, sent } = await triggered(answers, { userProvided: true });
      // The script repeats its last answer.
      const received = sent.map((_, index) => answers[Math.min(index, answers.length - 1)] as Answer<RunSnapshot>);
      expect(result.kind).toBe(resultAfter(received));
    });
    await fc.assert(property, { numRuns: propertyRuns(3000) });
  });
});
