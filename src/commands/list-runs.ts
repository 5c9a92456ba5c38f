import type { EntryFilter } from '../journal/entry-filter.ts';
import type { Journal } from '../journal/journal.ts';
import { type Entry, isOpen, isUnfinished, type RunEntry, statusOf } from '../run/entry.ts';
import { dayMs } from '../system/time-text.ts';

/** Which runs and triggers `runctl list` was asked for. */
export interface Selection {
  filter: EntryFilter;
  /** In upper case; all if undefined. */
  statuses?: readonly string[];
  /** Milliseconds since 1970. */
  sinceMs?: number;
  limit: number;
  /** Triggers without a run have no id to print. */
  isForIds: boolean;
}

/**
 * Reads the selected entries from the journal, newest first: as many as are shown and one more,
 * which shows that some are left out. With statuses, runs that may have one of them by now are read
 * in addition.
 */
export function readRecorded(journal: Journal, selection: Selection, nowMs: number): Entry[] {
  const { filter, statuses, sinceMs, limit, isForIds } = selection;
  // A run is recorded soon after its start, so records from more than a day before `sinceMs` aren't
  // needed.
  const readSinceMs = sinceMs && sinceMs - dayMs;
  const isExtra = (entry: Entry) => statuses !== undefined && canPollTo(entry, statuses, nowMs);
  const alsoRuns = statuses && journal.pollable(filter).filter(isExtra);
  const hasRun = isForIds || (statuses !== undefined && !statuses.includes('UNKNOWN'));
  const wanted: EntryFilter = { ...filter, sinceMs: readSinceMs, hasRun, statuses, alsoRuns };
  const isAll = limit === Number.POSITIVE_INFINITY;
  const entries = isAll ? journal.allEntries(wanted) : journal.entries(wanted);
  const recorded: Entry[] = [];
  let counted = 0;
  for (const entry of entries) {
    // This run has no recorded start, so only a poll shows whether it is selected.
    const mayBegin = canPollTo(entry, statuses, nowMs) && startOf(entry) === undefined;
    if (!mayBegin && !hasStartedSince(entry, sinceMs)) continue;
    recorded.push(entry);
    if (!isExtra(entry) && ++counted > limit) break;
  }
  return recorded;
}

/** Whether an entry is selected, judged by its current status. */
export const isSelected = (entry: Entry, { statuses, sinceMs }: Selection): boolean =>
  hasStartedSince(entry, sinceMs) &&
  (statuses === undefined || statuses.includes(statusOf(entry).toUpperCase()));

const startOf = (entry: Entry) => (entry.kind === 'unresolved' ? undefined : entry.startedAt);

const hasStartedSince = (entry: Entry, sinceMs: number | undefined) =>
  sinceMs === undefined || Date.parse(startOf(entry) ?? entry.at) >= sinceMs;

/**
 * Whether a poll can change the status of this entry to one of these. A run never becomes UNKNOWN,
 * and only a watch records that a run is NOT_FOUND.
 */
export function canPollTo(
  entry: Entry,
  statuses: readonly string[] | undefined,
  nowMs: number,
): entry is RunEntry {
  const isNotFound = entry.kind === 'not_found';
  if (!(isNotFound || isUnfinished(entry)) || !isOpen(entry, nowMs)) return false;
  if (statuses === undefined) return true;
  const unreachable = isNotFound ? ['UNKNOWN'] : ['UNKNOWN', 'NOT_FOUND'];
  return statuses.some((status) => !unreachable.includes(status));
}
