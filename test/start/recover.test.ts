import { describe, expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import type { Processes } from '../../src/journal/processes.ts';
import { plainHintContext } from '../../src/messages/hint-context.ts';
import { diagnosticOf } from '../../src/messages/outcome-diagnostics.ts';
import { reportOfRecovery, sentenceOfRecovery } from '../../src/messages/recovery-sentences.ts';
import { attributions } from '../../src/run/attribution.ts';
import type { Recovery } from '../../src/run/outcome.ts';
import { usageProblem } from '../../src/run/problem.ts';
import type { Target } from '../../src/run/run.ts';
import type { Answer, RunSnapshot } from '../../src/run/service.ts';
import type { IfActive } from '../../src/run/trigger.ts';
import { type RecoverFlags, recoverAll } from '../../src/start/recover.ts';
import { account, baseUrl, createConnection } from '../helpers/connection.ts';
import { hour, minute } from '../helpers/durations.ts';
import { createMemory } from '../helpers/memory-context.ts';
import {
  executionId,
  fault,
  projectId,
  resultOf,
  running,
  scriptedService,
  state,
  target,
} from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

const other = { projectId, automationName: 'weekly' } as const;

const failure = resultOf('FAILED', { error: { type: 'step_failed', message: 'Step 2 failed' } });
const conflict = fault('already_active', { httpStatus: 422, executionId });

const resolutionOf = (recovery: Recovery) => reportOfRecovery(recovery, {}).resolution;

/** A machine whose journal holds triggers without a known outcome, and `recover` on it. */
function createMachine() {
  const clock = createVirtualClock();
  const context = { ...createMemory(), clock };
  const folder = temporaryFolder();
  const journal = openJournal({ folder, nowMs: clock.nowMs, onFailure: (what) => expect.unreachable(what) });

  /** A trigger is sent, and its answer lost; a minute passes. */
  function lose(
    idempotencyKey: string,
    { of = target, by = account, ifActive }: { of?: Target; by?: string; ifActive?: IfActive } = {},
  ) {
    const key = { baseUrl, target: of, idempotencyKey };
    journal.append({
      type: 'triggered',
      ...key,
      attempt: idempotencyKey,
      account: by,
      body: '{}',
      userProvided: false,
      process: 'host 7 1',
      ifActive,
    });
    clock.suspend(minute);
  }

  async function recover(
    trigger: Answer<RunSnapshot>[],
    flags: RecoverFlags = {},
    {
      stateOf = () => 'ended',
      ignoresKeys,
      status = running(),
    }: Partial<Pick<Processes, 'stateOf'>> & { ignoresKeys?: boolean; status?: Answer<RunSnapshot> } = {},
  ) {
    const service = scriptedService({ trigger, status: [status], result: [failure] });
    const connection = createConnection(service, {
      ...{ context, journal, ignoresKeys },
      processes: { own: 'host 8 1', stateOf },
    });
    const recoveries = await recoverAll(flags, connection);
    return {
      reported: recoveries.map((each) => `${each.trigger.idempotencyKey} ${resolutionOf(each)}`),
      resolutions: recoveries.map(resolutionOf),
      sent: service.calls.trigger.map(({ idempotencyKey }) => idempotencyKey),
      recoveries,
      left: journal.unresolved({ baseUrl }).length,
      asked: { status: service.calls.status, result: service.calls.result },
    };
  }
  return { clock, journal, lose, recover, folder };
}

test("if the journal can't be read any more, the next trigger stays unresolved, and the others are reported", async () => {
  const { clock, journal, lose } = createMachine();
  lose('a');
  lose('b', { of: other });
  const service = scriptedService({ trigger: [running()], status: [running()] });
  const broken = usageProblem("the journal can't be read (EIO)", 'fix it');
  const hasLaterRun = journal.hasLaterRun.bind(journal);
  journal.hasLaterRun = (...about) => {
    if (service.calls.trigger.length > 0) throw broken;
    return hasLaterRun(...about);
  };
  const context = { ...createMemory(), clock };
  const connection = createConnection(service, { context, journal });
  const recoveries = await recoverAll({}, connection);
  expect(recoveries).toMatchObject([
    { outcome: { kind: 'has_run' }, trigger: { idempotencyKey: 'b' } },
    {
      outcome: { kind: 'problem', problem: { facts: { name: 'outcome_unknown', hint: 'fix it' } } },
      trigger: { idempotencyKey: 'a' },
    },
  ]);
  await expect(recoverAll({}, createConnection(service, { context, journal }))).rejects.toBe(broken);
});

describe('recover', () => {
  test('sends the newest trigger of each automation, and older ones are superseded once it has a run', async () => {
    const { lose, recover } = createMachine();
    lose('a');
    lose('b', { of: other });
    lose('c');
    const { reported, sent, left } = await recover([running()]);
    expect(reported).toEqual(['c found', 'b found', 'a superseded']);
    expect([sent, left]).toEqual([['c', 'b'], 0]);
    expect((await recover([])).reported).toEqual([]);
  });

  test('sends the older one, too, if the newer one has no run', async () => {
    const { lose, recover } = createMachine();
    lose('a');
    lose('b');
    const { reported, sent } = await recover([fault('rejected', { httpStatus: 400 }), running()]);
    expect(reported).toEqual(['b failed', 'a found']);
    expect(sent).toEqual(['b', 'a']);
  });

  test('sends none if a later trigger has a run already, however old they are', async () => {
    const { lose, recover, journal, clock } = createMachine();
    lose('a');
    lose('b');
    journal.append({ type: 'accepted', baseUrl, target, idempotencyKey: 'b', executionId });
    clock.suspend(23 * hour);
    expect(await recover([])).toMatchObject({ reported: ['a superseded'], left: 0 });
  });

  test.each([
    ['two minutes ahead', 2 * minute],
    ['two hours ahead', 2 * hour],
    ['two hours behind', -2 * hour],
  ])('uses the order of the records, even if the clock was %s when the earlier one was sent', async (_, offMs) => {
    const { lose, recover, journal, clock } = createMachine();
    clock.suspend(offMs);
    lose('a');
    journal.append({ type: 'accepted', baseUrl, target, idempotencyKey: 'a', executionId });
    lose('b', { of: other });
    clock.suspend(-offMs);
    lose('c');
    lose('d', { of: other });
    const second = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a22';
    journal.append({ type: 'accepted', baseUrl, target: other, idempotencyKey: 'd', executionId: second });
    expect((await recover([running()])).reported).toEqual(['c found', 'b superseded']);
  });

  test.each<[string, number, RecoverFlags, string]>([
    ['5 minutes ahead', 5 * minute, {}, 'found'],
    ['6 minutes ahead', 6 * minute, {}, 'withheld'],
    ['2 days ahead', 48 * hour, {}, 'withheld'],
    ['2 days ahead, with --resend', 48 * hour, { resend: true }, 'found'],
  ])(
    'sends a trigger that was recorded while the clock was %s only if its age is known',
    async (_, aheadMs, flags, expected) => {
      const { lose, recover, clock } = createMachine();
      lose('a');
      clock.suspend(-aheadMs - minute);
      const { resolutions, recoveries } = await recover([running()], flags);
      expect(resolutions).toEqual([expected]);
      const said = recoveries.map((each) => `${diagnosticOf(each.outcome, plainHintContext)?.hint}`);
      const isWithheld = expected === 'withheld';
      expect(said.map((hint) => /that began at|new idempotency key/.test(hint))).toEqual([false]);
      expect(said.map((hint) => hint.includes('--resend'))).toEqual([isWithheld]);
    },
  );

  test('sends the trigger again that was last sent after the other one', async () => {
    const { lose, recover, journal } = createMachine();
    lose('a');
    lose('b');
    lose('a');
    journal.append({ type: 'accepted', baseUrl, target, idempotencyKey: 'b', executionId });
    expect((await recover([running()])).reported).toEqual(['a found']);
  });

  test.each<[string, number, RecoverFlags, string[]]>([
    ['an hour', hour, {}, ['found']],
    ['over an hour', hour + 1, {}, ['withheld']],
    ['almost a day, with --resend', 24 * hour - 1, { resend: true }, ['found']],
    ['a day, with --resend', 24 * hour, { resend: true }, []],
    ['just now, with --dry-run', 0, { dryRun: true }, ['unresolved']],
  ])('sends a trigger only while it is young enough: %s', async (_, ageMs, flags, expected) => {
    const { lose, recover, clock } = createMachine();
    lose('a');
    clock.suspend(ageMs - minute);
    expect((await recover([running()], flags)).resolutions).toEqual(expected);
  });

  test('sends nothing under another API key', async () => {
    const { lose, recover } = createMachine();
    lose('a', { by: 'another' });
    expect(await recover([])).toMatchObject({ reported: ['a other_api_key'], left: 1 });
  });

  test('needs no API key to resolve a trigger that a later one with a run supersedes', async () => {
    const { lose, recover, journal } = createMachine();
    lose('a', { by: 'another' });
    lose('b');
    journal.append({ type: 'accepted', baseUrl, target, idempotencyKey: 'b', executionId });
    expect(await recover([])).toMatchObject({ reported: ['a superseded'], left: 0 });
  });

  test.each<[string, { conflict?: boolean; ignoresKeys?: boolean }, RecoverFlags, string]>([
    ['keys are honored', {}, {}, 'found'],
    ['keys are honored, after a conflict', { conflict: true }, {}, 'found'],
    ['keys are honored, after a conflict, with --dry-run', { conflict: true }, { dryRun: true }, 'unresolved'],
    ['keys are ignored', { ignoresKeys: true }, {}, 'withheld'],
    ['keys are ignored, after a conflict', { ignoresKeys: true, conflict: true }, {}, 'withheld'],
    [
      'keys are ignored, after a conflict, with --dry-run',
      { ignoresKeys: true, conflict: true },
      { dryRun: true },
      'withheld',
    ],
    ['keys are ignored, with --resend', { ignoresKeys: true }, { resend: true }, 'found'],
  ])(
    'sends a trigger again only if keys are honored, or with --resend: %s',
    async (_, { conflict, ignoresKeys }, flags, expected) => {
      const { lose, recover, journal } = createMachine();
      lose('a');
      const key = { baseUrl, target, idempotencyKey: 'a' };
      if (conflict) journal.append({ type: 'in_doubt', ...key, reason: 'running', name: 'already_active' });
      const { resolutions, sent } = await recover([running()], flags, { ignoresKeys });
      expect([resolutions, sent.length]).toEqual([[expected], expected === 'found' ? 1 : 0]);
    },
  );

  test('sends a trigger once if keys are ignored, even if its response is lost again', async () => {
    const { lose, recover } = createMachine();
    lose('a');
    const { sent, left } = await recover([fault('lost'), running()], { resend: true }, { ignoresKeys: true });
    expect([sent, left]).toEqual([['a'], 1]);
  });

  test.each<[string, { ifActive?: IfActive; again?: IfActive }, RecoverFlags, string]>([
    ['it was sent with skip', { ifActive: 'skip' }, {}, 'withheld'],
    ['it was sent with skip, and --resend is given', { ifActive: 'skip' }, { resend: true }, 'found'],
    ['it was sent with skip, and --dry-run is given', { ifActive: 'skip' }, { dryRun: true }, 'withheld'],
    ['it was sent with wait', { ifActive: 'wait' }, {}, 'found'],
    ['a record of an earlier version says nothing', {}, {}, 'found'],
    ['it was sent with skip and then without', { ifActive: 'skip', again: 'fail' }, {}, 'found'],
  ])(
    'sends a trigger again after a conflict only if a late run is wanted: %s',
    async (_, { ifActive, again }, flags, expected) => {
      const { lose, recover, journal } = createMachine();
      lose('a', { ifActive });
      if (again) lose('a', { ifActive: again });
      const key = { baseUrl, target, idempotencyKey: 'a' };
      journal.append({ type: 'in_doubt', ...key, reason: 'running', name: 'already_active' });
      expect((await recover([running()], flags)).resolutions).toEqual([expected]);
    },
  );

  test('sends a trigger with skip once more, and after the conflict that it then meets only with --resend', async () => {
    const { lose, recover } = createMachine();
    lose('a', { ifActive: 'skip' });
    expect((await recover([conflict])).reported).toEqual(['a failed']);
    const { reported, recoveries } = await recover([]);
    expect(reported).toEqual(['a withheld']);
    expect(recoveries.map(({ outcome }) => diagnosticOf(outcome, plainHintContext))).toMatchObject([
      { message: expect.stringContaining('skip'), hint: expect.stringMatching(/recover .*nightly --resend/) },
    ]);
    expect((await recover([running()], { resend: true })).reported).toEqual(['a found']);
  });

  test.each<[string, Answer<RunSnapshot>, Answer<RunSnapshot>, string | undefined, object]>([
    [
      'says that it runs, and the service that it failed',
      running(),
      state('FAILED'),
      'FAILED',
      { status: 1, result: 1 },
    ],
    ['says that it failed', state('FAILED'), running(), 'FAILED', { status: 0, result: 1 }],
    ['says that it runs, and so does the service', running(), running(), 'RUNNING', { status: 1, result: 0 }],
    [
      'says that it runs, and the service that it completed',
      running(),
      state('COMPLETED'),
      'COMPLETED',
      { status: 1, result: 0 },
    ],
    ['says that it runs, and nothing else is heard', running(), fault('lost'), 'RUNNING', { status: 1, result: 0 }],
  ])(
    'requests the status of a recovered run once, if the response %s',
    async (_, response, status, expected, asked) => {
      const { lose, recover, journal } = createMachine();
      lose('a');
      const recovered = await recover([response], {}, { status });
      expect(recovered).toMatchObject({ reported: ['a found'], asked });
      const isFailed = expected === 'FAILED';
      expect(recovered.recoveries).toMatchObject([{ outcome: { isReportOnly: true, snapshot: { status: expected } } }]);
      expect(recovered.recoveries[0]?.error).toBe(isFailed ? 'step_failed: Step 2 failed' : undefined);
      expect(journal.find(executionId, { baseUrl })).toMatchObject({ status: expected });
    },
  );

  test('requests the status of each of many recovered runs', async () => {
    const { lose, recover } = createMachine();
    const names = Array.from({ length: 35 }, (_, n) => `automation-${n}`);
    for (const automationName of names) lose(automationName, { of: { projectId, automationName } });
    expect((await recover([running()])).asked).toEqual({ status: 35, result: 0 });
  });

  test('does not say that a run may be its own if it turns out to be the run of another trigger', async () => {
    const { lose, recover } = createMachine();
    lose('a');
    lose('b');
    const { reported, recoveries } = await recover([conflict, running()]);
    expect(reported).toEqual(['b failed', 'a found']);
    const said = recoveries.map((each) => sentenceOfRecovery(each, {}, plainHintContext));
    expect(said[0]).toContain(`another run was active (${executionId})`);
    expect(said[0]).not.toContain('perhaps');
    expect(recoveries[0]?.outcome && diagnosticOf(recoveries[0].outcome, plainHintContext)?.hint).not.toContain(
      'perhaps',
    );
  });

  test('does not say that a run may be its own if another process has recorded it meanwhile', async () => {
    const { lose, recover, journal, folder, clock } = createMachine();
    lose('a');
    lose('b');
    expect(journal.find(executionId, { baseUrl })).toBeUndefined();
    const ofOther = openJournal({ folder, nowMs: clock.nowMs, onFailure: (what) => expect.unreachable(what) });
    ofOther.append({ type: 'accepted', baseUrl, target, idempotencyKey: 'a', executionId });
    const { recoveries } = await recover([conflict]);
    expect(recoveries.map((each) => sentenceOfRecovery(each, {}, plainHintContext))).toEqual([
      expect.stringContaining(`another run was active (${executionId})`),
    ]);
  });

  test.each<RecoverFlags>([{}, { resend: true }])(
    'leaves a trigger to its process while that runs, and for 3 min to a process on another host: %j',
    async (flags) => {
      const { lose, recover, clock } = createMachine();
      lose('a');
      expect((await recover([], flags, { stateOf: () => 'running' })).reported).toEqual(['a left']);
      expect((await recover([], flags, { stateOf: () => 'unknown' })).reported).toEqual(['a left']);
      clock.suspend(2 * minute);
      expect((await recover([], flags, { stateOf: () => 'running' })).reported).toEqual(['a left']);
      expect((await recover([running()], flags, { stateOf: () => 'unknown' })).reported).toEqual(['a found']);
    },
  );

  test.each<[string, Answer<RunSnapshot>[], string]>([
    ['running', [running()], 'unknown'],
    ['finished', [state('FAILED')], 'no'],
    ['finished, after a lost answer', [fault('lost'), state('FAILED')], 'unknown'],
  ])('finds a run that is %s, which it may have started itself', async (_, script, started) => {
    const { lose, recover } = createMachine();
    lose('a');
    const { recoveries } = await recover(script);
    expect(recoveries).toMatchObject([{ outcome: { kind: 'has_run' } }]);
    const [{ outcome } = {}] = recoveries;
    expect(outcome && attributions[outcome.triggerInfo.attribution]).toEqual({ how: 'recovered', started });
  });

  test('leaves a trigger unresolved after a conflict, to be sent when the active run has finished', async () => {
    const { lose, recover, clock } = createMachine();
    lose('a');
    const hint = expect.stringMatching(/when it has finished, .*: `runctl recover .*nightly --resend`/);
    const { reported, recoveries } = await recover([conflict]);
    expect(reported).toEqual(['a failed']);
    expect(recoveries).toMatchObject([{ outcome: { inDoubt: { conflict: { activeExecutionId: executionId } } } }]);
    expect(recoveries.map(({ outcome }) => diagnosticOf(outcome, plainHintContext))).toMatchObject([{ hint }]);
    clock.suspend(hour);
    expect((await recover([])).reported).toEqual(['a withheld']);
    expect((await recover([running()], { resend: true })).reported).toEqual(['a found']);
  });

  test('sends an older trigger if the newer one only replayed an earlier run', async () => {
    const { lose, recover, journal } = createMachine();
    lose('a');
    lose('b');
    journal.append({ type: 'accepted', baseUrl, target, idempotencyKey: 'b', executionId, how: 'replayed' });
    expect((await recover([running()])).reported).toEqual(['a found']);
  });
});
