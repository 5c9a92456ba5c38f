import type { WatchSession } from '../ports.ts';
import type { TimedOut } from '../run/outcome.ts';
import { type Clock, stopwatch } from '../system/clock.ts';

/** After the timeout, unfinished runs are polled once more, within this time. */
const lastPollsMs = 5_000;
/** After the machine slept or the process was stopped, no limit ends the watch sooner than this. */
export const afterWakeMs = 30_000;

/** The timeout counts from this call, even while the machine sleeps. */
export function createWatchSession(timeoutMs: number, clock: Clock): WatchSession {
  const elapsedMs = stopwatch(clock);
  const session = {
    timeoutMs,
    hasValidResponse: false,
    wokeAtMs: Number.NEGATIVE_INFINITY,
    leftMs: (): number =>
      Math.max(timeoutMs - elapsedMs(), session.wokeAtMs + afterWakeMs - clock.elapsedMs()),
    leftForLastPollMs: (): number => session.leftMs() + lastPollsMs,
    timeout: (): TimedOut => ({ kind: 'timed_out', timeoutMs, passedMs: elapsedMs() }),
    noteValidResponse() {
      session.hasValidResponse = true;
    },
    noteWake() {
      session.wokeAtMs = clock.elapsedMs();
    },
  };
  return session;
}
