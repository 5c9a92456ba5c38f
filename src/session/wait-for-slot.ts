import type { Context } from '../context.ts';
import { noRunProblem, slotTimeoutProblem } from '../problems/trigger-problems.ts';
import type { Reporter } from '../render/reporter.ts';
import { laterSignOfLifeMs } from '../runs/defaults.ts';
import { createPace, jitter } from '../runs/pace.ts';
import { pause } from '../runs/pause.ts';
import { nameOf, type Run, type Target } from '../runs/run.ts';
import type { Fault } from '../runs/service.ts';
import type { Connection } from './connect.ts';
import { awaitOther, type FollowFlags, timeoutMsOf } from './follow-run.ts';

/** The one place that an Automation has for an active run. */
export interface Slot {
  /** Waits, after this refusal, until another try is worth it. Throws a `Problem` when `--timeout` or patience ends first. */
  wait(fault: Fault, active: Run | undefined, idempotencyKey: string): Promise<void>;
}

/** Waits for `--if-active wait`. `--timeout` counts from this call, so it includes every wait for a free slot. */
export function createSlot(
  target: Target,
  flags: Pick<FollowFlags, 'timeoutMs' | 'giveUpAfterMs' | 'intervalMs' | 'runs'>,
  connection: Connection,
  reporter: Pick<Reporter, 'say' | 'observe'>,
  context: Context,
): Slot {
  const { clock, random, signal } = context;
  const timeoutMs = timeoutMsOf(flags);
  const startMs = clock.elapsedMs();
  const pace = createPace({ durationsMs: [] });
  let toldAtMs = Number.NEGATIVE_INFINITY;
  /** An active run that has ended, or that cannot be looked up: if it is still in the way, only time helps. */
  let overId: string | undefined;

  return {
    async wait(fault, active, idempotencyKey) {
      const { retryAfterMs = 0 } = fault;
      const refusedAtMs = clock.elapsedMs();
      const leftMs = startMs + timeoutMs - refusedAtMs;
      if (leftMs <= 0) throw slotTimeoutProblem(timeoutMs, target, idempotencyKey);
      if (retryAfterMs > leftMs) throw slotTimeoutProblem(timeoutMs, target, idempotencyKey, fault);
      if (refusedAtMs - toldAtMs >= laterSignOfLifeMs) {
        reporter.say(`${nameOf(target)} is already running: waiting for it to end`);
        toldAtMs = refusedAtMs;
      }
      let waitMs = 0;
      if (!active || active.executionId === overId) {
        const gapMs = connection.tempo.stretch(jitter(pace.gapMs(refusedAtMs - startMs), random));
        waitMs = Math.min(gapMs, leftMs);
      } else {
        const { problem } = await awaitOther(active, { ...flags, timeoutMs: leftMs }, connection, reporter, context);
        if (problem?.facts.name === 'watch_timeout') throw slotTimeoutProblem(timeoutMs, target, idempotencyKey);
        if (problem?.facts.name === 'unavailable') {
          throw problem.with({ message: `${problem.message}; no run was started`, idempotencyKey });
        }
        overId = active.executionId;
      }
      await pause(Math.max(waitMs, refusedAtMs + retryAfterMs - clock.elapsedMs()), clock, signal, retryAfterMs);
      if (signal.aborted) throw noRunProblem(signal);
    },
  };
}
