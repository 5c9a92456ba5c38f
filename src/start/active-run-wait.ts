import type { Ports } from '../ports.ts';
import type { Fault } from '../run/fault.ts';
import type { ActiveRunWaitEnd, WatchEnd } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import { minCommandLeftMs } from '../service/retry.ts';
import { pause } from '../system/clock.ts';
import { jitter, pollGapMs } from '../watch/poll-gap.ts';
import { waitForActiveRun } from '../watch/watch-run.ts';

/** The wait for the active run of an Automation, which has at most one, for `--if-active wait`. */
export interface ActiveRunWait {
  /**
   * Waits after this refusal until the trigger can be sent again. Returns what ended the wait if
   * that came first.
   */
  wait(refusal: Fault, activeId: string | undefined): Promise<WaitFailure | undefined>;
  /** Whether it has waited, or tried to. */
  hasBegun(): boolean;
  /** Whether it has seen this run finish. */
  hasFinished(executionId: string | undefined): boolean;
}

interface WaitFailure {
  end: ActiveRunWaitEnd;
  /** Why the active run couldn't be polled, if that ended the wait. */
  fault?: Fault;
}

/** The shortest time between triggers while it isn't known which run is active. */
const minBetweenTriggersMs = 5_000;

export function createActiveRunWait(target: Target, ports: Ports): ActiveRunWait {
  const { clock, random, signal, session, watchOptions, emit } = ports;
  const startMs = clock.elapsedMs();
  const timedOut = (): WaitFailure => ({ end: session.timeout() });
  /**
   * If the service names this run again, it isn't polled again, and the next trigger is sent after
   * some time. It has finished, or it can't be polled.
   */
  let lastPolledId: string | undefined;
  let finishedId: string | undefined;
  let hasBegun = false;

  return {
    hasBegun: () => hasBegun,
    hasFinished: (executionId) => executionId !== undefined && executionId === finishedId,
    async wait({ retryAfterMs = 0 }, activeId) {
      hasBegun = true;
      const refusedAtMs = clock.elapsedMs();
      const leftMs = session.leftMs();
      if (leftMs < minCommandLeftMs || retryAfterMs > leftMs) return timedOut();
      let waitMs = 0;
      if (activeId !== undefined && activeId !== lastPolledId) {
        const failure = await pollUntilFinished(activeId);
        if (failure) return failure;
      } else {
        waitMs = announceWait(leftMs, refusedAtMs);
      }
      const restOfRetryAfterMs = refusedAtMs + retryAfterMs - clock.elapsedMs();
      return pauseBeforeTrigger(Math.max(waitMs, restOfRetryAfterMs), retryAfterMs);
    },
  };

  /** Polls the active run until it has finished or can't be polled any more. */
  async function pollUntilFinished(activeId: string): Promise<WaitFailure | undefined> {
    const polled = await waitForActiveRun({ run: { target, executionId: activeId } }, ports);
    const failure = polled.kind === 'ended' ? failureAfter(polled.end) : undefined;
    if (failure) return failure;
    lastPolledId = activeId;
    if (polled.kind === 'finished') finishedId = activeId;
    return undefined;
  }

  /**
   * How long to wait before the next trigger if the active run can't be polled. Says so to the
   * user.
   */
  function announceWait(leftMs: number, refusedAtMs: number): number {
    const gapMs = watchOptions.interval ?? jitter(pollGapMs(refusedAtMs - startMs), random);
    const nextMs = Math.min(Math.max(minBetweenTriggersMs, gapMs), leftMs);
    emit({ event: 'waiting', for: 'active_run', target, nextMs });
    return nextMs;
  }

  /** A wake from sleep ends the pause, but not before what `Retry-After` asks for. */
  async function pauseBeforeTrigger(
    ms: number,
    retryAfterMs: number,
  ): Promise<WaitFailure | undefined> {
    if (await pause(ms, clock, signal, retryAfterMs)) session.noteWake();
    if (signal.aborted) return { end: { kind: 'interrupted' } };
    return session.leftMs() < minCommandLeftMs ? timedOut() : undefined;
  }
}

/** What ends the wait if this has ended the polls of the active run. Undefined if nothing does. */
function failureAfter(end: WatchEnd): WaitFailure | undefined {
  switch (end.kind) {
    case 'timed_out':
    case 'interrupted':
      return { end };
    case 'gave_up':
      return { end, fault: end.fault };
    case 'cannot_poll':
      // The response to the next trigger decides.
      return undefined;
  }
}
