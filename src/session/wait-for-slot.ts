import type { Problem } from '../problems/problem.ts';
import { noRunProblem, slotTimeoutProblem } from '../problems/trigger-problems.ts';
import { watchProblem } from '../problems/watch-problems.ts';
import { pause } from '../runs/clock.ts';
import type { Fault } from '../runs/fault.ts';
import { createPollSchedule, jitter } from '../runs/poll-schedule.ts';
import type { Run, Target } from '../runs/run.ts';
import type { TriggerIdentity } from '../runs/trigger.ts';
import { type FollowFlags, timeoutMsOf, waitForOther } from './follow-run.ts';
import type { Session } from './session.ts';

/** The one place that an Automation has for an active run. */
export interface Slot {
  /** Waits, after this refusal, until it is worth trying again; returns a problem when a limit ends the wait first. */
  wait(fault: Fault, active: Run | undefined, identity: TriggerIdentity): Promise<Problem | undefined>;
}

/** Waits for `--if-active wait`. `--timeout` counts from this call, so it includes every wait for a free slot. */
export function createSlot(
  target: Target,
  flags: Pick<FollowFlags, 'timeoutMs' | 'giveUpAfterMs' | 'intervalMs'>,
  session: Session,
): Slot {
  const { limiter, reporter, context } = session;
  const { clock, random, signal } = context;
  const timeoutMs = timeoutMsOf(flags);
  const startMs = clock.elapsedMs();
  const schedule = createPollSchedule({ durationsMs: [] });
  /** An active run that has finished, or that cannot be polled: if it is still in the way, only time helps. */
  let passedId: string | undefined;

  return {
    async wait(fault, active, identity) {
      const { retryAfterMs = 0 } = fault;
      const refusedAtMs = clock.elapsedMs();
      const leftMs = startMs + timeoutMs - refusedAtMs;
      if (leftMs <= 0) return slotTimeoutProblem(timeoutMs, identity);
      if (retryAfterMs > leftMs) return slotTimeoutProblem(timeoutMs, identity, fault);
      let waitMs = 0;
      if (!active || active.executionId === passedId) {
        const gapMs = limiter.stretch(jitter(schedule.gapMs(refusedAtMs - startMs), random));
        waitMs = Math.min(gapMs, leftMs);
        reporter.observe({ event: 'waiting', for: 'slot', target, nextMs: waitMs });
      } else {
        const watched = await waitForOther(active, { ...flags, timeoutMs: leftMs }, session);
        if (watched.kind === 'timed_out') return slotTimeoutProblem(timeoutMs, identity);
        if (watched.kind === 'gave_up') {
          const problem = watchProblem(watched, signal);
          const { idempotencyKey } = identity;
          return problem?.with({ message: `${problem.message}; no run was started`, idempotencyKey });
        }
        passedId = active.executionId;
      }
      await pause(Math.max(waitMs, refusedAtMs + retryAfterMs - clock.elapsedMs()), clock, signal, retryAfterMs);
      return signal.aborted ? noRunProblem(signal) : undefined;
    },
  };
}
