import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { plainHintContext } from '../../src/messages/hint-context.ts';
import { diagnosticOf } from '../../src/messages/outcome-diagnostics.ts';
import { reportOfRecovery } from '../../src/messages/recovery-sentences.ts';
import { attributions } from '../../src/run/attribution.ts';
import { exitNameOfOutcome, factsOf } from '../../src/run/exit-of.ts';
import type { TriggerInfo } from '../../src/run/outcome.ts';
import { isFinalStatus } from '../../src/run/statuses.ts';
import { baseUrl } from '../helpers/connection.ts';
import { target } from '../helpers/scripted-service.ts';
import type { SentTrigger } from './simulated-service.ts';
import type { Outcome, Simulation, SimulationOptions, Use } from './simulation.ts';

/** How often something was seen, by its name. */
export const tally: Record<string, number> = {};
export const tell = (what: string) => {
  tally[what] = (tally[what] ?? 0) + 1;
};

/** A simulation, and what the checks need to know of its past. */
export interface Past {
  simulation: Simulation;
  options: SimulationOptions;
  /** All requests to start a run so far, by machine. */
  sent: { moment: number; machine: number; attempt: SentTrigger; use: Use; isKilled: boolean }[];
  isClear: boolean;
}

const keysOf = (use: Use, { simulation }: Past) =>
  new Set((simulation.sentBy.get(use) ?? []).map(({ idempotencyKey }) => idempotencyKey));

/** What must hold whatever has happened. */
export function checkJournals(past: Past): void {
  const { simulation, sent } = past;
  const runs = simulation.service.runs();
  for (const machine of [0, 1] as const) {
    const at = { machine } as Use;
    if (!existsSync(simulation.machineOf(at).folder)) continue;
    const journal = simulation.journalOf(at);
    const records = [...journal.entries({ baseUrl })].flatMap((entry) => (entry.kind === 'unresolved' ? [] : entry));
    const known = new Set(records.map(({ executionId }) => executionId));
    const open = new Set(journal.unresolved({ baseUrl }).map(({ idempotencyKey }) => idempotencyKey));
    const superseded = simulation.supersededIn(simulation.machineOf(at));
    const keys = new Set(sent.filter((each) => each.machine === machine).map(({ attempt }) => attempt.idempotencyKey));
    for (const { executionId, idempotencyKey } of records) {
      const run = runs.find((candidate) => candidate.executionId === executionId);
      if (run && idempotencyKey !== undefined) expect(idempotencyKey, 'a run is of its key').toBe(run.idempotencyKey);
    }
    // A service that ignores keys may start another run for a repeat, of which nobody hears.
    if (past.options.idempotencyKeys === 'ignored' && !past.options.ignoresKeys) continue;
    for (const { executionId, idempotencyKey = '' } of runs.filter(({ idempotencyKey = '' }) =>
      keys.has(idempotencyKey),
    )) {
      const isKnown = known.has(executionId) || open.has(idempotencyKey) || superseded.has(idempotencyKey);
      const isSharedKey = sent.some(
        (each) => each.machine !== machine && each.attempt.idempotencyKey === idempotencyKey,
      );
      expect(isKnown || isSharedKey, 'no run is lost').toBe(true);
    }
  }
}

/** What is said of a run: this command started it, or it did not. */
function checkHow(
  use: Use,
  { attribution }: Pick<TriggerInfo, 'attribution'>,
  runId: string,
  { simulation }: Past,
): void {
  const { how, started } = attributions[attribution];
  tell(`${how} ${started}`);
  const began = (simulation.sentBy.get(use) ?? []).map(({ startedId }) => startedId);
  if (started === 'yes') expect(began, `${how}: it was started by this command`).toContain(runId);
  if (started === 'no') expect(began, `${how}: it was not started by this command`).not.toContain(runId);
}

/** If the setting says that keys are ignored, what may have started a run is not repeated on its machine. */
export function checkNotRepeated({ sent, options }: Past): void {
  if (!options.ignoresKeys) return;
  const inOrder = sent.toSorted((one, other) => one.attempt.atMs - other.attempt.atMs);
  inOrder.forEach((later, index) => {
    if (!later.attempt.wasSent) return;
    const mayHaveStarted = inOrder.slice(0, index).filter(({ attempt, machine }) => {
      const isSame = machine === later.machine && attempt.idempotencyKey === later.attempt.idempotencyKey;
      return isSame && attempt.wasSent && (attempt.isInDoubt || attempt.startedId !== undefined);
    });
    if (mayHaveStarted.length === 0) tell('sent if keys are ignored');
    expect(mayHaveStarted, 'it is not repeated').toEqual([]);
  });
}

/** What a trigger reported must agree with the service. */
export function checkStart(use: Use, uses: Use[], { start }: Outcome, past: Past): void {
  const { simulation } = past;
  const runs = simulation.service.runs();
  const keys = keysOf(use, past);
  const its = runs.filter(({ idempotencyKey = '' }) => keys.has(idempotencyKey));
  const attempts = simulation.sentBy.get(use) ?? [];
  const { outcome } = start ?? {};
  if (outcome?.run) {
    const { executionId } = outcome.run;
    const run = runs.find((candidate) => candidate.executionId === executionId);
    expect([...keys, use.key], 'a run is of our key').toContain(run?.idempotencyKey);
    checkHow(use, outcome.triggerInfo, executionId, past);
  }
  if (!outcome || outcome.run || !diagnosticOf(outcome, plainHintContext)) return;
  const { started } = attributions[outcome.triggerInfo.attribution];
  const name = exitNameOfOutcome(outcome);
  tell(name);
  // Of a given key another process may start one at the same time, or have started one before.
  const others = past.sent.filter(({ attempt }) => attempt.idempotencyKey === use.key && !attempts.includes(attempt));
  if (started === 'no' && others.length === 0) expect(its, `no run was started (${name})`).toEqual([]);
  if (started !== 'unknown') return;
  const idempotencyKey = outcome.triggerInfo.idempotencyKey ?? '';
  const known = simulation.journalOf(use).findKey({ baseUrl, target, idempotencyKey });
  const isAlone = uses.every((other) => other === use || (other.key !== use.key && other.command !== 'recover'));
  expect(known?.kind ?? 'closed', 'what is unknown can be recovered, or has been meanwhile').toMatch(
    isAlone ? /unresolved|run/ : /unresolved|run|closed/,
  );
  // Somebody's answer was lost, or somebody was killed: else there is nothing to doubt.
  const isTaken = outcome.kind === 'in_doubt' && /sending|withheld/.test(outcome.inDoubt.reason.kind);
  expect(past.isClear && !isTaken, 'there is a reason for doubt').toBe(false);
}

export function checkRecoveries(use: Use, { recoveries = [] }: Outcome, past: Past): void {
  const runs = past.simulation.service.runs();
  for (const recovery of recoveries) {
    const { idempotencyKey } = recovery.trigger;
    const { outcome } = recovery;
    const { resolution } = reportOfRecovery(recovery, {});
    tell(`recover: ${resolution}`);
    if (resolution === 'superseded') checkLater(use, idempotencyKey, past);
    if (outcome.kind === 'no_run') {
      const { account } = recovery.trigger;
      const accepted = past.sent.some(
        ({ attempt }) => attempt.idempotencyKey === idempotencyKey && attempt.apiKey === account,
      );
      const taken = runs.filter((run) => accepted && run.idempotencyKey === idempotencyKey);
      expect(taken, 'a trigger that was closed as refused started no run').toEqual([]);
    }
    if (outcome.kind !== 'has_run') continue;
    const { executionId } = outcome.run;
    const run = runs.find((each) => each.executionId === executionId);
    expect(run?.idempotencyKey).toBe(idempotencyKey);
    checkHow(use, outcome.triggerInfo, executionId, past);
  }
}

/** A trigger is only superseded by one that this machine truly recorded after it, however its clocks were set. */
function checkLater({ machine }: Use, superseded: string, { sent }: Past): void {
  const recorded = sent.flatMap((each) => (each.machine === machine && !each.attempt.wasSent ? each.attempt : []));
  const first = recorded.find(({ idempotencyKey }) => idempotencyKey === superseded);
  const later = recorded.filter(
    ({ idempotencyKey, atMs }) => idempotencyKey !== superseded && first && atMs >= first.atMs,
  );
  expect(later.length, 'there is a later trigger').toBeGreaterThan(0);
}

export function checkFollowed(use: Use, { followed }: Outcome, { simulation, options }: Past): void {
  if (!followed) return;
  const run = simulation.service.runs().find(({ executionId }) => executionId === followed.run.executionId);
  const { status = 'nothing' } = factsOf(followed).snapshot ?? {};
  if (!isFinalStatus(status)) {
    expect(diagnosticOf(followed, plainHintContext), 'a watch without an end has a reason').toBeDefined();
    return;
  }
  expect(status, 'a final status is reported truly').toBe(run?.outcome);
  expect(simulation.clock.nowMs() + options.hostSkewMs).toBeGreaterThanOrEqual(run?.endsAtMs ?? Number.NaN);
  const record = simulation.journalOf(use).find(followed.run.executionId, { baseUrl });
  expect(record, 'and stays in the journal').toMatchObject({ status });
}

/** No idempotency key has started two runs of a machine, and no trigger has. */
export function checkNoneTwice({ simulation, sent, options }: Past): void {
  if (options.idempotencyKeys === 'ignored') return;
  const runs = simulation.service.runs();
  for (const [use, attempts] of simulation.sentBy) {
    if (use.command !== 'trigger') continue;
    const keys = new Set(attempts.map(({ idempotencyKey }) => idempotencyKey));
    const accounts = (key: string) =>
      new Set(sent.flatMap(({ attempt }) => (attempt.idempotencyKey === key ? attempt.apiKey : [])));
    const its = runs.filter(({ idempotencyKey = '' }) => keys.has(idempotencyKey));
    // Two machines that share no journal may use one key with two API keys, each of which has keys of its own.
    const most = Math.max(1, ...[...keys].map((key) => accounts(key).size));
    const machines = new Set(sent.flatMap(({ machine, attempt }) => (keys.has(attempt.idempotencyKey) ? machine : [])));
    expect(its.length, 'one run for a trigger').toBeLessThanOrEqual(machines.size > 1 ? most : 1);
  }
}
