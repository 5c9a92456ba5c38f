import type { Ports } from '../ports.ts';
import { ageOf } from '../run/entry.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import type { Fault } from '../run/fault.ts';
import type { ActiveRunConflict, InDoubtReason } from '../run/in-doubt.ts';
import type { TriggerOutcome } from '../run/outcome.ts';
import type { Trigger } from '../run/trigger.ts';
import { triggerInfoOf } from './trigger-info.ts';

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
    interruptedBy: reason.kind === 'interrupted' ? exitNameOfSignal(signal) : undefined,
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
