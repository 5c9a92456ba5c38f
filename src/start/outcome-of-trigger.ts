import { runHandleOf } from '../journal/run-handle.ts';
import { type Attribution, attributions, mayBeEarlierRun } from '../run/attribution.ts';
import { ageOf, isOpen } from '../run/entry.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { abortedFault, exitNameOfFault, type Fault, isAborted } from '../run/fault.ts';
import type {
  ActiveRun,
  Conflict,
  InDoubtReason,
  TriggerInfo,
  TriggerOutcome,
} from '../run/outcome.ts';
import type { Run, Target } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import type { Clock } from '../system/clock.ts';
import { fetchOptional, fetchStatus, isOutage, recordNotFound } from '../watch/fetch-run.ts';
import type { Ports } from '../watch/ports.ts';
import type {
  ResultWithoutRun,
  StartRequest,
  StartResult,
  TriggerResult,
} from './trigger-result.ts';

/**
 * What became of a trigger: its run, if it has one, and what shows whether this command started it.
 */
export async function outcomeOfTrigger(
  result: TriggerResult,
  trigger: Trigger,
  ports: Ports,
): Promise<StartResult> {
  if (result.kind !== 'has_run') return { outcome: outcomeWithoutRun(result, trigger, ports) };
  const { executionId, attribution, response } = result;
  const run = { target: trigger.target, executionId };
  const triggerInfo = triggerInfoOf(attribution, trigger, ports);
  if (!response) return outcomeWithRecordedRun(run, triggerInfo, ports);
  const { snapshot } = response;
  const outcome: TriggerOutcome = { kind: 'has_run', run, ...statusFacts(triggerInfo, snapshot) };
  // A response that may repeat an earlier one doesn't take the place of a first poll.
  const isEarlierRun =
    attributions[attribution].started === 'no' ||
    (attribution === 'shared_key' && snapshot.isFinal);
  if (isEarlierRun) return { outcome, handle: { run } };
  return {
    outcome,
    handle: { run, triggerResponse: response, sinceTriggerMs: elapsedSince(ports.clock) },
  };
}

/** Setting the wall clock doesn't change this time. */
function elapsedSince(clock: Clock): () => number {
  const startMs = clock.elapsedMs();
  return () => clock.elapsedMs() - startMs;
}

/**
 * The status, and with which one the run had finished before this command: it isn't mistaken for a
 * new one.
 */
function statusFacts(
  triggerInfo: TriggerInfo,
  snapshot: RunSnapshot,
): { triggerInfo: TriggerInfo; snapshot: RunSnapshot } {
  return {
    triggerInfo:
      mayBeEarlierRun(triggerInfo.attribution) && snapshot.isFinal
        ? { ...triggerInfo, endedAs: snapshot.status }
        : triggerInfo,
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
  if (answer.kind === 'ok')
    return { outcome: { kind: 'has_run', run, ...statusFacts(triggerInfo, answer.value) }, handle };
  const { fault } = answer;
  if (isAborted(fault)) {
    const interruptedBy = exitNameOfSignal(signal);
    return {
      outcome: {
        kind: 'request_failed',
        run,
        triggerInfo,
        resource: 'status',
        fault,
        interruptedBy,
      },
      handle,
    };
  }
  const isOwnRun = await recordNotFound(run, fault, ports);
  const lastConfirmed = handle.lastConfirmed?.();
  // A final status stays, so the journal says how it ended, whatever the service answers.
  const recorded = lastConfirmed?.snapshot.isFinal
    ? statusFacts(triggerInfo, lastConfirmed.snapshot)
    : undefined;
  const outcome = {
    kind: 'has_run',
    run,
    triggerInfo,
    ...recorded,
    requestFault: fault,
    lastConfirmed,
  } as const;
  // A 404 may come from a router, so it says as little as a 503.
  if (fault.kind !== 'not_found') return { outcome, handle };
  // The service has dropped it, so there is nothing to watch.
  if (recorded) return { outcome };
  return {
    outcome: {
      kind: 'request_failed',
      run,
      triggerInfo,
      resource: 'status',
      fault,
      lastConfirmed,
      isOwnRun,
    },
    handle,
  };
}

/**
 * Asks once how a run stands that an earlier command may have started. A service may repeat its
 * first response, in which a run is RUNNING that failed hours ago.
 */
export async function withCurrentStatus(
  outcome: TriggerOutcome,
  ports: Ports,
): Promise<TriggerOutcome> {
  const isFound =
    outcome.kind === 'has_run' && attributions[outcome.triggerInfo.attribution].how === 'found';
  if (!isFound || outcome.snapshot?.isFinal) return outcome;
  const { run, triggerInfo } = outcome;
  const snapshot = await fetchOptional('status', run, ports);
  if (!snapshot) return outcome;
  ports.journal.recordStatus(ports.baseUrl, run, snapshot);
  return snapshot.isFinal ? { ...outcome, ...statusFacts(triggerInfo, snapshot) } : outcome;
}

/**
 * The run that `recover` got. A service may repeat its first response, in which the run is RUNNING,
 * so `recover` requests the status of all such runs later.
 */
export function outcomeOfRecoveredRun(
  { executionId, attribution, response }: TriggerResult & { kind: 'has_run' },
  { target, idempotencyKey }: Trigger,
  ports: Ports,
): TriggerOutcome {
  const run = { target, executionId };
  const triggerInfo = { attribution, idempotencyKey, isSafeToRepeat: true };
  const snapshot = response?.snapshot ?? recordedStatus(executionId, ports);
  return { kind: 'has_run', run, triggerInfo, snapshot };
}

function recordedStatus(executionId: string, { journal, baseUrl }: Ports): RunSnapshot {
  const recorded = journal.find(executionId, { baseUrl });
  const { status, isFinal } =
    recorded?.kind === 'run' ? recorded : { status: 'RUNNING', isFinal: false };
  return { executionId, status, isFinal, document: { executionId, status } };
}

/** What became of a trigger that started no run, or of which nobody knows whether it did. */
export function outcomeWithoutRun(
  result: ResultWithoutRun,
  trigger: Trigger,
  ports: Ports,
): TriggerOutcome {
  if (result.kind === 'in_doubt') return outcomeInDoubt(result.reason, trigger, ports);
  const { target, ifActive } = trigger;
  const { fault, waitEnd } = result;
  const triggerInfo = triggerInfoOf('no_run', trigger, ports);
  if (result.isInterrupted) return interruptedOutcome(target, triggerInfo, ports);
  const active = waitEnd ? undefined : activeRunOf(fault, target, ports);
  if (active && ifActive === 'skip') {
    const skipped = triggerInfoOf('left_active', trigger, ports);
    return { kind: 'skipped', target, triggerInfo: skipped, activeExecutionId: active.executionId };
  }
  return {
    kind: 'no_run',
    target,
    triggerInfo,
    fault,
    active,
    waitEnd,
    isOutage: isOutage(fault, ports),
    isRepeatedRefusal: isRefusedAgain(fault, trigger, ports),
  };
}

/**
 * Was the same idempotency key refused like that by an earlier command? If it is in doubt, a new
 * one could start a second run.
 */
function isRefusedAgain(fault: Fault, trigger: Trigger, { journal }: Ports): boolean {
  const mayBeRepeated = fault.kind === 'no_credits' || fault.kind === 'unauthorized';
  if (!trigger.userProvided || !mayBeRepeated || journal.findKey(trigger)) return false;
  return journal.refusalsOf(trigger, exitNameOfFault(fault)) > 1;
}

/** A signal came before anything was sent. */
export function outcomeBeforeSending(
  { target, idempotencyKey }: StartRequest,
  ports: Ports,
): StartResult {
  const triggerInfo: TriggerInfo = {
    attribution: 'no_run',
    idempotencyKey: idempotencyKey ?? null,
    isSafeToRepeat: true,
  };
  return { outcome: interruptedOutcome(target, triggerInfo, ports) };
}

/** The user left, and nothing that was sent can have started a run. */
function interruptedOutcome(
  target: Target,
  triggerInfo: TriggerInfo,
  { signal }: Ports,
): TriggerOutcome {
  return {
    kind: 'no_run',
    target,
    triggerInfo,
    fault: abortedFault,
    interruptedBy: exitNameOfSignal(signal),
  };
}

export function outcomeInDoubt(
  reason: InDoubtReason,
  trigger: Trigger,
  ports: Ports,
): TriggerOutcome {
  const { journal, ignoresKeys, clock, signal } = ports;
  const recordedKey = journal.findKey(trigger);
  const recorded = recordedKey?.kind === 'unresolved' ? recordedKey : undefined;
  return {
    kind: 'in_doubt',
    target: trigger.target,
    triggerInfo: triggerInfoOf('in_doubt', trigger, ports),
    interruptedBy: reason.kind === 'signal' ? exitNameOfSignal(signal) : undefined,
    inDoubt: {
      reason,
      recorded: recorded && { at: recorded.at, ageMs: ageOf(recorded, clock.nowMs()) },
      conflict: conflictOf(reason, recorded?.conflict, trigger, ports),
      ifActive: recorded ? recorded.ifActive : trigger.ifActive,
      ignoresKeys,
    },
  };
}

/** The run that the last attempt met, else the one that the journal has. */
function conflictOf(
  reason: InDoubtReason,
  recorded: { activeExecutionId?: string } | undefined,
  { idempotencyKey }: Trigger,
  { journal, baseUrl }: Ports,
): Conflict | undefined {
  const fault =
    reason.kind === 'no_response' && reason.fault.kind === 'already_active'
      ? reason.fault
      : undefined;
  if (!recorded && !fault) return undefined;
  const activeExecutionId = fault?.executionId ?? recorded?.activeExecutionId;
  if (activeExecutionId === undefined) return { isOthers: false };
  // Another process may have recorded that run meanwhile.
  const active = journal.find(activeExecutionId, { baseUrl, fresh: true });
  const isOthers = active?.idempotencyKey !== undefined && active.idempotencyKey !== idempotencyKey;
  return { activeExecutionId, isOthers };
}

/**
 * The active run: the one that the refusal names, else the last one in the journal if that is
 * unfinished.
 */
export function activeRunOf(fault: Fault, target: Target, ports: Ports): ActiveRun | undefined {
  if (fault.kind !== 'already_active') return undefined;
  const { journal, baseUrl } = ports;
  const named = fault.executionId;
  const executionId = named ?? lastUnfinished(target, ports);
  if (executionId === undefined)
    return { mayBeLost: journal.unresolved({ baseUrl, target }).length > 0 };
  // If only the journal says that this run is active, it may have finished since it was last
  // polled, so no time is given.
  const since = named === undefined ? undefined : journal.find(named, { baseUrl })?.startedAt;
  return { executionId, since };
}

/** A target's last run, if it was unfinished when last polled. */
function lastUnfinished(target: Target, { journal, baseUrl, clock }: Ports): string | undefined {
  for (const entry of journal.entries({ baseUrl, target })) {
    if (entry.kind === 'unresolved') continue;
    const isUnfinished = entry.kind === 'run' && !entry.isFinal && isOpen(entry, clock.nowMs());
    return isUnfinished ? entry.executionId : undefined;
  }
  return undefined;
}

function triggerInfoOf(attribution: Attribution, trigger: Trigger, ports: Ports): TriggerInfo {
  const { idempotencyKey } = trigger;
  return {
    attribution,
    idempotencyKey,
    isSafeToRepeat: isSafeToRepeat(attribution, trigger, ports),
  };
}

/**
 * Can the command line be repeated without a second run of this target? A generated key is new each
 * time.
 */
function isSafeToRepeat(
  attribution: Attribution,
  trigger: Trigger,
  { journal, ignoresKeys }: Ports,
): boolean {
  const startedNone = attributions[attribution].started === 'no';
  if (!trigger.userProvided) return startedNone;
  if (!ignoresKeys) return true;
  const recorded = journal.findKey(trigger);
  return recorded ? recorded.kind === 'run' : startedNone;
}
