import type { TimedOut } from '../run/outcome.ts';
import { type Clock, stopwatch } from '../system/clock.ts';

/** After the timeout, unfinished runs are polled once more, within this time. */
const lastPollsMs = 5_000;
/** After the machine slept or the process was stopped, no limit ends the watch sooner than this. */
export const afterWakeMs = 30_000;

export type WatchSession = ReturnType<typeof createWatchSession>;

/**
 * Three facts that all watches of one command share: how much time `--timeout` leaves, whether the
 * service has answered, and when the machine last woke from sleep. The timeout counts from this
 * call, even while the machine sleeps.
 */
export function createWatchSession(timeoutMs: number, clock: Clock) {
  const sinceMs = stopwatch(clock);
  const session = {
    timeoutMs,
    /** There was a valid response, so the settings are right, and a refusal may pass. */
    isAnswered: false,
    /** By the clock that can't be set. */
    wokeAtMs: Number.NEGATIVE_INFINITY,
    leftMs: (): number =>
      Math.max(timeoutMs - sinceMs(), session.wokeAtMs + afterWakeMs - clock.elapsedMs()),
    leftForLastPollMs: (): number => session.leftMs() + lastPollsMs,
    timeout: (): TimedOut => ({ kind: 'timed_out', timeoutMs, passedMs: sinceMs() }),
    noteAnswer() {
      session.isAnswered = true;
    },
    noteWake() {
      session.wokeAtMs = clock.elapsedMs();
    },
  };
  return session;
}
