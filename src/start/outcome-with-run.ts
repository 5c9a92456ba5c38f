import { runHandleOf } from '../journal/run-handle.ts';
import type { Ports } from '../ports.ts';
import { attributions, mayBeEarlierRun } from '../run/attribution.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { type Fault, isInterruption } from '../run/fault.ts';
import type { RunHandle, TriggerInfo, TriggerOutcome } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import { monotonicStopwatch } from '../system/clock.ts';
import {
  fetchAndRecordOptionalStatus,
  fetchAndRecordStatus,
  recordNotFoundIfOwn,
} from '../watch/fetch-run.ts';
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
  const outcome = outcomeWithStatus(run, triggerInfo, snapshot);
  // The service repeats its first response to a used key. Then the status may be old, so the run is
  // polled at once.
  const mayBeRepeated = attribution === 'shared_key' && snapshot.isFinal;
  if (attributions[attribution].started === 'no' || mayBeRepeated)
    return { outcome, handle: { run } };
  const sinceTriggerMs = monotonicStopwatch(ports.clock);
  return { outcome, handle: { run, triggerResponse: response, sinceTriggerMs } };
}

/** The outcome of a trigger that has a run with this status. */
const outcomeWithStatus = (run: Run, triggerInfo: TriggerInfo, snapshot: RunSnapshot) =>
  ({
    kind: 'has_run',
    run,
    triggerInfo: withEndedAs(triggerInfo, snapshot),
    snapshot,
  }) as const;

/**
 * If the run had finished before this command, the trigger info says with which status, so that it
 * isn't mistaken for a new run.
 */
function withEndedAs(triggerInfo: TriggerInfo, { status, isFinal }: RunSnapshot): TriggerInfo {
  const isEarlierRun = mayBeEarlierRun(triggerInfo.attribution) && isFinal;
  return isEarlierRun ? { ...triggerInfo, endedAs: status } : triggerInfo;
}

/** The journal has the run, so it is named even if its status can't be read. */
async function outcomeWithRecordedRun(
  run: Run,
  triggerInfo: TriggerInfo,
  ports: Ports,
): Promise<StartResult> {
  const { journal, baseUrl, clock } = ports;
  const handle = runHandleOf(run, journal.find(run.executionId, { baseUrl }), clock);
  const answer = await fetchAndRecordStatus(handle, ports);
  return answer.kind === 'ok'
    ? { outcome: outcomeWithStatus(run, triggerInfo, answer.value), handle }
    : outcomeWithoutStatus(handle, triggerInfo, answer.fault, ports);
}

/** The status of a run that the journal has can't be read. */
async function outcomeWithoutStatus(
  handle: RunHandle,
  triggerInfo: TriggerInfo,
  fault: Fault,
  ports: Ports,
): Promise<StartResult> {
  const { run } = handle;
  const failure = { kind: 'request_failed', run, triggerInfo, resource: 'status', fault } as const;
  if (isInterruption(fault))
    return { outcome: { ...failure, interruptedBy: exitNameOfSignal(ports.signal) }, handle };

  const startedWithThisApiKey = await recordNotFoundIfOwn(run, fault, ports);
  const lastConfirmed = handle.lastConfirmed?.();
  const recorded = lastConfirmed?.snapshot;
  // Only the service says `not_found`. Any other fault says nothing about the run.
  const isNotFound = fault.kind === 'not_found';
  if (recorded?.isFinal) {
    // A final status never changes, so the journal says how the run ended, whatever the service
    // says. If the service has dropped the run, there is nothing to watch.
    const ended = outcomeWithStatus(run, triggerInfo, recorded);
    const outcome = { ...ended, requestFault: fault, lastConfirmed };
    return isNotFound ? { outcome } : { outcome, handle };
  }
  return isNotFound
    ? { outcome: { ...failure, lastConfirmed, startedWithThisApiKey }, handle }
    : {
        outcome: { kind: 'has_run', run, triggerInfo, requestFault: fault, lastConfirmed },
        handle,
      };
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
  const snapshot = await fetchAndRecordOptionalStatus(run, ports);
  return snapshot?.isFinal
    ? { ...outcome, ...outcomeWithStatus(run, triggerInfo, snapshot) }
    : outcome;
}

/**
 * The outcome of a trigger of `recover` that has a run. Its status is requested later, together
 * with the status of every other run, because a service may repeat its first response to a trigger.
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
  // A run that couldn't be recorded counts as RUNNING until its status is requested.
  const { status, isFinal } = isKnown ? recorded : { status: 'RUNNING', isFinal: false };
  return { executionId, status, isFinal, document: { executionId, status } };
}
