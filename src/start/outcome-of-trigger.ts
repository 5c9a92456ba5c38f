import type { Trigger } from '../run/trigger.ts';
import type { Ports } from '../watch/ports.ts';
import { outcomeWithRun } from './outcome-with-run.ts';
import { outcomeWithoutRun } from './outcome-without-run.ts';
import type { StartResult, TriggerResult } from './trigger-result.ts';

/** Makes the outcome of a trigger, and the handle of its run if that can be watched. */
export async function outcomeOfTrigger(
  result: TriggerResult,
  trigger: Trigger,
  ports: Ports,
): Promise<StartResult> {
  return result.kind === 'has_run'
    ? outcomeWithRun(result, trigger, ports)
    : { outcome: outcomeWithoutRun(result, trigger, ports) };
}
