import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { isFinal } from '../../src/runs/run.ts';
import type { HowStarted } from '../../src/triggering/how-started.ts';
import { baseUrl } from '../helpers/connection.ts';
import { target } from '../helpers/scripted-service.ts';
import type { SentTrigger, TrueRun } from './simulated-service.ts';
import type { Outcome, Simulation, SimulationOptions, Use } from './simulation.ts';

const second = 1000;

/** How often something was seen, by its name. */
export const tally: Record<string, number> = {};
export const tell = (what: string) => {
  tally[what] = (tally[what] ?? 0) + 1;
};

/** A simulation, and what the checks need to know of its past. */
export interface Past {
  simulation: Simulation;
  options: SimulationOptions;
  /** The runs that were taken as ours for their time. */
  claimed: Set<string>;
  /** The idempotency keys of their triggers, which are closed by that. */
  claimedKeys: Set<string>;
  /** All requests to start a run so far, by machine. */
  sent: { machine: number; attempt: SentTrigger; use: Use; isKilled: boolean }[];
  isClear: boolean;
}

const keysOf = (use: Use, { simulation }: Past) =>
  new Set((simulation.sentBy.get(use) ?? []).map(({ idempotencyKey }) => idempotencyKey));

/** What must hold whatever has happened. */
export function checkJournals(past: Past): void {
  const { simulation, claimed, claimedKeys, sent } = past;
  const runs = simulation.service.runs();
  for (const machine of [0, 1] as const) {
    const at = { machine } as Use;
    if (!existsSync(simulation.machineOf(at).folder)) continue;
    const journal = simulation.journalOf(at);
    const records = [...journal.runs({ baseUrl })];
    const known = new Set(records.map(({ executionId }) => executionId));
    const open = new Set(journal.unresolvedTriggers({ baseUrl }).map(({ idempotencyKey }) => idempotencyKey));
    const superseded = simulation.supersededIn(simulation.machineOf(at));
    const keys = new Set(sent.filter((each) => each.machine === machine).map(({ attempt }) => attempt.idempotencyKey));
    for (const { executionId, idempotencyKey } of records) {
      const run = runs.find((candidate) => candidate.executionId === executionId);
      if (!run || idempotencyKey === null || idempotencyKey === run.idempotencyKey) continue;
      // A process may have been killed after it had taken the run as its own, and before it could say so.
      if (!claimed.has(run.executionId)) checkClaim(run, machine, idempotencyKey, Number.POSITIVE_INFINITY, past);
    }
    checkKeysSeen(journal.keysSeen(baseUrl)?.treatment, past);
    // A service that ignores keys may start another run for a repeat, of which nobody hears.
    if (past.options.idempotencyKeys === 'ignored') continue;
    for (const { executionId, idempotencyKey = '' } of runs.filter(({ idempotencyKey = '' }) =>
      keys.has(idempotencyKey),
    )) {
      const isKnown =
        known.has(executionId) ||
        open.has(idempotencyKey) ||
        superseded.has(idempotencyKey) ||
        claimedKeys.has(idempotencyKey);
      const isSharedKey = sent.some(
        (each) => each.machine !== machine && each.attempt.idempotencyKey === idempotencyKey,
      );
      expect(isKnown || isSharedKey, 'no run is lost').toBe(true);
    }
  }
}

/** What is kept of the service is true. */
function checkKeysSeen(treatment: string | undefined, { options }: Past): void {
  if (treatment) tell(`keys seen ${treatment}`);
  if (treatment) expect(treatment).toBe(options.idempotencyKeys);
}

/**
 * What is said of a run that is not taken as ours by its time: an attempt of this process started it, an earlier one did,
 * or none.
 */
function checkHow(use: Use, { how, started }: HowStarted, runId: string, { simulation, options }: Past): void {
  if (options.hostSkewMs > 2 * second) return;
  const starts = (simulation.sentBy.get(use) ?? []).map(({ startedId }) => startedId);
  const answered = (simulation.sentBy.get(use) ?? []).findLastIndex(({ wasSent }) => wasSent);
  if (started === 'yes') expect(starts, `${how}: it was started by this command`).toContain(runId);
  if (started === 'no') expect(starts, `${how}: it was not started by this command`).not.toContain(runId);
  if (how === 'recovered' && started === 'yes')
    expect(starts.indexOf(runId), 'an earlier attempt started it').toBeLessThan(answered);
}

/** `recover` starts no second run of a trigger that is known to have met a conflict. */
export function checkWithheld({ sent, options }: Past): void {
  if (options.idempotencyKeys === 'honored') return;
  sent.forEach(({ use, machine, attempt }, index) => {
    if (use.command !== 'recover' || attempt.startedId === undefined) return;
    tell('started by recover');
    const earlier = sent.slice(0, index).filter((each) => {
      const isSame = each.machine === machine && each.attempt.idempotencyKey === attempt.idempotencyKey;
      return isSame && !each.isKilled && each.use !== use;
    });
    const inDoubt = earlier.findIndex(({ attempt: { isInDoubt, wasSent } }) => isInDoubt && wasSent);
    const conflicts = earlier.slice(inDoubt + 1).filter(({ attempt: { isConflict } }) => isConflict);
    expect(inDoubt === -1 ? [] : conflicts, 'it met no conflict').toEqual([]);
  });
}

/**
 * The promise about time: nothing that began outside the attempts of its key is ever called ours. `ownFirstMs` is when
 * the process that called it so sent its first attempt.
 */
function checkClaim(
  run: TrueRun | undefined,
  machine: 0 | 1,
  idempotencyKey: string,
  ownFirstMs: number,
  { simulation, options, sent, claimed, claimedKeys }: Past,
): void {
  expect(run, 'an id that was reported is that of a run').toBeDefined();
  if (!run) return;
  claimed.add(run.executionId);
  claimedKeys.add(idempotencyKey);
  tell(run.idempotencyKey === idempotencyKey ? 'ours by time' : "a schedule's, by time");
  if (options.hostSkewMs > 2 * second) return;
  const attempts = sent.flatMap(({ machine: sender, attempt }) =>
    sender === machine && attempt.idempotencyKey === idempotencyKey ? [attempt] : [],
  );
  const firstMs = Math.min(...attempts.map(({ atMs }) => atMs));
  // Another process has the wall clock alone: where that was set since, it is wrong.
  if (firstMs < ownFirstMs && (simulation.machines[machine]?.setAtMs ?? 0) >= firstMs) {
    tell('by a clock that was set');
    return;
  }
  const lastMs = Math.max(...attempts.map(({ atMs, isInDoubt }) => (isInDoubt ? atMs : firstMs)));
  expect(run.beganAtMs - firstMs, 'it began no earlier').toBeGreaterThanOrEqual(-2 * second - options.hostSkewMs);
  expect(run.beganAtMs - lastMs, 'it began no later').toBeLessThanOrEqual(60 * second + options.hostSkewMs);
}

const firstSentMs = (use: Use, { simulation }: Past) =>
  Math.min(...(simulation.sentBy.get(use) ?? []).map(({ atMs }) => atMs));

/** The other half of the promise: a run in between, that a conflict names and nothing hides, is recovered. */
function checkNoneMissed(use: Use, runs: TrueRun[], { simulation, options, sent }: Past): void {
  const posts = (simulation.sentBy.get(use) ?? []).filter(({ wasSent }) => wasSent);
  const { conflictId, idempotencyKey } = posts.at(-1) ?? {};
  const run = runs.find(({ executionId }) => executionId === conflictId);
  const attempts = sent.flatMap(({ machine, attempt }) =>
    machine === use.machine && attempt.idempotencyKey === idempotencyKey ? [attempt] : [],
  );
  const firstMs = Math.min(...attempts.map(({ atMs }) => atMs));
  const inDoubt = attempts.filter(({ isInDoubt, wasSent }) => isInDoubt && wasSent);
  const isCalm = options.hostSkewMs === 0 && options.latencyMs <= 200 && !use.kill && simulation.disturbances === 0;
  // All that could go wrong has gone wrong by the time of the question.
  if (!run || !isCalm || use.conditions.length > posts.length || inDoubt.length === 0) return;
  const known = simulation.journalOf(use).find(run.executionId, { baseUrl });
  if (known?.idempotencyKey && known.idempotencyKey !== idempotencyKey) return;
  const lastMs = Math.max(...inDoubt.map(({ atMs }) => atMs));
  const isBetween = run.beganAtMs >= firstMs - 500 && run.beganAtMs <= lastMs + 58 * second;
  expect(isBetween, 'a run in between is recovered').toBe(false);
}

/** What a trigger reported must agree with the service. */
export function checkStart(use: Use, uses: Use[], { start }: Outcome, past: Past): void {
  const { simulation } = past;
  const runs = simulation.service.runs();
  const keys = keysOf(use, past);
  const its = runs.filter(({ idempotencyKey = '' }) => keys.has(idempotencyKey));
  const attempts = simulation.sentBy.get(use) ?? [];
  const firstMs = firstSentMs(use, past);
  if (start?.kind === 'started') {
    const { executionId } = start.run;
    const run = runs.find((candidate) => candidate.executionId === executionId);
    tell(`${start.how} ${start.started}${start.isByTime ? ' by time' : ''}`);
    const key = attempts.at(-1)?.idempotencyKey ?? '';
    if (start.isByTime) checkClaim(run, use.machine, key, firstMs, past);
    else {
      expect([...keys], 'a run that was started is of our key').toContain(run?.idempotencyKey);
      checkHow(use, start, executionId, past);
    }
    if (start.started === 'yes' && use.key !== undefined && run && past.options.hostSkewMs <= 2 * second) {
      expect(run.beganAtMs - firstMs, 'a run that this command started is no older').toBeGreaterThanOrEqual(
        -2 * second - past.options.hostSkewMs,
      );
    }
  }
  if (start?.kind === 'replayed') {
    tell('replayed');
    if (!start.isByTime) checkHow(use, { how: 'replayed', started: 'no' }, start.run.executionId, past);
  }
  if (start?.kind !== 'failed') return;
  const { facts, message } = start.problem;
  tell(facts.name);
  // Of a given key another process may start one at the same time, or have started one before.
  const others = past.sent.filter(({ attempt }) => attempt.idempotencyKey === use.key && !attempts.includes(attempt));
  if (facts.started === 'no' && others.length === 0) expect(its, `no run was started (${message})`).toEqual([]);
  if (facts.started !== 'unknown') return;
  const { idempotencyKey = '' } = start;
  checkNoneMissed(use, runs, past);
  const known = simulation.journalOf(use).findKey({ baseUrl, target, idempotencyKey });
  const isAlone = uses.every((other) => other === use || (other.key !== use.key && other.command !== 'recover'));
  expect(known?.state ?? 'closed', 'what is unknown can be recovered, or has been meanwhile').toMatch(
    isAlone ? /open|accepted/ : /open|accepted|closed/,
  );
  // Somebody's answer was lost, or somebody was killed: else there is nothing to doubt.
  expect(past.isClear, 'there is a reason for doubt').toBe(false);
}

export function checkRecoveries(use: Use, { recoveries = [] }: Outcome, past: Past): void {
  const runs = past.simulation.service.runs();
  for (const recovery of recoveries) {
    const { idempotencyKey } = recovery.trigger;
    tell(`recover: ${recovery.kind}`);
    if (recovery.kind === 'refused') {
      const { account } = recovery.trigger;
      const accepted = past.sent.some(
        ({ attempt }) => attempt.idempotencyKey === idempotencyKey && attempt.apiKey === account,
      );
      const taken = runs.filter((run) => accepted && run.idempotencyKey === idempotencyKey);
      expect(taken, 'a trigger that was closed as refused started no run').toEqual([]);
    }
    if (recovery.kind !== 'found') continue;
    const { execution, isByTime } = recovery.start;
    const run = runs.find(({ executionId }) => executionId === execution.executionId);
    if (isByTime) checkClaim(run, use.machine, idempotencyKey, firstSentMs(use, past), past);
    else {
      expect(run?.idempotencyKey).toBe(idempotencyKey);
      // A process has the wall clock alone for what another one did.
      const { setAtMs } = past.simulation.machineOf(use);
      if (setAtMs === Number.NEGATIVE_INFINITY) checkHow(use, recovery.start, execution.executionId, past);
    }
  }
}

export function checkFollowed(use: Use, { followed }: Outcome, { simulation, options }: Past): void {
  if (!followed) return;
  const { watched } = followed;
  const run = simulation.service.runs().find(({ executionId }) => executionId === watched.run.executionId);
  const { status = 'nothing' } = watched.execution ?? {};
  if (!isFinal(target, status)) {
    expect(followed.problem, 'a watch without an end has a reason').toBeDefined();
    return;
  }
  expect(status, 'a final status is reported truly').toBe(run?.outcome);
  expect(simulation.clock.nowMs() + options.hostSkewMs).toBeGreaterThanOrEqual(run?.endsAtMs ?? Number.NaN);
  const record = simulation.journalOf(use).find(watched.run.executionId, { baseUrl });
  expect(record?.status, 'and stays in the journal').toBe(status);
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
