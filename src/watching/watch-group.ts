import { type Clock, stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';

export function timeoutMsOf({ timeoutMs = defaults.timeoutMs }: { timeoutMs?: number }): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}

/** After the timeout, unfinished runs are polled once more, within this time. */
const lastPollsMs = 5_000;
/** After a sleep of the machine or a stop of the process, no limit ends the watch sooner than this. */
export const afterWakeMs = 30_000;

export type WatchGroup = ReturnType<typeof createWatchGroup>;

/** What the watches of one command share. The timeout counts from this call, also while the machine sleeps. */
export function createWatchGroup(timeoutMs: number, clock: Clock) {
  const sinceMs = stopwatch(clock);
  const group = {
    timeoutMs,
    isAnswered: false, // a poll had a valid answer: the settings are right, and a refusal may pass
    wokeAtMs: Number.NEGATIVE_INFINITY, // by the clock that cannot be set
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
