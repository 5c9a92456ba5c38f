import type { Ports } from '../ports.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { exitNameOfFault, type Fault, interruptedFault } from '../run/fault.ts';
import type { TriggerInfo, TriggerOutcome } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import type { Trigger } from '../run/trigger.ts';
import { isOutage } from '../watch/outage.ts';
import { activeRunOf } from './active-run.ts';
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
  return { kind: 'no_run', target, triggerInfo, fault: interruptedFault, interruptedBy };
}
