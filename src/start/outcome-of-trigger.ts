import type { Ports } from '../ports.ts';
import type { Trigger } from '../run/trigger.ts';
import { outcomeInDoubt } from './outcome-in-doubt.ts';
import { outcomeWithRun } from './outcome-with-run.ts';
import { outcomeWithoutRun } from './outcome-without-run.ts';
import type { StartResult, TriggerResult } from './trigger-result.ts';

/** Makes the outcome of a trigger, and the handle of its run if that can be watched. */
export async function outcomeOfTrigger(
  result: TriggerResult,
  trigger: Trigger,
  ports: Ports,
): Promise<StartResult> {
  switch (result.kind) {
    case 'has_run':
      return outcomeWithRun(result, trigger, ports);
    case 'no_run':
      return { outcome: outcomeWithoutRun(result, trigger, ports) };
    case 'in_doubt':
      return { outcome: outcomeInDoubt(result.reason, trigger, ports) };
  }
}
