import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FaultKind } from '../../src/runs/fault.ts';
import type { JsonObject } from '../../src/runs/json.ts';
import { createRateLimiter } from '../../src/runs/rate-limiter.ts';
import type { Run } from '../../src/runs/run.ts';
import type { Answer, Execution } from '../../src/runs/service.ts';
import {
  type KeyHistory,
  sendUntilKnown,
  type TriggerIdentity,
  type TriggerPorts,
  type TriggerResult,
} from '../../src/triggering/send-until-known.ts';
import { isEnd, protocol, type TriggerEvent, type TriggerState } from '../../src/triggering/trigger-protocol.ts';
import type { TriggerRecord } from '../../src/triggering/trigger-record.ts';
import { executionId, fault, projectId, running, scriptedService, state, target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

const identity: TriggerIdentity = {
  baseUrl: 'https://service.test',
  account: 'account',
  target,
  idempotencyKey: 'key-1',
  userProvided: false,
};
const request = { target, idempotencyKey: 'key-1', body: '{}' };

interface Given {
  ports?: Partial<TriggerPorts>;
  history?: KeyHistory;
  userProvided?: boolean;
  readKey?: TriggerRecord['readKey'];
  isWritten?: boolean;
  isRepeatable?: boolean;
  /** What is answered about the run that a conflict names. */
  status?: Answer<Execution>[];
}

async function triggered(
  script: Answer<Execution>[],
  { ports, history = {}, userProvided = false, isWritten = true, isRepeatable = true, status, ...given }: Given = {},
) {
  const service = scriptedService({ trigger: script, status });
  const clock = createVirtualClock();
  const startMs = clock.nowMs();
  const records: string[] = [];
  const inDoubtAtMs: (number | undefined)[] = [];
  const { earlier } = history;
  const readKey = given.readKey ?? (() => earlier && { state: 'open', ageMs: earlier.ageMs });
  const result = await sendUntilKnown(
    { ...identity, userProvided },
    request.body,
    {
      service,
      clock,
      limiter: createRateLimiter(10, clock),
      random: () => 0.5,
      signal: new AbortController().signal,
      giveUpAfterMs: 30_000,
      record: {
        sending: () => records.push('sending'),
        inDoubt: ({ kind }, { isLast, sentAtMs }) => {
          const isConflict = kind === 'already_active';
          records.push(isLast ? 'left in doubt' : isConflict ? 'met a conflict' : 'in doubt');
          inDoubtAtMs.push(sentAtMs && sentAtMs - startMs);
        },
        started: () => records.push('started'),
        refused: () => records.push('refused') > 0 && isWritten,
        isOfAnother: (id) => id === otherId,
        isRepeatable: () => isRepeatable,
        readKey,
      },
      ...ports,
    },
    history,
  );
  return { result, records, inDoubtAtMs, sent: service.calls.trigger, clock };
}

/** An earlier process sent the idempotency key so long ago, and nobody knows what came of it. */
function earlierOf(ageMs: number): KeyHistory {
  const sentAtMs = createVirtualClock().nowMs() - ageMs;
  return { earlier: { ageMs, firstSentAtMs: sentAtMs, lastSentAtMs: sentAtMs } };
}

/** What the service says, now and after the usual second of a retry, about a run that began so long after now. */
function began(afterMs: number, fields: Partial<Execution> = {}, id = executionId): Answer<Execution> {
  const nowMs = createVirtualClock().nowMs();
  const createdAt = new Date(nowMs + afterMs).toISOString();
  const execution = { executionId: id, status: 'RUNNING', createdAt, document: {}, ...fields };
  return { kind: 'ok', value: execution, serviceTimeMs: nowMs };
}

const conflict = fault('already_active', { httpStatus: 422 });
const otherId = executionId.replace(/^./, '0');
const otherConflict = fault('already_active', { httpStatus: 422, executionId: otherId });
const ourConflict = fault('already_active', { httpStatus: 422, executionId });
const lost = fault('lost');

describe('one trigger', () => {
  const table: [string, Answer<Execution>[], TriggerResult['kind'], string[], number][] = [
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
      'accepted after a 502',
      [fault('unavailable', { httpStatus: 502 }), running()],
      'started',
      ['sending', 'in doubt', 'started'],
      2,
    ],
    [
      'accepted after an unreadable 201',
      [fault('unreadable', { httpStatus: 201 }), running()],
      'started',
      ['sending', 'in doubt', 'started'],
      2,
    ],
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
      ['sending', 'in doubt', 'met a conflict', 'left in doubt'],
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
    expect(sent).toEqual([request, request, request, request]);
  });

  test('records when the first attempt in doubt was sent, and in the end the last', async () => {
    const { inDoubtAtMs } = await triggered([fault('throttled'), lost, lost, fault('rejected')]);
    expect(inDoubtAtMs).toEqual([250, 750]);
  });

  test("that never reached the service is refused, although that can't be written", async () => {
    const { result } = await triggered([fault('unreachable')], { isWritten: false });
    expect(result.kind).toBe('refused');
  });

  test('has the id and the status of its run in the document, with what else the service says', async () => {
    const { result } = await triggered([running({ document: { agentId: 'a' } })]);
    const document = { executionId, status: 'RUNNING', agentId: 'a' };
    expect(result).toMatchObject({ kind: 'started', execution: { document } });
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

  test('is reported as refused, not as interrupted, when the refusal arrives as the user presses Ctrl-C', async () => {
    const interrupt = new AbortController();
    const service = {
      async trigger() {
        interrupt.abort('SIGINT');
        return fault('no_credits', { httpStatus: 402 });
      },
      status: async () => running(),
    };
    const { result, records } = await triggered([], { ports: { service, signal: interrupt.signal } });
    expect(result).toMatchObject({ kind: 'refused', fault: { kind: 'no_credits' } });
    expect(records).toEqual(['sending', 'refused']);
  });

  test.each([
    ['interrupted', false],
    ['interrupted_in_flight', true],
  ] as const)('that the user ends (%s) may have started a run: %s', async (kind, mayHaveStarted) => {
    for (const isWritten of [true, false]) {
      const { result } = await triggered([fault(kind)], { isWritten });
      expect(result).toMatchObject({ kind: 'interrupted', mayHaveStarted });
    }
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
    const service = { trigger, status: async () => running() };
    const ports = { service, limiter: createRateLimiter(100_000, createVirtualClock()) };
    const results = await Promise.all(Array.from({ length: 80 }, () => triggered([], { ports })));
    expect([most, results.every(({ result }) => result.kind === 'started')]).toEqual([64, true]);
  });

  test('whose key another process sent, and that is refused itself, is in doubt as long as the other', async () => {
    const history = earlierOf(1000);
    const { result, records } = await triggered([fault('no_credits')], { history });
    expect([result.kind, records]).toEqual(['unknown', ['sending', 'refused']]);
    const resolved = await triggered([fault('no_credits')], { history, readKey: () => undefined });
    expect(resolved.result.kind).toBe('refused');
  });

  test('waits a moment for another process that is just sending the same key', async () => {
    let reads = 0;
    const readKey = () => (++reads < 5 ? ({ state: 'open', ageMs: 1000 } as const) : undefined);
    const { result, clock } = await triggered([conflict], { readKey });
    expect(result.kind).toBe('refused');
    expect(clock.elapsedMs()).toBeLessThan(2_000);
  });

  test('waits as long for one that was at it before, but not in `recover`', async () => {
    let reads = 0;
    const readKey = () => (++reads < 3 ? ({ state: 'open', ageMs: 1000 } as const) : undefined);
    const open = () => ({ state: 'open', ageMs: 1000 }) as const;
    const history = earlierOf(600);
    const { result, clock } = await triggered([conflict], { history, readKey });
    expect(result.kind).toBe('refused');
    expect(clock.elapsedMs()).toBeLessThan(1_000);
    const killed = await triggered([conflict], { history, readKey: open });
    expect([killed.result.kind, killed.clock.elapsedMs()]).toEqual(['unknown', 5_000]);
    const recovered = await triggered([conflict], { history: { ...history, isRecovery: true }, readKey: open });
    expect([recovered.result.kind, recovered.clock.elapsedMs()]).toEqual(['unknown', 0]);
  });

  test('waits for no process that has long exited', async () => {
    const readKey = () => ({ state: 'open', ageMs: 60_000 }) as const;
    const { result, clock } = await triggered([conflict], { readKey });
    expect([result.kind, clock.elapsedMs()]).toEqual(['unknown', 0]);
  });

  test("is in doubt where the refusal couldn't be written: then the record says nothing", async () => {
    const { result } = await triggered([conflict], {
      history: earlierOf(1000),
      readKey: () => undefined,
      isWritten: false,
    });
    expect(result.kind).toBe('unknown');
  });
});

describe('the run that a conflict names after an attempt in doubt', () => {
  const hour = 3_600_000;

  test.each<[string, number, object]>([
    ['an hour before our first attempt', -hour, { kind: 'refused', fault: { kind: 'already_active' } }],
    ['ten seconds before it', -10_000, { kind: 'unknown' }],
    ['just after it', 200, { kind: 'started', how: 'recovered', started: 'yes', isByTime: true }],
    ['an hour later', hour, { kind: 'unknown' }],
  ])('that began %s', async (_, afterMs, expected) => {
    const { result } = await triggered([lost, ourConflict], { status: [began(afterMs)] });
    expect(result).toMatchObject(expected);
  });

  test.each<[FaultKind, string]>([
    ['not_found', 'started'],
    ['path_not_found', 'started'],
    ['unavailable', 'started'],
    ['rejected', 'unknown'],
  ])('is asked for again after %s, or not: the trigger is %s', async (kind, expected) => {
    const { result } = await triggered([lost, ourConflict], { status: [fault(kind), began(0)] });
    expect(result.kind).toBe(expected);
  });

  test('is the one that is asked for', async () => {
    const asked: Run[] = [];
    const status = async (run: Run) => {
      asked.push(run);
      return began(0);
    };
    const service = { ...scriptedService({ trigger: [lost, ourConflict] }), status };
    await triggered([], { ports: { service } });
    expect(asked).toEqual([{ target, executionId }]);
  });

  test.each([
    ['a minute after the last attempt', 60_000, 'started'],
    ['later', 61_000, 'unknown'],
  ])('that began %s of an earlier process', async (_, afterLastMs, expected) => {
    const nowMs = createVirtualClock().nowMs();
    const earlier = { ageMs: hour, firstSentAtMs: nowMs - hour, lastSentAtMs: nowMs - hour / 2 };
    const { result } = await triggered([ourConflict], {
      history: { earlier },
      status: [began(afterLastMs - hour / 2)],
    });
    expect(result.kind).toBe(expected);
  });

  test('is taken with what the service says of it', async () => {
    const status = [fault('lost'), fault('not_found'), began(200, { status: 'COMPLETED' })];
    const { result, records } = await triggered([lost, ourConflict], { status });
    expect(result).toMatchObject({ kind: 'started', execution: { executionId, status: 'COMPLETED' } });
    expect(records).toEqual(['sending', 'in doubt', 'met a conflict', 'started']);
  });

  test.each<[string, Answer<Execution>]>([
    ['without a Date', running({ createdAt: '2026-01-02T03:04:05Z' })],
    ['without a time', began(0, { createdAt: undefined })],
    ['to a refused API key', fault('unauthorized')],
    ['that never comes', fault('lost')],
  ])('is of unknown owner with an answer %s', async (_, answer) => {
    expect((await triggered([lost, ourConflict], { status: [answer] })).result.kind).toBe('unknown');
  });

  test('is read off the time of its start where the service names no creation', async () => {
    const answer = began(200);
    if (answer.kind === 'ok')
      answer.value = { ...answer.value, createdAt: undefined, startedAt: answer.value.createdAt };
    expect((await triggered([lost, ourConflict], { status: [answer] })).result.kind).toBe('started');
  });

  test('is read off its creation where that and its start are far apart', async () => {
    const startedAt = new Date(createVirtualClock().nowMs() + 600_000).toISOString();
    const { result } = await triggered([lost, ourConflict], { status: [began(200, { startedAt })] });
    expect(result.kind).toBe('started');
  });

  test('is not ours where another trigger of this machine is known to have started it', async () => {
    const { result } = await triggered([lost, otherConflict], { status: [began(200, {}, otherId)] });
    expect(result.kind).toBe('unknown');
  });

  test('is not asked for while nothing is in doubt', async () => {
    expect((await triggered([fault('throttled'), ourConflict])).result.kind).toBe('refused');
  });

  test('does not keep the user from leaving', async () => {
    const interrupt = new AbortController();
    const clock = createVirtualClock();
    const service = {
      ...scriptedService({ trigger: [lost, ourConflict] }),
      status: async () => {
        interrupt.abort('SIGINT');
        return fault('interrupted');
      },
    };
    const ports = { service, clock, signal: interrupt.signal };
    const { result } = await triggered([], { ports });
    expect(result).toMatchObject({ kind: 'interrupted', mayHaveStarted: true });
  });

  test('is of unknown owner to another process where it began before, which has the wall clock alone', async () => {
    const history: KeyHistory = { ...earlierOf(hour), isRecovery: true };
    const old = await triggered([ourConflict], { history, status: [began(-2 * hour)] });
    expect(old.result.kind).toBe('unknown');
    const ours = await triggered([ourConflict], { history, status: [began(-hour + 1000)] });
    expect(ours.result).toMatchObject({ kind: 'started', how: 'recovered', started: 'no' });
  });
});

describe('how an accepted trigger came to its run', () => {
  const minute = 60_000;
  const finished = { status: 'COMPLETED' };

  test.each<[string, Given, number | undefined, Partial<Execution>, string]>([
    ['under a minted key', {}, undefined, {}, 'started yes'],
    ['under a minted key, whenever it began', {}, -60 * minute, finished, 'started yes'],
    ['under a given key', { userProvided: true }, 0, {}, 'found unknown'],
    ['under a given key, nobody knows when', { userProvided: true }, undefined, {}, 'found unknown'],
    ['under a given key, less than 5 s before', { userProvided: true }, -4999, {}, 'found unknown'],
    ['under a given key, 5 s before', { userProvided: true }, -5000, {}, 'replayed no'],
    ['under a given key, 2 min before', { userProvided: true }, -2 * minute, {}, 'replayed no'],
    ['under a given key, finished', { userProvided: true }, 0, finished, 'replayed no'],
    ['under a given key, completed', { userProvided: true }, 0, { completedAt: '2026-01-01T00:00:00Z' }, 'replayed no'],
    ['in `recover`, before it', { history: { ...earlierOf(minute), isRecovery: true } }, -minute, {}, 'recovered no'],
    [
      'in `recover`, finished',
      { history: { ...earlierOf(minute), isRecovery: true } },
      undefined,
      finished,
      'recovered no',
    ],
    ['in `recover`, by it', { history: { ...earlierOf(minute), isRecovery: true } }, 0, {}, 'started yes'],
    [
      'in `recover`, nobody knows when',
      { history: { ...earlierOf(minute), isRecovery: true } },
      undefined,
      {},
      'started unknown',
    ],
  ])('%s', async (_, given, afterMs, fields, expected) => {
    const answer = afterMs === undefined ? state(fields.status ?? 'RUNNING', fields) : began(afterMs, fields);
    const { result } = await triggered([answer], given);
    expect(result.kind === 'started' && `${result.how} ${result.started}`).toBe(expected);
  });

  test.each<[string, Answer<Execution>[], Given, string, boolean]>([
    ['2 s before the attempt', [lost, began(-2000)], {}, 'recovered yes', false],
    ['a minute before the attempt', [lost, began(-minute)], {}, 'recovered yes', true],
    ['less than 2 s before it', [lost, began(-1999)], {}, 'started yes', false],
    ['after it', [lost, began(250)], {}, 'started yes', false],
    ['nobody knows when', [lost, running()], {}, 'started yes', false],
    ['long before it, but nothing was in doubt', [fault('throttled'), began(-minute)], {}, 'started yes', false],
    ['2 s before the attempt, under a given key', [lost, began(-2000)], { userProvided: true }, 'found unknown', false],
    ['and finished, under a given key', [lost, began(0, finished)], { userProvided: true }, 'found unknown', false],
    ['long before it, under a given key', [began(-minute)], { userProvided: true }, 'replayed no', true],
  ])('after a lost answer, %s', async (_, script, given, expected, isHonored) => {
    const { result } = await triggered(script, given);
    expect(result.kind === 'started' && `${result.how} ${result.started}`).toBe(expected);
    expect(result).toMatchObject({ isKeyHonored: isHonored });
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

describe('a key that the service may have forgotten', () => {
  const hour = 3_600_000;

  test.each<[string, KeyHistory, number]>([
    ['a day after it was first sent', earlierOf(25 * hour), 0],
    ['a day at most', earlierOf(24 * hour), 1],
  ])('is sent no more: %s', async (_, history, attempts) => {
    const { result, sent } = await triggered([running()], { history });
    expect([result.kind, sent.length]).toEqual([attempts === 0 ? 'unknown' : 'started', attempts]);
    const message = expect.stringContaining('more than 24h ago');
    if (attempts === 0) expect(result).toMatchObject({ fault: { kind: 'stale_key', message } });
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
  const accepted = { state: 'accepted', executionId: otherId } as const;

  test.each<[string, Answer<Execution>[], ReturnType<TriggerRecord['readKey']>, TriggerResult['kind']]>([
    ['started a run there, when it is refused here', [conflict], accepted, 'started'],
    ['started a run there, when it stays in doubt here', [lost, conflict], accepted, 'started'],
    ['may have started a run there, when it is refused here', [conflict], { state: 'open', ageMs: 1000 }, 'unknown'],
    ['has come to nothing there either', [conflict], undefined, 'refused'],
  ])('%s', async (_, script, known, end) => {
    const { result } = await triggered(script, { readKey: () => known });
    expect(result.kind).toBe(end);
    if (result.kind === 'started') expect(result.execution.executionId).toBe(otherId);
  });

  test.each<[string, Given, string, string]>([
    ['under a key that the user gave', { userProvided: true }, 'replayed', 'no'],
    ['under a minted key, by `recover`', {}, 'replayed', 'no'],
    ['while `recover` sends it', { userProvided: true, history: { isRecovery: true } }, 'recovered', 'no'],
  ])('started a run there, %s', async (_, given, how, started) => {
    const { result } = await triggered([conflict], { readKey: () => accepted, ...given });
    const document = { executionId: otherId, status: 'RUNNING' };
    expect(result).toMatchObject({ kind: 'started', how, started, execution: { ...document, document } });
  });
});

describe('a service that ignores keys', () => {
  test.each<[string, Answer<Execution>[], string, number]>([
    ['after a lost answer', [lost, running()], 'unknown', 1],
    ['after a 502', [fault('unavailable', { httpStatus: 502 }), running()], 'unknown', 1],
    ['but after a 429', [fault('throttled'), running()], 'started', 2],
    ['but after a connection that was not made', [fault('unreachable'), running()], 'started', 2],
  ])('is sent nothing again %s', async (_, script, kind, attempts) => {
    const { result, sent } = await triggered(script, { isRepeatable: false });
    expect([result.kind, sent.length]).toEqual([kind, attempts]);
  });
});

describe('the protocol', () => {
  const events = Object.keys(protocol) as TriggerEvent[];
  const lossy = new Set<TriggerEvent>(['lost', 'lost_for_good', 'interrupted']);
  /** They tell of all attempts. */
  const clear = new Set<TriggerEvent>(['reused', 'conflict_with_another']);

  test('never says that no run was started once an answer was lost, unless an answer is about all attempts', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 12 }), (sequence) => {
        let state: TriggerState = 'ready';
        let inDoubt = false;
        for (const event of sequence) {
          if (isEnd(state)) break;
          inDoubt = !clear.has(event) && (inDoubt || lossy.has(event));
          state = protocol[event][state];
        }
        expect(inDoubt && state === 'refused', 'refused although an answer was lost').toBe(false);
        expect(!inDoubt && (state === 'in_doubt' || state === 'unknown'), 'in doubt without a lost answer').toBe(false);
      }),
    );
  });

  test('calls a run ours only for an id: its own, or one that is named while in doubt', () => {
    for (const event of events) {
      if (protocol[event].ready === 'started') expect(event).toBe('accepted');
      if (protocol[event].in_doubt === 'started') expect(['accepted', 'conflict_with_ours']).toContain(event);
    }
  });
});
