import { type Entry, isUnfinished, type RunEntry, statusOf } from '../run/entry.ts';
import { type EntryFilter, isMatch, textsOf } from './entry-filter.ts';
import { fold, foldRuns, type ListedEntry, listedEntries } from './fold.ts';
import type { RecordStore } from './record-store.ts';
import { type JournalRecord, parseLines, runRefOf, triggerRefOf } from './records.ts';
import { recordsWithStatus } from './status-search.ts';

/** How many files are searched for runs before all are read. A file holds about 250 runs. */
const newestFiles = [2, 16];

/**
 * Newest first. If only part of the journal is read, entries that began earlier are left out. The
 * newest files are read first, and the others only if the caller asks for more.
 */
export function* entriesIn(store: RecordStore, filter: EntryFilter): Generator<Entry> {
  const yielded = new Set<string>();
  for (const entry of newestEntriesIn(store, filter)) {
    const id = entryRefOf(entry);
    if (yielded.has(id)) continue;
    yielded.add(id);
    yield entry;
  }
  for (const entry of allEntriesIn(store, filter)) {
    // Once each of them has come again, the ids of the others needn't be compared.
    if (yielded.size > 0 && yielded.delete(entryRefOf(entry))) continue;
    yield entry;
  }
}

/** The same entries, for a caller who asks for all of them: no file is read twice. */
export function* allEntriesIn(store: RecordStore, filter: EntryFilter): Generator<Entry> {
  const isPart = !filter.hasRun && (filter.sinceMs !== undefined || filter.maxFiles !== undefined);
  for (const { entry, isComplete } of listedIn(store, filter)) {
    // A run with neither a key nor a first record began in a file that wasn't read.
    const isCut = isPart && !isComplete && entry.idempotencyKey === undefined;
    if (!isCut) yield entry;
  }
}

/** The entries that older files can't change or move. Some come twice. */
function* newestEntriesIn(store: RecordStore, filter: EntryFilter): Generator<Entry> {
  const { sinceMs, maxFiles = Infinity, statuses = [] } = filter;
  // Such a search reads no trigger of the runs that it finds, so triggers would come before them.
  const isForRunsAndTriggers = statuses.includes('UNKNOWN') && statuses.length > 1;
  if (sinceMs !== undefined || isForRunsAndTriggers) return;
  for (const files of newestFiles.filter((files) => files < maxFiles)) {
    const part = { ...filter, maxFiles: files };
    for (const { entry, isComplete } of listedIn(store, part)) if (isComplete) yield entry;
  }
}

function listedIn(store: RecordStore, filter: EntryFilter): ListedEntry[] {
  const records = recordsMatching(store, filter);
  const list = listedEntries(filter.hasRun ? foldRuns(records) : fold(records));
  const { statuses, alsoRuns = [] } = filter;
  if (filter.mayStillChange) return list.filter(({ entry }) => mayStillChange(entry));
  if (!statuses) return list;
  const others = new Set(alsoRuns.map(runRefOf));
  const hasStatus = (entry: Entry) => statuses.includes(statusOf(entry).toUpperCase());
  return list.filter(({ entry }) => hasStatus(entry) || others.has(entryRefOf(entry)));
}

/** The records that the filter selects, oldest first. */
export function* recordsMatching(
  store: RecordStore,
  filter: EntryFilter,
): Generator<JournalRecord> {
  for (const record of candidatesIn(store, filter)) if (isMatch(record, filter)) yield record;
}

function candidatesIn(store: RecordStore, filter: EntryFilter): Iterable<JournalRecord> {
  const part = { ...filter, texts: textsOf(filter) };
  const read = () => store.readLines(part);
  const isSearch = filter.statuses !== undefined || filter.mayStillChange;
  return isSearch ? recordsWithStatus(filter, read) : parseLines(read());
}

/** A run whose status a poll may change. */
export const mayStillChange = (entry: Entry): entry is RunEntry =>
  isUnfinished(entry) || entry.kind === 'not_found';

const entryRefOf = (entry: Entry) =>
  entry.kind === 'unresolved' ? triggerRefOf(entry) : runRefOf(entry);
