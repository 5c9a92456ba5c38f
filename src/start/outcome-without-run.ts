import type { Ports } from '../ports.ts';
import { ageOf, isOpen } from '../run/entry.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { abortedFault, exitNameOfFault, type Fault } from '../run/fault.ts';
import type { ActiveRunConflict, InDoubtReason } from '../run/in-doubt.ts';
import type { ActiveRun, TriggerInfo, TriggerOutcome } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import type { Trigger } from '../run/trigger.ts';
import { isOutage } from '../watch/outage.ts';
import { triggerInfoOf } from './trigger-info.ts';
import type { NoRunOfTrigger, StartRequest, StartResult } from './trigger-result.ts';

/** The outcome of a trigger that started no run. */
export function outcomeWithoutRun(
  { fault, waitEnd, isInterrupted }: NoRunOfTrigger,
  trigger: Trigger,
  ports: Ports,
): TriggerOutcome {
  const { target, ifActive } = trigger;
  const triggerInfo = triggerInfoOf('no_run', trigger, ports);
  if (isInterrupted) return interruptedOutcome(target, triggerInfo, ports);
  const active = waitEnd ? undefined : activeRunOf(fault, target, ports);
  if (active && ifActive === 'skip')
    return {
      kind: 'skipped',
      target,
      triggerInfo: triggerInfoOf('left_active', trigger, ports),
      activeExecutionId: active.executionId,
    };
  return {
    kind: 'no_run',
    target,
    triggerInfo,
    fault,
    active,
    waitEnd,
    isOutage: isOutage(fault, ports),
    isRepeatedRefusal: isRepeatedRefusal(fault, trigger, ports),
  };
}

/**
 * Whether an earlier command's trigger with the same idempotency key was refused like that. If the
 * trigger is unresolved, no new key is suggested, because that could start a second run.
 */
function isRepeatedRefusal(fault: Fault, trigger: Trigger, { journal }: Ports): boolean {
  const mayBeRepeated = fault.kind === 'no_credits' || fault.kind === 'unauthorized';
  if (!trigger.userProvided || !mayBeRepeated || journal.findKey(trigger)) return false;
  return journal.refusalsOf(trigger, exitNameOfFault(fault)) > 1;
}

/** The outcome if a signal came before anything was sent. */
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

/** The outcome if a signal came, and nothing that was sent can have started a run. */
function interruptedOutcome(
  target: Target,
  triggerInfo: TriggerInfo,
  { signal }: Ports,
): TriggerOutcome {
  const interruptedBy = exitNameOfSignal(signal);
  return { kind: 'no_run', target, triggerInfo, fault: abortedFault, interruptedBy };
}

/** The outcome of a trigger in doubt, with what the journal has of it. */
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

/**
 * The conflict of a trigger in doubt: with the run that the last response names, else with the one
 * that the journal has.
 */
function conflictOf(
  reason: InDoubtReason,
  recorded: { activeExecutionId?: string } | undefined,
  { idempotencyKey }: Trigger,
  { journal, baseUrl }: Ports,
): ActiveRunConflict | undefined {
  const refusal = activeRunRefusalIn(reason);
  if (!refusal && !recorded) return undefined;
  const activeExecutionId = refusal?.executionId ?? recorded?.activeExecutionId;
  if (activeExecutionId === undefined) return { isOthers: false };
  // Another process may have recorded that run meanwhile.
  const active = journal.find(activeExecutionId, { baseUrl, fresh: true });
  const keyOfActive = active?.idempotencyKey;
  return {
    activeExecutionId,
    isOthers: keyOfActive !== undefined && keyOfActive !== idempotencyKey,
  };
}

function activeRunRefusalIn(reason: InDoubtReason): Fault | undefined {
  if (reason.kind !== 'last_attempt_failed') return undefined;
  return reason.fault.kind === 'already_active' ? reason.fault : undefined;
}

/**
 * The active run because of which a trigger was refused: the one that the refusal names, else the
 * last one in the journal if that is unfinished. Undefined for any other refusal.
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

/** The id of the last run of a target, if that was unfinished when it was last polled. */
function lastUnfinished(target: Target, { journal, baseUrl, clock }: Ports): string | undefined {
  for (const entry of journal.entries({ baseUrl, target })) {
    if (entry.kind === 'unresolved') continue;
    const isUnfinished = entry.kind === 'run' && !entry.isFinal && isOpen(entry, clock.nowMs());
    return isUnfinished ? entry.executionId : undefined;
  }
  return undefined;
}
