import { type Clock, stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';

export interface WatchGroup {
  readonly timeoutMs: number; // infinity for ever
  leftMs(): number; // never less than what is left of `afterWakeMs` since the machine woke up
  leftForLastPollMs(): number;
  readonly isAnswered: boolean; // then the settings are right, and a refusal may pass
  answered(): void;
  readonly wokeAtMs: number; // by the clock that cannot be set
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
