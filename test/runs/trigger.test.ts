import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBudget } from '../../src/runs/budget.ts';
import type { JsonObject } from '../../src/runs/json.ts';
import type { Answer, Execution } from '../../src/runs/service.ts';
import {
  type KeyHistory,
  type TriggerOutcome,
  type TriggerPorts,
  type TriggerRecord,
  triggerRun,
} from '../../src/runs/trigger.ts';
import { eventOf, isEnd, protocol, type TriggerEvent } from '../../src/runs/trigger-protocol.ts';
import { executionId, fault, projectId, running, scriptedService, target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

const request = { target, idempotencyKey: 'key-1', body: '{}' };

async function triggered(
  script: Answer<Execution>[],
  ports: Partial<TriggerPorts> = {},
  key?: KeyHistory,
  look: TriggerRecord['look'] = () => (key?.ageMs === undefined ? undefined : { state: 'open', ageMs: key.ageMs }),
  isWritten = true,
) {
  const service = scriptedService({ trigger: script });
  const clock = createVirtualClock();
  const records: string[] = [];
  const outcome = await triggerRun(
    request,
    {
      service,
      clock,
      budget: createBudget(10, clock),
      random: () => 0.5,
      signal: new AbortController().signal,
      giveUpAfterMs: 30_000,
      record: {
        intent: () => records.push('intent'),
        doubtful: () => records.push('doubtful'),
        started: () => records.push('started'),
        refused: () => records.push('refused') > 0 && isWritten,
        mayBeOfAnother: (id) => id === otherId,
        look,
      },
      ...ports,
    },
    key,
  );
  return { outcome, records, sent: service.calls.trigger, clock };
}

const conflict = fault('already_active', { httpStatus: 422 });
const otherId = executionId.replace(/^./, '0');
const otherConflict = fault('already_active', { httpStatus: 422, executionId: otherId });
const ourConflict = fault('already_active', { httpStatus: 422, executionId });
const lost = fault('lost');

describe('one trigger', () => {
  const table: [string, Answer<Execution>[], TriggerOutcome['end'], string[], number][] = [
    ['accepted at once', [running()], 'started', ['intent', 'started'], 1],
    ['accepted after a 429', [fault('throttled', { httpStatus: 429 }), running()], 'started', ['intent', 'started'], 2],
    ['accepted after a lost answer', [lost, running()], 'started', ['intent', 'doubtful', 'started'], 2],
    [
      'accepted after a 502',
      [fault('unavailable', { httpStatus: 502 }), running()],
      'started',
      ['intent', 'doubtful', 'started'],
      2,
    ],
    [
      'accepted after an unreadable 201',
      [fault('unreadable', { httpStatus: 201 }), running()],
      'started',
      ['intent', 'doubtful', 'started'],
      2,
    ],
    [
      'accepted after a 409 for its own key',
      [fault('in_progress', { httpStatus: 409 }), running()],
      'started',
      ['intent', 'doubtful', 'started'],
      2,
    ],
    ['refused for an active run', [conflict], 'refused', ['intent', 'refused'], 1],
    ['not its own when refused for a named active run at once', [ourConflict], 'refused', ['intent', 'refused'], 1],
    [
      'taken as ours after a lost answer when the conflict names the run',
      [lost, ourConflict],
      'started',
      ['intent', 'doubtful', 'started'],
      2,
    ],
    [
      'in doubt after a lost answer and a conflict that names nothing',
      [lost, conflict],
      'unknown',
      ['intent', 'doubtful', 'doubtful'],
      2,
    ],
    [
      'in doubt after a lost answer and a conflict that names the run of another trigger',
      [lost, otherConflict],
      'unknown',
      ['intent', 'doubtful', 'doubtful'],
      2,
    ],
    ['refused for good with a bad certificate', [fault('untrusted')], 'refused', ['intent', 'refused'], 1],
    [
      'in doubt when a 501 answers',
      [fault('rejected', { httpStatus: 501, acted: 'unknown' })],
      'unknown',
      ['intent', 'doubtful'],
      1,
    ],
  ];
  test.each(table)('is %s', async (_, script, end, records, attempts) => {
    const told = await triggered(script);
    expect(told.outcome.end).toBe(end);
    expect(told.records).toEqual(records);
    expect(told.sent).toHaveLength(attempts);
  });

  test('sends the same key and the same bytes at every attempt', async () => {
    const { sent } = await triggered([lost, fault('unreachable'), fault('throttled'), running()]);
    expect(sent).toEqual([request, request, request, request]);
  });

  test('takes a token of the budget for every attempt', async () => {
    const clock = createVirtualClock();
    const budget = createBudget(0.1, clock);
    const ports = { clock, budget, giveUpAfterMs: 600_000 };
    const { sent } = await triggered([lost, fault('unreachable'), running()], ports);
    expect(sent).toHaveLength(3);
    expect(clock.elapsedMs()).toBe(20_000);
  });

  test.each(['unknown', 'no'] as const)(
    'that the user cuts is known to have acted as far as its fault says (%s)',
    async (acted) => {
      const { outcome } = await triggered([fault('interrupted', { acted, transient: false })]);
      expect(outcome.end).toBe(acted === 'unknown' ? 'unknown' : 'refused');
    },
  );

  test.each([
    [fault('unreachable'), 'refused', ['intent', 'refused']],
    [lost, 'unknown', ['intent', 'doubtful', 'doubtful']],
  ] as const)('that the user leaves between two attempts is not sent again (%j)', async (first, end, records) => {
    const interrupt = new AbortController();
    const ports = { signal: interrupt.signal, onRetry: () => interrupt.abort('SIGINT') };
    const told = await triggered([first], ports);
    expect(told.outcome).toMatchObject({ end, stopped: true });
    expect([told.sent.length, told.records]).toEqual([1, records]);
  });

  test('whose key another process sent, and that is refused itself, is in doubt as long as the other', async () => {
    const earlier = { state: 'open', ageMs: 1000 } as const;
    const { outcome, records } = await triggered([fault('no_credits')], {}, { ageMs: 1000 }, () => earlier);
    expect([outcome.end, records]).toEqual(['unknown', ['intent', 'refused']]);
    const settled = await triggered([fault('no_credits')], {}, { ageMs: 1000 }, () => undefined);
    expect(settled.outcome.end).toBe('refused');
  });

  test('waits a moment for another process that is just sending the same key', async () => {
    let looks = 0;
    const look = () => (++looks < 5 ? ({ state: 'open', ageMs: 1000 } as const) : undefined);
    const { outcome, clock } = await triggered([conflict], {}, {}, look);
    expect(outcome.end).toBe('refused');
    expect(clock.elapsedMs()).toBeLessThan(2_000);
  });

  test('waits as long for one that was at it before, unless it was left behind', async () => {
    let looks = 0;
    const look = () => (++looks < 3 ? ({ state: 'open', ageMs: 1000 } as const) : undefined);
    const { outcome, clock } = await triggered([conflict], {}, { ageMs: 600 }, look);
    expect(outcome.end).toBe('refused');
    expect(clock.elapsedMs()).toBeLessThan(1_000);
    const killed = await triggered([conflict], {}, { ageMs: 600 }, () => ({ state: 'open', ageMs: 1000 }));
    expect([killed.outcome.end, killed.clock.elapsedMs()]).toEqual(['unknown', 5_000]);
    const left = { ageMs: 600, isLeftBehind: true };
    const recovered = await triggered([conflict], {}, left, () => ({ state: 'open', ageMs: 1000 }));
    expect([recovered.outcome.end, recovered.clock.elapsedMs()]).toEqual(['unknown', 0]);
  });

  test('waits for no process that has long ended', async () => {
    const look = () => ({ state: 'open', ageMs: 120_000 }) as const;
    const { outcome, clock } = await triggered([conflict], {}, {}, look);
    expect([outcome.end, clock.elapsedMs()]).toEqual(['unknown', 0]);
  });

  test('is in doubt where the refusal could not be written: then the record tells nothing', async () => {
    const { outcome } = await triggered([conflict], {}, { ageMs: 1000 }, () => undefined, false);
    expect(outcome.end).toBe('unknown');
  });
});

describe('a key that the user chose', () => {
  const other = (document: JsonObject) => running({ document: { executionId, status: 'RUNNING', ...document } });
  const given = { given: true };

  test.each<[string, JsonObject, TriggerOutcome['end']]>([
    ['the automation as we write it', { projectId, automationName: 'nightly' }, 'started'],
    ['the automation in another spelling', { projectId, automationName: ' Nightly ' }, 'started'],
    ['nothing', {}, 'started'],
    ['another automation', { projectId, automationName: 'weekly' }, 'refused'],
    ['another project', { projectId: executionId, automationName: 'nightly' }, 'refused'],
  ])('is answered with a run of ours, or was used before: the answer names %s', async (_, document, end) => {
    expect((await triggered([other(document)], {}, given)).outcome.end).toBe(end);
  });

  test('was used before, whatever became of earlier attempts', async () => {
    const { outcome } = await triggered([lost, other({ automationName: 'weekly' })], {}, given);
    expect(outcome).toMatchObject({ end: 'refused', fault: { message: expect.stringContaining('weekly') } });
  });

  test('is needed for that: a minted key is new', async () => {
    expect((await triggered([other({ automationName: 'weekly' })])).outcome.end).toBe('started');
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
    const { outcome, sent } = await triggered([running()], {}, key);
    expect([outcome.end, sent.length]).toEqual([attempts === 0 ? 'unknown' : 'started', attempts]);
  });

  test('is sent no more when the machine has slept since the answer was lost', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { outcome, sent } = await triggered([lost, running()], { clock, onRetry });
    expect([outcome.end, sent.length]).toEqual(['unknown', 1]);
  });

  test('is no matter while nothing that was sent can have started a run', async () => {
    const clock = createVirtualClock();
    const onRetry = () => clock.suspend(25 * hour);
    const { outcome } = await triggered([fault('throttled'), running()], { clock, onRetry });
    expect(outcome.end).toBe('started');
  });
});

describe('a key that another process has sent, too', () => {
  const accepted = { state: 'accepted', executionId: otherId } as const;

  test.each<[string, Answer<Execution>[], ReturnType<TriggerRecord['look']>, TriggerOutcome['end']]>([
    ['started a run there, when it is refused here', [conflict], accepted, 'started'],
    ['started a run there, when it stays in doubt here', [lost, conflict], accepted, 'started'],
    ['may have started a run there, when it is refused here', [conflict], { state: 'open', ageMs: 1000 }, 'unknown'],
    ['has come to nothing there either', [conflict], undefined, 'refused'],
  ])('%s', async (_, script, known, end) => {
    const { outcome } = await triggered(script, {}, {}, () => known);
    expect(outcome.end).toBe(end);
    if (outcome.end === 'started') expect(outcome.execution.executionId).toBe(otherId);
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
        expect(!inDoubt && (state === 'doubtful' || state === 'unknown'), 'in doubt without a lost answer').toBe(false);
      }),
    );
  });

  test('calls a run ours only for an id: its own, or one that is named while in doubt', () => {
    for (const event of events) {
      if (protocol.ready[event] === 'started') expect(event).toBe('accepted');
      if (protocol.doubtful[event] === 'started') expect(['accepted', 'conflict_with_id']).toContain(event);
    }
  });

  test('knows an event for every fault', () => {
    for (const kind of ['unreachable', 'untrusted', 'lost', 'throttled', 'no_credits', 'in_progress'] as const) {
      expect(events).toContain(eventOf(fault(kind).fault, false));
    }
  });
});
