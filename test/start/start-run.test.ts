import { describe, expect, test } from 'vitest';
import { hintContextOf } from '../../src/connection/connection.ts';
import { openJournal } from '../../src/journal/journal.ts';
import type { HintContext } from '../../src/messages/hint-context.ts';
import { diagnosticOf } from '../../src/messages/outcome-diagnostics.ts';
import { attributions } from '../../src/run/attribution.ts';
import type { Reporter, RunEvent } from '../../src/run/events.ts';
import { exitCodeOf } from '../../src/run/exit-codes.ts';
import { exitNameOfOutcome, factsOf, problemNameOf } from '../../src/run/exit-of.ts';
import type { TriggerOutcome } from '../../src/run/outcome.ts';
import type { Answer, RunSnapshot, Service } from '../../src/run/service.ts';
import type { IfActive } from '../../src/run/trigger.ts';
import { startRun } from '../../src/start/start-run.ts';
import type { StartRequest } from '../../src/start/trigger-result.ts';
import { createWatchSession } from '../../src/watch/watch-session.ts';
import { baseUrl, createConnection } from '../helpers/connection.ts';
import { second } from '../helpers/durations.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { executionId, fault, run, running, scriptedService, state, target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

interface Flags {
  idempotencyKey?: string;
  ifActive?: IfActive;
  timeoutMs?: number;
}

const request: StartRequest = { target, body: '{}', idempotencyKey: undefined, ifActive: undefined };

/** The start of an outcome, and what went wrong, if anything did. */
function seenIn(outcome: TriggerOutcome, hintContext: HintContext) {
  const diagnostic = diagnosticOf(outcome, hintContext);
  const { how, started } = attributions[outcome.triggerInfo.attribution];
  const name = exitNameOfOutcome(outcome);
  const { snapshot, activeExecutionId } = factsOf(outcome);
  const problem = diagnostic && { ...diagnostic, name: problemNameOf(outcome), exitCode: exitCodeOf(name), started };
  const { endedAs } = outcome.triggerInfo;
  return { problem, how, started, name, status: snapshot?.status, activeExecutionId, run: outcome.run, endedAs };
}

/** A machine on which triggers of one automation are sent, each by a process of its own. */
function createTriggerHarness({ ignoresKeys = false } = {}) {
  const folder = temporaryFolder();
  const clock = createVirtualClock();
  const context = { ...createMemory(), clock };
  const journal = () => openJournal({ folder, nowMs: clock.nowMs, onFailure: (what) => expect.unreachable(what) });

  async function trigger(
    scripts: Parameters<typeof scriptedService>[0],
    { timeoutMs = Number.POSITIVE_INFINITY, ...flags }: Flags = {},
    account = 'account',
  ) {
    const service = scriptedService(scripts);
    const triggeredAtMs: number[] = [];
    const timed: Service = {
      ...service,
      trigger(...args) {
        triggeredAtMs.push(clock.elapsedMs());
        return service.trigger(...args);
      },
    };
    const events: RunEvent[] = [];
    const reporter: Reporter = { emit: (event) => events.push(event), stop() {} };
    const connection = createConnection(timed, {
      context: { ...context, reporter },
      ignoresKeys,
      account: async () => account,
      journal: journal(),
      session: createWatchSession(timeoutMs, clock),
    });
    const { outcome, handle } = await startRun({ ...request, ...flags }, connection);
    const seen = seenIn(outcome, hintContextOf(connection));
    return { ...seen, found: handle, calls: service.calls, triggeredAtMs, events };
  }
  return { trigger, journal, clock };
}

const conflict = (fields: Parameters<typeof fault>[1] = {}) =>
  fault('already_active', { httpStatus: 422, executionId, ...fields });

test('the time since the trigger of this process is measured by the clock that can not be set', async () => {
  const { trigger, clock } = createTriggerHarness();
  const { found } = await trigger({ trigger: [running()] });
  clock.stop(second);
  clock.suspend(3_600_000);
  expect(found?.sinceTriggerMs?.()).toBe(second);
});

describe('an idempotency key that started a run before', () => {
  test("gets that run as the response, even while the service doesn't know it yet", async () => {
    const { trigger, clock } = createTriggerHarness();
    const flags = { idempotencyKey: 'nightly-1' };
    await trigger({ trigger: [running()] }, flags);
    const triggeredAtMs = clock.nowMs();
    const { calls, found, ...seen } = await trigger({ status: [fault('not_found'), running()] }, flags);
    expect(seen).toMatchObject({ how: 'replayed', run, status: 'RUNNING' });
    expect(found?.sinceTriggerMs?.()).toBe(clock.nowMs() - triggeredAtMs);
    expect(calls.trigger).toEqual([]);
  });

  test('starts no second run with a new API key', async () => {
    const { trigger } = createTriggerHarness();
    const flags = { idempotencyKey: 'nightly-1' };
    await trigger({ trigger: [running()] }, flags);
    const { calls, ...seen } = await trigger({ status: [running()] }, flags, 'another account');
    expect(seen).toMatchObject({ how: 'replayed', run });
    expect(calls.trigger).toEqual([]);
  });
});

test.each<[string, Answer<RunSnapshot>[], object]>([
  ['after a lost answer', [fault('lost'), state('FAILED')], { started: 'unknown', name: 'run_failed' }],
  ['at once', [state('FAILED')], { started: 'no', name: 'run_failed' }],
  ['at once, running', [running()], { started: 'unknown', name: 'ok' }],
])('a given key that gets a run exits with the code of that run: %s', async (_, script, expected) => {
  const { trigger } = createTriggerHarness();
  expect(await trigger({ trigger: script }, { idempotencyKey: 'k' })).toMatchObject(expected);
});

test.each([
  ['given by the user', 'k', 'FAILED'],
  ['generated', undefined, undefined],
])(
  'a failed run in the response to an idempotency key that was %s is an earlier run, or a new one',
  async (_, idempotencyKey, endedAs) => {
    const { trigger } = createTriggerHarness();
    expect(await trigger({ trigger: [state('FAILED')] }, { idempotencyKey })).toMatchObject({ endedAs });
  },
);

test.each<[string, Answer<RunSnapshot>, string, number]>([
  ['402', fault('no_credits', { httpStatus: 402 }), 'no_credits', 8],
  ['an active run', conflict(), 'already_active', 5],
])('a given key that an earlier command left in doubt stays unresolved after %s', async (_, answer, name, exitCode) => {
  const { trigger, journal, clock } = createTriggerHarness();
  const flags = { idempotencyKey: 'k' };
  expect((await trigger({ trigger: [fault('lost')] }, flags)).problem?.exitCode).toBe(12);
  clock.suspend(120 * second);
  const { problem, events } = await trigger({ trigger: [answer], status: [running()] }, flags);
  expect(problem).toMatchObject({ exitCode, name, started: 'no' });
  expect(events).toContainEqual(expect.objectContaining({ name: 'unresolved_trigger' }));
  expect(journal().unresolved({ baseUrl })).toHaveLength(1);
});

test.each([
  [23, { how: 'found' }],
  [25, { problem: { exitCode: 12, name: 'idempotency_key_expired' } }],
])('a given key that was left in doubt %i hours ago is sent again or has expired', async (hours, expected) => {
  const { trigger, clock } = createTriggerHarness();
  await trigger({ trigger: [fault('lost')] }, { idempotencyKey: 'k' });
  clock.suspend(hours * 3600 * second);
  expect(await trigger({ trigger: [running()] }, { idempotencyKey: 'k' })).toMatchObject(expected);
});

test('a given key that was left in doubt is not sent again if keys are ignored', async () => {
  const { trigger } = createTriggerHarness({ ignoresKeys: true });
  await trigger({ trigger: [fault('lost')] }, { idempotencyKey: 'k' });
  const { problem, calls } = await trigger({}, { idempotencyKey: 'k' });
  expect([problem?.exitCode, calls.trigger]).toEqual([12, []]);
});

test('a key that is in doubt with another API key is not sent', async () => {
  const { trigger } = createTriggerHarness();
  const flags = { idempotencyKey: 'nightly-1' };
  await trigger({ trigger: [fault('lost')] }, flags);
  const { problem, calls } = await trigger({}, flags, 'another account');
  expect(problem).toMatchObject({ exitCode: 12, name: 'other_api_key', started: 'unknown' });
  expect(calls.trigger).toEqual([]);
});

test('a refusal is reported with the start of the run that it names, and with other triggers that may have started one', async () => {
  const { trigger } = createTriggerHarness();
  const foreign = await trigger({ trigger: [conflict()] });
  expect(foreign.problem?.message).toMatch(/^nightly is already running; no run was started/);
  await trigger({ trigger: [running({ startedAt: '2026-11-22T02:00:13Z' })] });
  const own = await trigger({ trigger: [conflict()] });
  expect(own.problem?.message).toMatch(
    /^nightly has been running since 2026-11-22 02:00:13 \+0000; no run was started/,
  );
  expect(own.calls.status).toBe(0);
  const { problem, calls } = await createTriggerHarness().trigger({ trigger: [conflict({ executionId: undefined })] });
  expect([problem?.hint, calls.status]).toEqual([expect.stringContaining('a schedule'), 0]);
});

test.each([
  [23, executionId],
  [48, undefined],
])(
  'if the refusal names no run, the last recorded run is taken for the active one or not after %s hours',
  async (hours, id) => {
    const { trigger, clock } = createTriggerHarness();
    await trigger({ trigger: [running()] });
    clock.suspend(hours * 3600 * second);
    const script = { trigger: [conflict({ executionId: undefined })] };
    const { how, activeExecutionId, calls } = await trigger(script, { ifActive: 'skip' });
    expect([how, activeExecutionId, calls.status]).toEqual(['skipped', id, 0]);
  },
);

test.each([
  [1, 1],
  [49, 0],
])('an earlier trigger that has been unresolved for %i h causes %i warnings', async (hours, warnings) => {
  const { trigger, clock } = createTriggerHarness();
  await trigger({ trigger: [fault('lost')] });
  clock.suspend(hours * 3600 * second);
  const { events } = await trigger({ trigger: [running()] });
  const named = events.filter((event) => event.event === 'warning' && event.name === 'unresolved_trigger');
  expect(named).toHaveLength(warnings);
});

describe('--if-active wait', () => {
  const wait = { ifActive: 'wait' } as const;

  test('reports the progress of the active run as another run, and starts a run when that has finished', async () => {
    const { trigger, journal } = createTriggerHarness();
    const ours = executionId.replace(/^./, '0');
    const { events, ...seen } = await trigger(
      {
        trigger: [conflict(), running({ executionId: ours })],
        status: [running(), fault('unavailable'), running(), state('FAILED')],
      },
      wait,
    );
    expect(seen).toMatchObject({ how: 'started', run: { executionId: ours } });
    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set(['status', 'waiting', 'attempt_failed', 'service_back']),
    );
    expect(events.every(({ isActiveRun }) => isActiveRun)).toBe(true);
    expect(events).not.toContainEqual(
      expect.objectContaining({ status: expect.objectContaining({ status: 'FAILED' }) }),
    );
    const waits = events.flatMap((event) => (event.event === 'waiting' ? [event.for] : []));
    expect(new Set(waits)).toEqual(new Set(['active_run']));
    expect(journal().find(executionId, { baseUrl })).toMatchObject({ status: 'FAILED' });
  });

  test('waits for nothing but an active run', async () => {
    const { trigger, clock } = createTriggerHarness();
    const { how, calls } = await trigger({ trigger: [fault('no_credits', { httpStatus: 402 }), running()] }, wait);
    expect([how, calls.trigger.length, clock.elapsedMs()]).toEqual(['not_started', 1, 0]);
  });

  test('triggers again at once if the polls of the active run are refused, because the response decides', async () => {
    const { trigger, clock } = createTriggerHarness();
    const { how, calls } = await trigger({ trigger: [conflict(), running()], status: [fault('unauthorized')] }, wait);
    expect([how, calls.trigger.length]).toEqual(['started', 2]);
    expect(clock.elapsedMs()).toBeLessThan(3 * second);
  });

  test.each([
    ['429', fault('throttled', { httpStatus: 429 }), 9],
    ['no connection', fault('unreachable'), 10],
  ])('is not ended by %s, until it gives up or --timeout expires', async (_, answer, exitCode) => {
    const { trigger, clock } = createTriggerHarness();
    const unnamed = conflict({ executionId: undefined });
    const outage = Array(60).fill(answer);
    expect((await trigger({ trigger: [unnamed, ...outage, running()] }, wait)).how).toBe('started');
    expect(clock.elapsedMs()).toBeGreaterThan(180 * second);
    const flags = { ...wait, timeoutMs: 600 * second };
    const { problem } = await createTriggerHarness().trigger({ trigger: [unnamed, answer] }, flags);
    expect(problem).toMatchObject({ exitCode, started: 'no' });
  });

  test('ends at once if a given key is refused for a run that has finished, because the key is used up', async () => {
    const { trigger } = createTriggerHarness();
    const script = { trigger: [conflict()], status: [state('COMPLETED')] };
    const { problem, calls } = await trigger(script, { ...wait, idempotencyKey: 'k' });
    expect(problem).toMatchObject({ exitCode: 5, message: expect.stringContaining('that has finished') });
    expect(calls.trigger).toHaveLength(2);
  });

  const lost = fault('lost');
  const other = `0${executionId.slice(1)}`;

  interface AfterLostResponse {
    where: string;
    answers: Answer<RunSnapshot>[];
    given?: { ignoresKeys?: boolean; idempotencyKey?: string; timeoutMs?: number };
    /** Of the active run. */
    poll?: Answer<RunSnapshot>;
    sent: number;
  }

  async function triggerAfterLostResponse({ answers, given = {}, poll = state('COMPLETED') }: AfterLostResponse) {
    const { ignoresKeys, ...flags } = given;
    const { trigger, journal } = createTriggerHarness({ ignoresKeys });
    const triggered = await trigger({ trigger: answers, status: [poll] }, { ...wait, ...flags });
    const keys = new Set(triggered.calls.trigger.map(({ idempotencyKey }) => idempotencyKey));
    return { ...triggered, keys, unresolved: journal().unresolved({ baseUrl }) };
  }

  const free = [lost, conflict(), running()];
  const oursHasFinished = [lost, conflict(), state('FAILED')];
  const otherConflict = conflict({ executionId: other });

  test.each<AfterLostResponse & { how: string; started: string }>([
    { where: 'the active run has finished', answers: free, how: 'started', started: 'yes', sent: 3 },
    { where: 'the active run was ours', answers: oursHasFinished, how: 'started', started: 'yes', sent: 3 },
    {
      where: 'the key was given',
      answers: free,
      given: { idempotencyKey: 'k' },
      how: 'found',
      started: 'unknown',
      sent: 3,
    },
    {
      where: 'the key was given, and its run has finished',
      answers: oursHasFinished,
      given: { idempotencyKey: 'k' },
      how: 'found',
      started: 'unknown',
      sent: 3,
    },
    {
      where: 'a rate limit is met then',
      answers: [lost, conflict(), fault('throttled'), running()],
      how: 'started',
      started: 'yes',
      sent: 4,
    },
    {
      where: 'another run is named then',
      answers: [lost, conflict(), otherConflict, running()],
      how: 'started',
      started: 'yes',
      sent: 4,
    },
  ])('after a lost response sends the same key again, and has a run if $where', async (given) => {
    const { how, started, calls, keys, unresolved } = await triggerAfterLostResponse(given);
    expect({ how, started, sent: calls.trigger.length }).toEqual({
      how: given.how,
      started: given.started,
      sent: given.sent,
    });
    expect([keys.size, unresolved.length]).toEqual([1, 0]);
  });

  test.each<AfterLostResponse>([
    { where: 'keys are ignored', answers: [lost, conflict()], given: { ignoresKeys: true }, sent: 1 },
    { where: 'the 422 names no run', answers: [lost, conflict({ executionId: undefined })], sent: 2 },
    { where: 'the same run is named again', answers: [lost, conflict(), conflict()], sent: 3 },
    { where: 'it is refused then', answers: [lost, conflict(), fault('no_credits')], sent: 3 },
    { where: 'the active run can not be polled', answers: [lost, conflict()], poll: fault('unavailable'), sent: 2 },
    {
      where: '--timeout comes before its end',
      answers: [lost, conflict()],
      poll: running(),
      given: { timeoutMs: 60 * second },
      sent: 2,
    },
  ])('after a lost response ends in doubt (12) if $where', async (given) => {
    const { problem, started, calls, keys, unresolved } = await triggerAfterLostResponse(given);
    expect([problem?.exitCode, started, calls.trigger.length]).toEqual([12, 'unknown', given.sent]);
    expect([keys.size, unresolved.length]).toEqual([1, 1]);
  });

  test('after a lost response has the run that another process got with its key, perhaps by this attempt', async () => {
    const clock = createVirtualClock();
    const folder = temporaryFolder();
    const open = () => openJournal({ folder, nowMs: clock.nowMs, onFailure: (what) => expect.unreachable(what) });
    const status: Service['status'] = async () => {
      open().append({ type: 'accepted', baseUrl, target, idempotencyKey: 'k', executionId: other });
      return state('COMPLETED');
    };
    const service = scriptedService({ trigger: [lost, conflict()] });
    const connection = createConnection(
      { ...service, status },
      { context: { ...createMemory(), clock }, journal: open() },
    );
    const { outcome } = await startRun({ ...request, ...wait, idempotencyKey: 'k' }, connection);
    const { attribution } = outcome.triggerInfo;
    expect([outcome.run?.executionId, attributions[attribution].started]).toEqual([other, 'unknown']);
    expect(service.calls.trigger).toHaveLength(2);
  });

  test('leaves its key to `recover` only after it no longer waits to send it again', async () => {
    const clock = createVirtualClock();
    const folder = temporaryFolder();
    const open = () => openJournal({ folder, nowMs: clock.nowMs, onFailure: (what) => expect.unreachable(what) });
    const senders = () =>
      open()
        .unresolved({ baseUrl })
        .map((trigger) => trigger.senders.length);
    const sendersWhileWaiting: number[][] = [];
    const status: Service['status'] = async () => {
      sendersWhileWaiting.push(senders());
      return state('COMPLETED');
    };
    const service = { ...scriptedService({ trigger: [lost, conflict(), running()] }), status };
    const connectionOf = (service: Service) =>
      createConnection(service, { context: { ...createMemory(), clock }, journal: open() });
    await startRun({ ...request, ...wait }, connectionOf(service));
    expect([sendersWhileWaiting, senders()]).toEqual([[[1]], []]);
    const unwatched = scriptedService({ trigger: [lost, conflict()] });
    await startRun({ ...request, ifActive: 'fail' }, connectionOf(unwatched));
    expect(senders()).toEqual([0]);
  });

  test.each([executionId, undefined])(
    'sends a trigger no earlier than the refusal asks (active run: %s)',
    async (activeId) => {
      const { trigger } = createTriggerHarness();
      const script = {
        trigger: [conflict({ executionId: activeId, retryAfterMs: 20 * second }), running()],
        status: [state('COMPLETED')],
      };
      const { how, triggeredAtMs } = await trigger(script, wait);
      expect(how).toBe('started');
      expect(triggeredAtMs[1]).toBeGreaterThanOrEqual(20 * second);
    },
  );

  test('counts the wait that a refusal asks for from that refusal, not from the end of the polls', async () => {
    const { trigger } = createTriggerHarness();
    const script = {
      trigger: [conflict({ retryAfterMs: 60 * second }), running()],
      status: [...Array(8).fill(running()), state('COMPLETED')],
    };
    const { triggeredAtMs } = await trigger(script, wait);
    expect(triggeredAtMs[1]).toBeGreaterThanOrEqual(60 * second);
    expect(triggeredAtMs[1]).toBeLessThan(75 * second);
  });

  test('counts the 24 hours of a key in doubt from its first attempt, also without a journal', async () => {
    const clock = createVirtualClock();
    const service = scriptedService({ trigger: [lost, conflict(), conflict({ executionId: other }), running()] });
    // Each of the two runs that are named goes on for another 13 hours.
    const status: Service['status'] = async ({ executionId }) => {
      clock.stop(13 * 3600 * second);
      return state('COMPLETED', { executionId });
    };
    const connection = createConnection({ ...service, status }, { context: { ...createMemory(), clock } });
    const { outcome } = await startRun({ ...request, ...wait }, connection);
    expect([problemNameOf(outcome), service.calls.trigger.length]).toEqual(['idempotency_key_expired', 3]);
  });

  test('counts the 24 hours of a key in doubt from the first attempt of an earlier command', async () => {
    const { trigger, clock } = createTriggerHarness();
    const given = { idempotencyKey: 'nightly-1' };
    await trigger({ trigger: [lost] }, given);
    clock.suspend(23 * 3600 * second);
    // The active run goes on for over an hour.
    const script = {
      trigger: [lost, conflict(), running()],
      status: [...Array(300).fill(running()), state('COMPLETED')],
    };
    const { problem, calls } = await trigger(script, { ...given, ...wait });
    expect([problem?.name, calls.trigger.length]).toEqual(['idempotency_key_expired', 2]);
  });

  test('warns once of an earlier trigger that is unresolved, however often it triggers', async () => {
    const { trigger, clock } = createTriggerHarness();
    await trigger({ trigger: [lost] });
    clock.suspend(3000 * second);
    const unnamed = conflict({ executionId: undefined });
    const { events, calls } = await trigger({ trigger: [unnamed] }, { ...wait, timeoutMs: 3600 * second });
    expect(calls.trigger.length).toBeGreaterThan(10);
    const warnings = events.filter((event) => event.event === 'warning' && event.name === 'unresolved_trigger');
    expect(warnings).toHaveLength(1);
  });

  test('cuts the retries of a later trigger at --timeout', async () => {
    const { trigger, clock } = createTriggerHarness();
    const script = { trigger: [conflict(), fault('lost')], status: [state('COMPLETED')] };
    const { problem } = await trigger(script, { ...wait, timeoutMs: 30 * second });
    expect(problem?.exitCode).toBe(12);
    expect(clock.elapsedMs()).toBeLessThanOrEqual(30 * second);
  });

  test.each([
    ['has finished', state('COMPLETED')],
    ["can't be polled", fault('unauthorized')],
  ])('polls by a schedule of its own if a run that %s is still active', async (_, answer) => {
    const { trigger, clock } = createTriggerHarness();
    const script = { trigger: [...Array(5).fill(conflict()), running()], status: [answer] };
    const { how, calls } = await trigger(script, wait);
    expect(how).toBe('started');
    expect(calls.status).toBe(1);
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(20 * second);
  });

  test('reports each wait for a run without a known id, and triggers no more once --timeout has expired', async () => {
    const { trigger } = createTriggerHarness();
    const script = { trigger: [conflict({ executionId: undefined })] };
    const { events, calls, problem, triggeredAtMs } = await trigger(script, { ...wait, timeoutMs: 120 * second });
    expect(triggeredAtMs.at(-1)).toBeLessThan(120 * second);
    expect(events).toHaveLength(calls.trigger.length);
    expect(events[0]).toMatchObject({ event: 'waiting', for: 'active_run', target, nextMs: expect.any(Number) });
    expect(problem?.exitCode).toBe(5);
  });
});
