import { runLimitMs, type Target } from './run.ts';
import { didTheWork, finalStatusOf } from './statuses.ts';
import { formatDuration } from './time-text.ts';

/** Times are milliseconds since 1970. Null means unknown. */
export interface RecordedRun {
  status: string | null; // also null if the service forgot the run
  isFinal: boolean;
  startedMs: number | null;
  endedMs: number | null;
  credits: number | null;
  atMs: number; // when it was first recorded
}

export interface PastRuns {
  baseUrl: string;
  target: Target;
  runs: RecordedRun[];
}

export type Statistics = NonNullable<ReturnType<typeof statisticsOf>>;

/** Sums up the runs of the period; undefined if there are none. */
export function statisticsOf(
  past: PastRuns,
  { sinceMs, untilMs, nowMs }: { sinceMs: number; untilMs: number; nowMs: number },
) {
  const { baseUrl, target } = past;
  const isOfPeriod = ({ startedMs, atMs }: RecordedRun) =>
    (startedMs ?? atMs) >= sinceMs && (startedMs ?? atMs) < untilMs;
  const runs = past.runs.filter(isOfPeriod).sort((one, other) => endMsOf(one) - endMsOf(other));
  if (runs.length === 0) return undefined;
  const words = [...new Set(runs.map(({ status }) => status))].filter((status) => status !== null);
  const final = new Set(runs.flatMap(({ status, isFinal }) => (status !== null && isFinal ? status : [])));
  const good = new Set(words.filter(didTheWork));
  const finished = runs.filter(({ status }) => final.has(status ?? ''));
  const completed = finished.filter(({ status }) => good.has(status ?? ''));
  const durationsMs = ascending(completed.map(recordedDurationMsOf));
  const credits = ascending(finished.map((run) => run.credits));
  const sum = credits.length > 0 ? credits.reduce((total, each) => total + each, 0) : null;
  const others = runs.filter(({ status }) => !final.has(status ?? ''));
  const unseen = others.filter(({ status, atMs }) => status === null || nowMs - atMs > runLimitMs).length;
  return {
    baseUrl,
    target,
    finished: finished.length,
    statuses: countsOf(finished, final),
    // This and the numbers below are null if they are unknown.
    completedShare: finished.length > 0 ? completed.length / finished.length : null,
    medianMs: quantileOf(durationsMs, 0.5),
    p95Ms: quantileOf(durationsMs, 0.95),
    credits: sum,
    running: others.length - unseen,
    unseen, // must have finished, but this machine never saw how
    lastCompletedMs: completed.at(-1)?.endedMs ?? null,
  };
}

export type Total = ReturnType<typeof totalOf>;

/** The numbers that can be added up over several automations. */
export function totalOf(all: readonly Statistics[]) {
  const sum = (of: (each: Statistics) => number) => all.reduce((total, each) => total + of(each), 0);
  const finished = sum((each) => each.finished);
  const completed = sum(({ statuses }) => statuses.COMPLETED ?? 0);
  const isPaid = all.some(({ credits }) => credits !== null);
  return {
    target: undefined,
    finished,
    running: sum((each) => each.running),
    unseen: sum((each) => each.unseen),
    statuses: { COMPLETED: completed } as Record<string, number>,
    completedShare: finished > 0 ? completed / finished : null,
    medianMs: null,
    p95Ms: null,
    credits: isPaid ? sum(({ credits }) => credits ?? 0) : null,
  };
}

/** The runs whose end isn't known: they may have finished since they were last polled. */
export const unfinishedOf = ({ running, unseen }: Pick<Statistics, 'running' | 'unseen'>): number => running + unseen;

const endMsOf = ({ endedMs, startedMs, atMs }: RecordedRun): number => endedMs ?? startedMs ?? atMs;

function recordedDurationMsOf({ startedMs, endedMs }: RecordedRun): number | null {
  const tookMs = (endedMs ?? Number.NaN) - (startedMs ?? Number.NaN);
  return tookMs >= 0 ? tookMs : null;
}

const ascending = (values: readonly (number | null)[]) =>
  Float64Array.from(values.filter((each) => each !== null)).sort();

/** The smallest value that at least this share of the values doesn't exceed. Null if there are no values. */
function quantileOf(sorted: Float64Array, share: number): number | null {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null;
}

function countsOf(runs: readonly RecordedRun[], words: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) {
    const status = finalStatusOf(word) ?? word;
    counts[status] = (counts[status] ?? 0) + runs.filter((run) => run.status === word).length;
  }
  return counts;
}

const runsThatCount = 10;
const fewestRuns = 3;

/** To the second, from a minute on to the minute. */
function roughly(ms: number): string {
  const unitMs = ms < minuteMs ? 1_000 : minuteMs;
  return formatDuration(Math.round(ms / unitMs) * unitMs);
}

const minuteMs = 60_000;

export interface Usual {
  usualMs: number;
  isLate: boolean;
  /** `about 2s left`, `due now` or `2m late`. */
  text: string;
}

/** How an unfinished run of this age compares with earlier ones; undefined if too few say how long it usually takes. */
export function usualOf(ageMs: number, earlierMs: readonly number[]): Usual | undefined {
  const newest = ascending(earlierMs.slice(0, runsThatCount));
  const usualMs = quantileOf(newest, 0.5);
  if (newest.length < fewestRuns || usualMs === null) return undefined;
  // Longer than 90% of them, and clearly longer than their median.
  const isLate = ageMs > Math.max(1.2 * usualMs, quantileOf(newest, 0.9) ?? 0);
  const left = roughly(usualMs - ageMs);
  if (isLate) return { usualMs, isLate, text: `${roughly(ageMs - usualMs)} late` };
  return { usualMs, isLate, text: left === '0s' ? 'due now' : `about ${left} left` };
}
