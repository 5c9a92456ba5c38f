import type { Problem } from '../problems/problem.ts';
import { noRunProblem, slotTimeoutProblem } from '../problems/trigger-problems.ts';
import { pause } from '../runs/clock.ts';
import type { Fault } from '../runs/fault.ts';
import type { Run, Target } from '../runs/run.ts';
import type { Following } from '../session/following.ts';
import type { TriggerIdentity } from '../triggering/send-until-known.ts';
import { createPollSchedule, jitter } from '../watching/poll-schedule.ts';
import type { ActionFlags } from './flags.ts';
import { waitForOther } from './follow-run.ts';

/** The one place that an Automation has for an active run. */
interface Slot {
  /** Waits, after this refusal, until it is worth trying again; returns a problem when a limit ends the wait first. */
  wait(fault: Fault, active: Run | undefined, identity: TriggerIdentity): Promise<Problem | undefined>;
  hasFinished(executionId: string | undefined): boolean;
}

/** A trigger that is sent with less time left could not be answered in time. */
export const leastForTriggerMs = 1_000;
/** Triggers are not sent more often than this while nobody knows which run is active. */
const leastBetweenTriggersMs = 5_000;

export function createSlot(target: Target, flags: Pick<ActionFlags, 'intervalMs'>, following: Following): Slot {
  const { context, watches } = following;
  const { clock, random, signal } = context;
  const { timeoutMs } = watches;
  const startMs = clock.elapsedMs();
  const schedule = createPollSchedule({ durationsMs: [] });
  /** An active run that has finished or cannot be polled: if it is named again, the wait goes by time alone. */
  let passedId: string | undefined;
  let finishedId: string | undefined;

  return {
    hasFinished: (executionId) => executionId !== undefined && executionId === finishedId,
    async wait(fault, active, identity) {
      const { retryAfterMs = 0 } = fault;
      const refusedAtMs = clock.elapsedMs();
      const leftMs = watches.leftMs();
      if (leftMs < leastForTriggerMs || retryAfterMs > leftMs) return slotTimeoutProblem(timeoutMs, identity, fault);
      let waitMs = 0;
      if (!active || active.executionId === passedId) {
        const gapMs = flags.intervalMs ?? jitter(schedule.gapMs(refusedAtMs - startMs), random);
        waitMs = Math.min(Math.max(leastBetweenTriggersMs, gapMs), leftMs);
        context.reporter.observe({ event: 'waiting', for: 'slot', target, nextMs: waitMs });
      } else {
        const watched = await waitForOther(active, flags, following);
        if (watched.kind === 'timed_out') return slotTimeoutProblem(timeoutMs, identity, fault);
        // If the run cannot be polled, the answer to the next trigger decides.
        passedId = active.executionId;
        if (watched.kind === 'finished') finishedId = passedId;
      }
      const restMs = Math.max(waitMs, refusedAtMs + retryAfterMs - clock.elapsedMs());
      if (await pause(restMs, clock, signal, retryAfterMs)) watches.woke();
      if (signal.aborted) return noRunProblem(signal);
      return watches.leftMs() < leastForTriggerMs ? slotTimeoutProblem(timeoutMs, identity, fault) : undefined;
    },
  };
}
