import type { EntryFilter } from '../journal/entry-filter.ts';
import type { Journal } from '../journal/journal.ts';
import { type Entry, isOpen, isUnfinished, type RunEntry, statusOf } from '../run/entry.ts';
import { dayMs } from '../system/time-text.ts';

/** Which runs and triggers `runctl list` was asked for. */
export interface Selection {
  filter: EntryFilter;
  statuses?: readonly string[]; // in upper case; all if undefined
  sinceMs?: number; // milliseconds since 1970
  limit: number;
  isForIds: boolean; // triggers without a run have no id to print
}

/**
 * What the journal has of it, newest first: as much as is shown, and one more. With statuses, the runs that may have one of
 * them by now are extra.
 */
export function recordedIn(journal: Journal, selection: Selection, nowMs: number): Entry[] {
  const { filter, statuses, sinceMs, limit, isForIds } = selection;
  // A run is recorded within moments of its start.
  const part = { ...filter, sinceMs: sinceMs && sinceMs - dayMs };
  const isExtra = (entry: Entry) => statuses !== undefined && isPollable(entry, statuses, nowMs);
  const otherRuns = statuses && journal.pollable(filter).filter(isExtra);
  const hasRun = isForIds || (statuses !== undefined && !statuses.includes('UNKNOWN'));
  const recorded: Entry[] = [];
  let counted = 0;
  for (const entry of journal.entries({ ...part, hasRun, statuses, otherRuns })) {
    // Only a poll says when this run started.
    const mayBegin = isPollable(entry, statuses, nowMs) && startOf(entry) === undefined;
    if (!mayBegin && !hasStartedSince(entry, sinceMs)) continue;
    recorded.push(entry);
    if (!isExtra(entry) && ++counted > limit) break;
  }
  return recorded;
}

/** Is it part of the selection, as it is known now? */
export const isSelected = (entry: Entry, { statuses, sinceMs }: Selection): boolean =>
  hasStartedSince(entry, sinceMs) && (statuses === undefined || statuses.includes(statusOf(entry).toUpperCase()));

const startOf = (entry: Entry) => (entry.kind === 'unresolved' ? undefined : entry.startedAt);

const hasStartedSince = (entry: Entry, sinceMs = Number.NEGATIVE_INFINITY) =>
  Date.parse(startOf(entry) ?? entry.at) >= sinceMs;

/** Can a poll change its status, and to one of these? A run never becomes UNKNOWN, and only a watch finds it NOT_FOUND. */
export function isPollable(entry: Entry, statuses: readonly string[] | undefined, nowMs: number): entry is RunEntry {
  const isForgotten = entry.kind === 'not_found';
  if (!(isForgotten || isUnfinished(entry)) || !isOpen(entry, nowMs)) return false;
  return statuses?.every((status) => status === 'UNKNOWN' || (!isForgotten && status === 'NOT_FOUND')) !== true;
}
