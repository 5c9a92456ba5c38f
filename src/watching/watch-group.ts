import { type Clock, stopwatch } from '../system/clock.ts';

/** After the timeout, unfinished runs are polled once more, within this time. */
const lastPollsMs = 5_000;
/** After the machine slept or the process was stopped, no limit ends the watch sooner than this. */
export const afterWakeMs = 30_000;

export type WatchGroup = ReturnType<typeof createWatchGroup>;

/** What the watches of one command share. The timeout counts from this call, even while the machine sleeps. */
export function createWatchGroup(timeoutMs: number, clock: Clock) {
  const sinceMs = stopwatch(clock);
  const group = {
    timeoutMs,
    isAnswered: false, // a poll got a valid response, so the settings are right and a refusal may pass
    wokeAtMs: Number.NEGATIVE_INFINITY, // by the clock that can't be changed
    leftMs: (): number => Math.max(timeoutMs - sinceMs(), group.wokeAtMs + afterWakeMs - clock.elapsedMs()),
    leftForLastPollMs: (): number => group.leftMs() + lastPollsMs,
    answered() {
      group.isAnswered = true;
    },
    woke() {
      group.wokeAtMs = clock.elapsedMs();
    },
  };
  return group;
}
