import { type Clock, stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';

/** What the watches of one command share: its timeout, and what one of them learned for all. */
export interface WatchGroup {
  /** `--timeout`, in milliseconds; Infinity for ever. */
  readonly timeoutMs: number;
  /** What is left of it; never less than what is left of 30 s since the machine woke up. */
  leftMs(): number;
  /** What is left of it and of the time for the last polls. */
  leftForLastPollMs(): number;
  /** Has any run of this command had a valid answer? Then the settings are right, and a refusal may pass. */
  readonly isAnswered: boolean;
  answered(): void;
  /** When the machine last woke up, or the process was continued, on the clock that cannot be set. */
  readonly wokeAtMs: number;
  woke(): void;
}

/** What `--timeout` means, in milliseconds: 0 is for ever. */
export function timeoutMsOf({ timeoutMs = defaults.timeoutMs }: { timeoutMs?: number }): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}

/** After the timeout unfinished runs are polled once more, as far as this time and the rate allow. */
const lastPollsMs = 5_000;
/** For how long polling continues after a sleep or a stop, before any limit ends the watch. */
export const afterWakeMs = 30_000;

/** The timeout counts from this call on, also while the machine sleeps. */
export function createWatchGroup(timeoutMs: number, clock: Clock): WatchGroup {
  const sinceMs = stopwatch(clock);
  let isAnswered = false;
  let wokeAtMs = Number.NEGATIVE_INFINITY;
  const leftMs = () => Math.max(timeoutMs - sinceMs(), wokeAtMs + afterWakeMs - clock.elapsedMs());
  return {
    timeoutMs,
    leftMs,
    leftForLastPollMs: () => leftMs() + lastPollsMs,
    get isAnswered() {
      return isAnswered;
    },
    answered() {
      isAnswered = true;
    },
    get wokeAtMs() {
      return wokeAtMs;
    },
    woke() {
      wokeAtMs = clock.elapsedMs();
    },
  };
}
