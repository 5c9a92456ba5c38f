/** Runs older than the newest thirty are not looked at. */
const longestRecord = 30;

/** An earlier run: how long it took, and how much that says about the next one. The weights of a record sum to 1. */
export interface Sample {
  durationMs: number;
  weight: number;
}

/** The durations that tell something (newest first, in milliseconds), weighed so that old ones are forgotten. */
export function weigh(durationsMs: readonly number[]): Sample[] {
  const usable = newest(durationsMs, longestRecord);
  const total = usable.reduce((sum, _, place) => sum + weightOf(place), 0);
  return usable.map((durationMs, place) => ({ durationMs, weight: weightOf(place) / total }));
}

// Falling steeply at first, so that a change shows after one run, and slowly then: twenty runs count for nine equal ones.
const weightOf = (place: number) => 1 / (place + 1.3);

/** The newest `count` of those durations that tell something. */
export function newest(durationsMs: readonly number[], count: number): number[] {
  return durationsMs.filter((ms) => ms > 0 && Number.isFinite(ms)).slice(0, count);
}
