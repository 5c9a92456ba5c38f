import type { Ports } from '../ports.ts';
import { type Attribution, attributions } from '../run/attribution.ts';
import type { TriggerInfo } from '../run/outcome.ts';
import type { Trigger } from '../run/trigger.ts';

export function triggerInfoOf(
  attribution: Attribution,
  trigger: Trigger,
  ports: Ports,
): TriggerInfo {
  const { idempotencyKey } = trigger;
  return {
    attribution,
    idempotencyKey,
    isSafeToRepeat: isSafeToRepeat(attribution, trigger, ports),
  };
}

/**
 * Whether the command line can be repeated without a second run of this target. A generated key is
 * new each time.
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
