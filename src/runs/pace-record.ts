/** Runs older than the newest thirty are not looked at. */
const longestRecord = 30;
/**
 * A run's weight is 1 / (its place + this): a change shows in the newest run at once, which an exponential that forgets
 * as little over twenty runs would give less weight.
 */
const placeOfNewest = 2;

/** An earlier run: how long it took, and how much that says about the next one. The weights of a record sum to 1. */
export interface Sample {
  durationMs: number;
  weight: number;
}

/** The durations that tell something (newest first, in milliseconds), weighed so that old ones are forgotten. */
export function weigh(durationsMs: readonly number[]): Sample[] {
  const usable = durationsMs.filter((ms) => ms > 0 && Number.isFinite(ms)).slice(0, longestRecord);
  const total = usable.reduce((sum, _, place) => sum + weightOf(place), 0);
  return usable.map((durationMs, place) => ({ durationMs, weight: weightOf(place) / total }));
}

const weightOf = (place: number) => 1 / (place + placeOfNewest);

/** The duration that a run of this record stays within with probability `p`; undefined of an empty record. */
export function quantileMs(record: readonly Sample[], p: number): number | undefined {
  const sorted = record.toSorted((a, b) => a.durationMs - b.durationMs);
  let weightSoFar = 0;
  for (const { durationMs, weight } of sorted) {
    weightSoFar += weight;
    if (weightSoFar >= p) return durationMs;
  }
  return sorted.at(-1)?.durationMs;
}
