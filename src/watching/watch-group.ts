import { type Clock, stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';

/** What the watches of one command share. */
export interface WatchGroup {
  /** Infinity for ever. */
  readonly timeoutMs: number;
  /** Never less than what is left of `afterWakeMs` since the machine woke up. */
  leftMs(): number;
  leftForLastPollMs(): number;
  /** Then the settings are right, and a refusal may pass. */
  readonly isAnswered: boolean;
  answered(): void;
  /** By the clock that cannot be set. */
  readonly wokeAtMs: number;
  woke(): void;
}

/** 0 is for ever. */
export function timeoutMsOf({ timeoutMs = defaults.timeoutMs }: { timeoutMs?: number }): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}

/** Unfinished runs are polled once more after the timeout. */
const lastPollsMs = 5_000;
/** After a sleep or a stop, no limit ends the watch before. */
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
