import type { TimedOut } from '../run/outcome.ts';
import { type Clock, stopwatch } from '../system/clock.ts';

/** After the timeout, unfinished runs are polled once more, within this time. */
const lastPollsMs = 5_000;
/** After the machine slept or the process was stopped, no limit ends the watch sooner than this. */
export const afterWakeMs = 30_000;

export type Deadline = ReturnType<typeof createDeadline>;

/**
 * `--timeout`, and what else the watches of one command share: whether the service was reached, and when the machine last woke.
 * The timeout counts from this call, even while the machine sleeps.
 */
export function createDeadline(timeoutMs: number, clock: Clock) {
  const sinceMs = stopwatch(clock);
  const deadline = {
    timeoutMs,
    isAnswered: false, // a poll got a valid response, so the settings are right and a refusal may pass
    wokeAtMs: Number.NEGATIVE_INFINITY, // by the clock that can't be changed
    leftMs: (): number => Math.max(timeoutMs - sinceMs(), deadline.wokeAtMs + afterWakeMs - clock.elapsedMs()),
    leftForLastPollMs: (): number => deadline.leftMs() + lastPollsMs,
    timedOut: (): TimedOut => ({ kind: 'timed_out', timeoutMs, passedMs: sinceMs() }),
    answered() {
      deadline.isAnswered = true;
    },
    woke() {
      deadline.wokeAtMs = clock.elapsedMs();
    },
  };
  return deadline;
}
