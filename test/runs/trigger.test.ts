import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/runs/json.ts';
import { createRateLimiter } from '../../src/runs/rate-limiter.ts';
import type { Answer, Execution } from '../../src/runs/service.ts';
import {
  type KeyHistory,
  type TriggerIdentity,
  type TriggerPorts,
  type TriggerRecord,
  type TriggerResult,
  triggerRun,
} from '../../src/runs/trigger.ts';
import { eventOf, isEnd, protocol, type TriggerEvent } from '../../src/runs/trigger-protocol.ts';
import { executionId, fault, projectId, running, scriptedService, target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

const identity: TriggerIdentity = {
  baseUrl: 'https://service.test',
  account: 'account',
  target,
  idempotencyKey: 'key-1',
  userProvided: false,
};
const request = { target, idempotencyKey: 'key-1', body: '{}' };

async function triggered(
  script: Answer<Execution>[],
  ports: Partial<TriggerPorts> = {},
  key?: KeyHistory & { userProvided?: boolean },
  readKey: TriggerRecord['readKey'] = () =>
    key?.ageMs === undefined ? undefined : { state: 'open', ageMs: key.ageMs },
  isWritten = true,
) {
  const service = scriptedService({ trigger: script });
  const clock = createVirtualClock();
  const records: string[] = [];
  const { userProvided = false, ...history } = key ?? {};
  const result = await triggerRun(
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
        intent: () => records.push('intent'),
        inDoubt: () => records.push('in doubt'),
        started: () => records.push('started'),
        refused: () => records.push('refused') > 0 && isWritten,
        mayBeOfAnother: (id) => id === otherId,
        readKey,
      },
      ...ports,
    },
    history,
  );
  return { result, records, sent: service.calls.trigger, clock };
}

const conflict = fault('already_active', { httpStatus: 422 });
const otherId = executionId.replace(/^./, '0');
const otherConflict = fault('already_active', { httpStatus: 422, executionId: otherId });
const ourConflict = fault('already_active', { httpStatus: 422, executionId });
const lost = fault('lost');

describe('one trigger', () => {
  const table: [string, Answer<Execution>[], TriggerResult['kind'], string[], number][] = [
    ['accepted at once', [running()], 'started', ['intent', 'started'], 1],
    ['accepted after a 429', [fault('throttled', { httpStatus: 429 }), running()], 'started', ['intent', 'started'], 2],
    ['accepted after a lost answer', [lost, running()], 'started', ['intent', 'in doubt', 'started'], 2],
    [
      'accepted after a 502',
      [fault('unavailable', { httpStatus: 502 }), running()],
      'started',
      ['intent', 'in doubt', 'started'],
      2,
    ],
    [
      'accepted after an unreadable 201',
      [fault('unreadable', { httpStatus: 201 }), running()],
      'started',
      ['intent', 'in doubt', 'started'],
      2,
    ],
    [
      'accepted after a 409 for its own key',
      [fault('in_progress', { httpStatus: 409 }), running()],
      'started',
      ['intent', 'in doubt', 'started'],
      2,
    ],
    ['refused for an active run', [conflict], 'refused', ['intent', 'refused'], 1],
    ['not its own when refused for a named active run at once', [ourConflict], 'refused', ['intent', 'refused'], 1],
    [
      'taken as ours after a lost answer when the conflict names the run',
      [lost, ourConflict],
      'started',
      ['intent', 'in doubt', 'started'],
      2,
    ],
    [
      'in doubt after a lost answer and a conflict that names nothing',
      [lost, conflict],
      'unknown',
      ['intent', 'in doubt', 'in doubt'],
      2,
    ],
    [
      'in doubt after a lost answer and a conflict that names the run of another trigger',
      [lost, otherConflict],
      'unknown',
      ['intent', 'in doubt', 'in doubt'],
      2,
    ],
    ['refused for good with a bad certificate', [fault('untrusted')], 'refused', ['intent', 'refused'], 1],
    ['in doubt when a 501 answers', [fault('rejected', { httpStatus: 501 })], 'unknown', ['intent', 'in doubt'], 1],
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

  test('waits for the rate limiter before every attempt', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(0.1, clock);
    const ports = { clock, limiter, giveUpAfterMs: 600_000 };
    const { sent } = await triggered([lost, fault('unreachable'), running()], ports);
    expect(sent).toHaveLength(3);
    expect(clock.elapsedMs()).toBe(20_000);
  });

  test('counts only the time without an answer against its patience, not the wait for its own turn', async () => {
    const clock = createVirtualClock();
    const limiter = createRateLimiter(1 / 60, clock);
    const { result, sent } = await triggered([lost, lost, running()], { clock, limiter, giveUpAfterMs: 10_000 });
    expect([result.kind, sent.length]).toEqual(['started', 3]);
    expect(clock.elapsedMs()).toBe(120_000);
  });

  test('is reported as refused, not as interrupted, when the refusal arrives as the user presses Ctrl-C', async () => {
    const interrupt = new AbortController();
    const service = {
      async trigger() {
        interrupt.abort('SIGINT');
        return fault('no_credits', { httpStatus: 402 });
      },
    };
    const { result, records } = await triggered([], { service, signal: interrupt.signal });
    expect(result).toMatchObject({ kind: 'refused', fault: { kind: 'no_credits' } });
    expect(records).toEqual(['intent', 'refused']);
  });

  test.each([
    ['interrupted', false],
    ['interrupted_in_flight', true],
  ] as const)('that the user ends (%s) may have started a run: %s', async (kind, mayHaveStarted) => {
    const { result } = await triggered([fault(kind)]);
    expect(result).toMatchObject({ kind: 'interrupted', mayHaveStarted });
  });

  test.each([
    [fault('unreachable'), false, ['intent', 'refused']],
    [lost, true, ['intent', 'in doubt', 'in doubt']],
  ] as const)(
    'that the user ends between two attempts is not sent again (%j)',
    async (first, mayHaveStarted, records) => {
      const interrupt = new AbortController();
      const ports = { signal: interrupt.signal, onRetry: () => interrupt.abort('SIGINT') };
      const ended = await triggered([first], ports);
      expect(ended.result).toMatchObject({ kind: 'interrupted', mayHaveStarted });
      expect([ended.sent.length, ended.records]).toEqual([1, records]);
    },
  );

  test('that is refused stays in doubt while another process has sent its key with an unknown outcome', async () => {
    const earlier = { state: 'open', ageMs: 1000 } as const;
    const { result, records } = await triggered([fault('no_credits')], {}, { ageMs: 1000 }, () => earlier);
    expect([result.kind, records]).toEqual(['unknown', ['intent', 'refused']]);
    const settled = await triggered([fault('no_credits')], {}, { ageMs: 1000 }, () => undefined);
    expect(settled.result.kind).toBe('refused');
  });

  test('waits a moment for another process that is just sending the same key', async () => {
    let reads = 0;
    const readKey = () => (++reads < 5 ? ({ state: 'open', ageMs: 1000 } as const) : undefined);
    const { result, clock } = await triggered([conflict], {}, {}, readKey);
    expect(result.kind).toBe('refused');
    expect(clock.elapsedMs()).toBeLessThan(2_000);
  });

  test('waits as long for one that was at it before, unless it was left behind', async () => {
    let reads = 0;
    const readKey = () => (++reads < 3 ? ({ state: 'open', ageMs: 1000 } as const) : undefined);
    const { result, clock } = await triggered([conflict], {}, { ageMs: 600 }, readKey);
    expect(result.kind).toBe('refused');
    expect(clock.elapsedMs()).toBeLessThan(1_000);
    const killed = await triggered([conflict], {}, { ageMs: 600 }, () => ({ state: 'open', ageMs: 1000 }));
    expect([killed.result.kind, killed.clock.elapsedMs()]).toEqual(['unknown', 5_000]);
    const left = { ageMs: 600, isLeftBehind: true };
    const recovered = await triggered([conflict], {}, left, () => ({ state: 'open', ageMs: 1000 }));
    expect([recovered.result.kind, recovered.clock.elapsedMs()]).toEqual(['unknown', 0]);
  });

  test('waits for no process that has long ended', async () => {
    const readKey = () => ({ state: 'open', ageMs: 120_000 }) as const;
    const { result, clock } = await triggered([conflict], {}, {}, readKey);
    expect([result.kind, clock.elapsedMs()]).toEqual(['unknown', 0]);
  });

  test('is in doubt where the refusal could not be written: then the record says nothing', async () => {
    const { result } = await triggered([conflict], {}, { ageMs: 1000 }, () => undefined, false);
    expect(result.kind).toBe('unknown');
  });
});

describe('a key that the user chose', () => {
  const other = (document: JsonObject) => running({ document: { executionId, status: 'RUNNING', ...document } });
  const given = { userProvided: true };

  test.each<[string, JsonObject, TriggerResult['kind']]>([
    ['the automation as we write it', { projectId, automationName: 'nightly' }, 'started'],
    ['the automation in another spelling', { projectId, automationName: ' Nightly ' }, 'started'],
    ['nothing', {}, 'started'],
    ['another automation', { projectId, automationName: 'weekly' }, 'refused'],
    ['another project', { projectId: executionId, automationName: 'nightly' }, 'refused'],
  ])('is answered with a run of ours, or was used before: the answer names %s', async (_, document, end) => {
    expect((await triggered([other(document)], {}, given)).result.kind).toBe(end);
  });

  test('was used before, whatever became of earlier attempts', async () => {
    const { result, records } = await triggered([lost, other({ automationName: 'weekly' })], {}, given);
    expect(result).toMatchObject({ kind: 'refused', fault: { message: expect.stringContaining('weekly') } });
    expect(records).toEqual(['intent', 'in doubt', 'refused']);
  });

  test('is needed for that: a minted key is new', async () => {
    expect((await triggered([other({ automationName: 'weekly' })])).result.kind).toBe('started');
  });
});

describe('a key that the service may have forgotten', () => {
  const hour = 3_600_000;

  test.each<[string, KeyHistory, number]>([
    ['a day after it was first sent', { ageMs: 25 * hour }, 0],
    ['later than the user allows', { ageMs: 2 * hour, maxAgeMs: hour }, 0],
    ['while the user allows it', { ageMs: 25 * hour, maxAgeMs: 48 * hour }, 1],
    ['within a day', { ageMs: 23 * hour }, 1],
  ])('is sent no more: %s', async (_, key, attempts) => {
    const { result, sent } = await triggered([running()], {}, key);
    expect([result.kind, sent.length]).toEqual([attempts === 0 ? 'unknown' : 'started', attempts]);
  });

  test('is sent no more when the machine has slept since the answer was lost', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { result, sent } = await triggered([lost, running()], { clock, onRetry });
    expect([result.kind, sent.length]).toEqual(['unknown', 1]);
  });

  test('is no matter while nothing that was sent can have started a run', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { result } = await triggered([fault('throttled'), running()], { clock, onRetry });
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
    const { result } = await triggered(script, {}, {}, () => known);
    expect(result.kind).toBe(end);
    if (result.kind === 'started') expect(result.execution.executionId).toBe(otherId);
  });
});

describe('the protocol', () => {
  const events = Object.keys(protocol.ready) as TriggerEvent[];
  const lossy = new Set<TriggerEvent>(['lost', 'lost_for_good', 'cut']);

  test('never says that no run was started once an answer was lost, unless the key was used before', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 12 }), (sequence) => {
        let state: keyof typeof protocol | 'started' | 'refused' | 'unknown' = 'ready';
        let inDoubt = false;
        for (const event of sequence) {
          if (isEnd(state)) break;
          inDoubt = event !== 'reused' && (inDoubt || lossy.has(event));
          state = protocol[state][event];
        }
        expect(inDoubt && state === 'refused', 'refused although an answer was lost').toBe(false);
        expect(!inDoubt && (state === 'in_doubt' || state === 'unknown'), 'in doubt without a lost answer').toBe(false);
      }),
    );
  });

  test('calls a run ours only for an id: its own, or one that is named while in doubt', () => {
    for (const event of events) {
      if (protocol.ready[event] === 'started') expect(event).toBe('accepted');
      if (protocol.in_doubt[event] === 'started') expect(['accepted', 'conflict_with_id']).toContain(event);
    }
  });

  test('knows an event for every fault', () => {
    for (const kind of ['unreachable', 'untrusted', 'lost', 'throttled', 'no_credits', 'in_progress'] as const) {
      expect(events).toContain(eventOf(fault(kind).fault, false));
    }
  });
});
