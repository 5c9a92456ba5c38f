import { type Clock, stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import { type Moment, momentOf } from './moments.ts';
import { largestSkewMs } from './whose-run.ts';

/** An earlier process's attempts in doubt, by the wall clock. */
export interface EarlierAttempts {
  firstSentAtMs: number;
  lastSentAtMs: number;
  ageMs: number; // infinite if the clock was set back
}

export type AttemptTimes = ReturnType<typeof createAttemptTimes>;

/** When one trigger was sent: by this process, and perhaps by an earlier one. */
export function createAttemptTimes(clock: Clock, earlier?: EarlierAttempts) {
  const sinceMs = stopwatch(clock);
  let attempts = 0;
  let ownFirst = momentOf(clock);
  let latest = ownFirst;
  let lastInDoubt: Moment | undefined = earlier && { wallMs: earlier.lastSentAtMs };
  let mayHaveActed = false;
  return {
    /** Called before each attempt. */
    next() {
      latest = momentOf(clock);
      if (attempts === 0) ownFirst = latest;
      attempts += 1;
    },
    putInDoubt() {
      lastInDoubt = latest;
      mayHaveActed = true;
    },
    attempts: () => attempts,
    /** Attempts of this process only. */
    ownFirst: () => ownFirst,
    first: (): Moment => (earlier ? { wallMs: earlier.firstSentAtMs } : ownFirst),
    lastInDoubt: (): Moment => lastInDoubt ?? latest,
    /** May the service have acted on an attempt of this process? */
    mayHaveActed: () => mayHaveActed,
    /** Was an attempt of an earlier process sent just before ours, or may it have been? */
    isEarlierRecent: () => earlier !== undefined && ownFirst.wallMs - earlier.lastSentAtMs < largestSkewMs,
    /** Is the first attempt so old that the service may have forgotten the key? */
    isStale: () => (earlier?.ageMs ?? 0) + sinceMs() > defaults.keyRetentionMs,
  };
}
