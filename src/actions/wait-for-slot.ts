import type { Fault } from '../run/fault.ts';
import type { Run, Target } from '../run/run.ts';
import { pause } from '../system/clock.ts';
import { jitter, pollGapMs } from '../watching/poll-gap.ts';
import { waitForOther } from './follow-run.ts';
import type { Following } from './following.ts';
import type { Plan } from './plan.ts';

/** An Automation's only slot for an active run. */
interface Slot {
  /** Waits after this refusal until it is worth trying again. Returns why not if something ends the wait first. */
  wait(fault: Fault, active: Run | undefined): Promise<SlotEnd | undefined>;
  hasFinished(executionId: string | undefined): boolean;
}

/** `gave_up`: the active run couldn't be polled for too long. */
export type SlotEnd = { kind: 'timed_out' } | { kind: 'interrupted' } | { kind: 'gave_up'; fault: Fault };

/** With less time left, a trigger couldn't get a response in time. */
export const leastForTriggerMs = 1_000;
/** The shortest time between triggers while we don't know which run is active. */
const leastBetweenTriggersMs = 5_000;

export function createSlot(target: Target, plan: Plan, following: Following): Slot {
  const { context, watches } = following;
  const { clock, random, signal } = context;
  const startMs = clock.elapsedMs();
  /** An active run that has finished or can't be polled. If it is named again, only time decides how long to wait. */
  let passedId: string | undefined;
  let finishedId: string | undefined;

  return {
    hasFinished: (executionId) => executionId !== undefined && executionId === finishedId,
    async wait(fault, active) {
      const { retryAfterMs = 0 } = fault;
      const refusedAtMs = clock.elapsedMs();
      const leftMs = watches.leftMs();
      if (leftMs < leastForTriggerMs || retryAfterMs > leftMs) return { kind: 'timed_out' };
      let waitMs = 0;
      if (!active || active.executionId === passedId) {
        const gapMs = plan.intervalMs ?? jitter(pollGapMs(refusedAtMs - startMs), random);
        waitMs = Math.min(Math.max(leastBetweenTriggersMs, gapMs), leftMs);
        context.reporter.observe({ event: 'waiting', for: 'slot', target, nextMs: waitMs });
      } else {
        const watched = await waitForOther({ run: active }, plan, following);
        if (watched.kind === 'timed_out') return { kind: 'timed_out' };
        if (watched.kind === 'gave_up') return { kind: 'gave_up', fault: watched.fault };
        // If its polls are refused, the response to the next trigger decides.
        passedId = active.executionId;
        if (watched.kind === 'finished') finishedId = passedId;
      }
      const restMs = Math.max(waitMs, refusedAtMs + retryAfterMs - clock.elapsedMs());
      if (await pause(restMs, clock, signal, retryAfterMs)) watches.woke();
      if (signal.aborted) return { kind: 'interrupted' };
      return watches.leftMs() < leastForTriggerMs ? { kind: 'timed_out' } : undefined;
    },
  };
}
