import type { Ports, WatchSession } from '../ports.ts';
import type { FailedAttempt } from '../run/events.ts';
import { type Fault, isTooEarly, stopsEveryRequest } from '../run/fault.ts';
import type { WatchEnd } from '../run/outcome.ts';
import { backoffMs } from '../service/retry.ts';
import type { Clock } from '../system/clock.ts';
import { afterWakeMs } from './watch-session.ts';

/** The run is polled again. */
export interface PollRetry {
  kind: 'retry';
  /** What `Retry-After` asks for. 0 if the service asked for no wait. */
  retryAfterMs: number;
  failed: FailedAttempt;
}

type RetryDecision = PollRetry | Extract<WatchEnd, { kind: 'cannot_poll' | 'gave_up' }>;

/**
 * A refusal counts once it has lasted this long: a deployment or a firewall may refuse for a
 * moment.
 */
const refusalMs = 30_000;
/**
 * A longer `Retry-After` is cut to this, because an outage often ends before the time that the
 * service announced.
 */
const maxWaitMs = 600_000;

/** How long a watch waits for a `Retry-After`, unless its timeout ends first. */
export const cappedRetryAfterMs = (retryAfterMs: number): number =>
  Math.min(retryAfterMs, maxWaitMs);

/** Decides after every failed poll whether the watch continues. */
export function createPollRetryPolicy(
  { clock, random, session, giveUpAfterMs }: Ports,
  sinceTriggerMs: (() => number) | undefined,
) {
  const failureCount = createFailureCount(clock);
  let missingPaths = 0;
  const refusalPeriod = createRefusalPeriod(clock, session);

  return {
    silenceLeftMs,
    /** The poll failed after `tookMs`. */
    decideAfter(fault: Fault, tookMs: number): RetryDecision {
      failureCount.add(tookMs);
      noteFault(fault);
      if (endsWatch(fault)) return { kind: 'cannot_poll', fault };
      const retryForMs = mayBeTransientRefusal(fault)
        ? Math.min(silenceLeftMs(), refusalPeriod.remainingMs())
        : silenceLeftMs();
      const { failures, silentMs } = failureCount.get();
      // A long `Retry-After` is cut rather than ending the watch, so the backoff doesn't see it.
      const backoff = backoffMs(failures, retryForMs, random);
      if (backoff === undefined) return { kind: 'gave_up', giveUpAfterMs, fault };
      const retryAfterMs = cappedRetryAfterMs(fault.retryAfterMs ?? 0);
      if (retryAfterMs === 0) failureCount.noteBackoff(backoff);
      const retryInMs = Math.max(retryAfterMs, backoff);
      return {
        kind: 'retry',
        retryAfterMs,
        failed: { fault, failures, silentMs, retryForMs, retryInMs },
      };
    },
    /** A refusal of the new API key must last as long as one of the old key. */
    restartRefusalPeriod: refusalPeriod.end,
    /**
     * There is a valid response. Returns the time since the first of the failed polls, with all
     * waits. Undefined if the last poll had a valid response.
     */
    endOutage(): number | undefined {
      session.noteValidResponse();
      refusalPeriod.end();
      return failureCount.end();
    },
  };

  /** How much longer polls may fail. */
  function silenceLeftMs(): number {
    const leftAfterWakeMs = session.wokeAtMs + afterWakeMs - clock.elapsedMs();
    return Math.max(giveUpAfterMs - failureCount.get().silentMs, leftAfterWakeMs);
  }

  /** Keeps what `endsWatch` needs. */
  function noteFault(fault: Fault): void {
    // Before the first valid response, a refusal ends the watch at once.
    if (session.hasValidResponse && mayBeTransientRefusal(fault)) refusalPeriod.begin();
    if (!session.hasValidResponse && isMissingPath(fault)) missingPaths += 1;
  }

  function endsWatch(fault: Fault): boolean {
    if (fault.kind === 'unsendable') return true;
    if (mayBeTransientRefusal(fault)) return !session.hasValidResponse || refusalPeriod.hasLasted();
    if (session.hasValidResponse || isTooEarly(fault, sinceTriggerMs?.())) return false;
    return missingPaths > 1 || stopsEveryRequest(fault);
  }

  /** A refusal of the API key or the run. A deployment may also refuse like that for a moment. */
  function mayBeTransientRefusal(fault: Fault): boolean {
    const isRefused = fault.kind === 'unauthorized' || fault.kind === 'not_found';
    return isRefused && !isTooEarly(fault, sinceTriggerMs?.());
  }

  function isMissingPath(fault: Fault): boolean {
    return fault.kind === 'path_not_found' && !isTooEarly(fault, sinceTriggerMs?.());
  }
}

/**
 * Counts the failed polls in a row, and for how long the service has been silent. That time doesn't
 * include the waits that the service asked for and those for a permit.
 */
function createFailureCount(clock: Clock) {
  let failures = 0;
  let beganAtMs = 0;
  let silentMs = 0;
  let backoffToCountMs = 0;
  return {
    get: () => ({ failures, silentMs }),
    /** Another poll failed after `tookMs`. */
    add(tookMs: number): void {
      if (failures === 0) beganAtMs = clock.elapsedMs() - tookMs;
      failures += 1;
      silentMs += backoffToCountMs + tookMs;
      backoffToCountMs = 0;
    },
    /** The next wait. It counts as silence if the next poll fails, too. */
    noteBackoff(ms: number): void {
      backoffToCountMs = ms;
    },
    /** Returns the time since the first failed poll. Undefined if none has failed. */
    end(): number | undefined {
      const afterMs = failures > 0 ? clock.elapsedMs() - beganAtMs : undefined;
      failures = 0;
      silentMs = 0;
      backoffToCountMs = 0;
      return afterMs;
    },
  };
}

/** How long the service has refused the polls. It begins again after a sleep or a stop. */
function createRefusalPeriod(clock: Clock, session: WatchSession) {
  let beganAtMs: number | undefined;
  const remainingMs = () => (beganAtMs ?? Number.POSITIVE_INFINITY) + refusalMs - clock.elapsedMs();
  return {
    remainingMs,
    /** The service has refused a poll. A period of refusal that has begun goes on. */
    begin(): void {
      if (beganAtMs === undefined || beganAtMs <= session.wokeAtMs) beganAtMs = clock.elapsedMs();
    },
    hasLasted: () => remainingMs() <= 0,
    end(): void {
      beganAtMs = undefined;
    },
  };
}
