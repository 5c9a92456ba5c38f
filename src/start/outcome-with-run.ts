import { runHandleOf } from '../journal/run-handle.ts';
import { attributions, mayBeEarlierRun } from '../run/attribution.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { isAborted } from '../run/fault.ts';
import type { TriggerInfo, TriggerOutcome } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import type { Clock } from '../system/clock.ts';
import { fetchOptional, fetchStatus, recordNotFound } from '../watch/fetch-run.ts';
import type { Ports } from '../watch/ports.ts';
import { triggerInfoOf } from './trigger-info.ts';
import type { RunOfTrigger, StartResult } from './trigger-result.ts';

/** The outcome of a trigger that has a run. If only the journal has the run, reads its status. */
export async function outcomeWithRun(
  { executionId, attribution, response }: RunOfTrigger,
  trigger: Trigger,
  ports: Ports,
): Promise<StartResult> {
  const run = { target: trigger.target, executionId };
  const triggerInfo = triggerInfoOf(attribution, trigger, ports);
  if (!response) return outcomeWithRecordedRun(run, triggerInfo, ports);
  const { snapshot } = response;
  const outcome: TriggerOutcome = { kind: 'has_run', run, ...snapshotFacts(triggerInfo, snapshot) };
  // A response that may repeat an earlier one doesn't take the place of a first poll.
  const mayBeRepeated = attribution === 'shared_key' && snapshot.isFinal;
  if (attributions[attribution].started === 'no' || mayBeRepeated)
    return { outcome, handle: { run } };
  const sinceTriggerMs = elapsedSince(ports.clock);
  return { outcome, handle: { run, triggerResponse: response, sinceTriggerMs } };
}

/** Measures by the clock that can't be set. */
function elapsedSince(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  return () => clock.elapsedMs() - startMs;
}

/**
 * The snapshot of the run. If the run had finished before this command, the trigger info says with
 * which status, so that it isn't mistaken for a new run.
 */
function snapshotFacts(
  triggerInfo: TriggerInfo,
  snapshot: RunSnapshot,
): { triggerInfo: TriggerInfo; snapshot: RunSnapshot } {
  const isEarlierRun = mayBeEarlierRun(triggerInfo.attribution) && snapshot.isFinal;
  return {
    triggerInfo: isEarlierRun ? { ...triggerInfo, endedAs: snapshot.status } : triggerInfo,
    snapshot,
  };
}

/** The journal has the run, so it is named even if its status can't be read. */
async function outcomeWithRecordedRun(
  run: Run,
  triggerInfo: TriggerInfo,
  ports: Ports,
): Promise<StartResult> {
  const { journal, baseUrl, clock, signal } = ports;
  const handle = runHandleOf(run, journal.find(run.executionId, { baseUrl }), clock);
  const answer = await fetchStatus(handle, ports);
  if (answer.kind === 'ok') {
    const facts = snapshotFacts(triggerInfo, answer.value);
    return { outcome: { kind: 'has_run', run, ...facts }, handle };
  }
  const { fault } = answer;
  const failed = { kind: 'request_failed', run, triggerInfo, resource: 'status', fault } as const;
  if (isAborted(fault))
    return { outcome: { ...failed, interruptedBy: exitNameOfSignal(signal) }, handle };
  const startedWithThisApiKey = await recordNotFound(run, fault, ports);
  const lastConfirmed = handle.lastConfirmed?.();
  // A final status never changes, so the journal says how the run ended, whatever the service says.
  const recorded = lastConfirmed?.snapshot.isFinal
    ? snapshotFacts(triggerInfo, lastConfirmed.snapshot)
    : undefined;
  const hasRun = { kind: 'has_run', run, triggerInfo, requestFault: fault, lastConfirmed } as const;
  const outcome = { ...hasRun, ...recorded };
  // Only the service says `not_found`. Any other fault says nothing about the run.
  if (fault.kind !== 'not_found') return { outcome, handle };
  // The service has dropped it, so there is nothing to watch.
  if (recorded) return { outcome };
  return { outcome: { ...failed, lastConfirmed, startedWithThisApiKey }, handle };
}

/**
 * Reads the status of a run once if an earlier command may have started it. A service may repeat
 * its first response to the trigger, in which a run is RUNNING that failed hours ago.
 */
export async function withCurrentStatus(
  outcome: TriggerOutcome,
  ports: Ports,
): Promise<TriggerOutcome> {
  if (outcome.kind !== 'has_run' || outcome.snapshot?.isFinal) return outcome;
  const { run, triggerInfo } = outcome;
  if (attributions[triggerInfo.attribution].how !== 'found') return outcome;
  const snapshot = await fetchOptional('status', run, ports);
  if (!snapshot) return outcome;
  ports.journal.recordStatus(ports.baseUrl, run, snapshot);
  return snapshot.isFinal ? { ...outcome, ...snapshotFacts(triggerInfo, snapshot) } : outcome;
}

/**
 * The outcome of a trigger of `recover` that has a run. Its status is requested later, together
 * with that of all others, because a service may repeat its first response to a trigger.
 */
export function outcomeOfRecoveredRun(
  { executionId, attribution, response }: RunOfTrigger,
  { target, idempotencyKey }: Trigger,
  ports: Ports,
): TriggerOutcome {
  const run = { target, executionId };
  const triggerInfo = { attribution, idempotencyKey, isSafeToRepeat: true };
  const snapshot = response?.snapshot ?? recordedSnapshot(executionId, ports);
  return { kind: 'has_run', run, triggerInfo, snapshot };
}

function recordedSnapshot(executionId: string, { journal, baseUrl }: Ports): RunSnapshot {
  const recorded = journal.find(executionId, { baseUrl });
  const isKnown = recorded?.kind === 'run';
  const { status, isFinal } = isKnown ? recorded : { status: 'RUNNING', isFinal: false };
  return { executionId, status, isFinal, document: { executionId, status } };
}
