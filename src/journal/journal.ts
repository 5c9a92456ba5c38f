import { durationMsOf, type Run, type Target } from '../run/run.ts';
import type { Execution } from '../run/service.ts';
import { endedWell } from '../run/statuses.ts';
import { isOpen, openMs } from './age.ts';
import { fold, isForgotten, isUnfinished, type JournalRun, reportedOf, runEntriesOf, updateRun } from './fold.ts';
import { type Log, type LogOptions, openLog } from './log.ts';
import { createQueries, type TargetFilter } from './queries.ts';
import { type JournalRecord, type NewRecord, runIdOf } from './records.ts';
import { type RunFilter, textsOf } from './run-filter.ts';

export { isOpen, openMs } from './age.ts';
export type { JournalRun, UnresolvedTrigger } from './fold.ts';

/** How many files are searched for runs before all are read. A file holds about 250 runs. */
const newestFiles = [2, 16];
/** Which of an automation's earlier runs predict how long the next one takes. */
const pastFiles = { files: 16, ageMs: 90 * 24 * 3_600_000 };
/** How many earlier runs say how long the next one takes. */
const mostPastRuns = 20;

export type Journal = ReturnType<typeof openJournal>;

/** This machine's journal. Throws only what `onTrouble` throws. What can't be read is unknown. */
export function openJournal(options: LogOptions, log: Log = openLog(options)) {
  const { nowMs } = options;
  const queries = createQueries(log, nowMs);
  /** The runs that this process asked for or recorded. */
  const remembered = new Map<string, JournalRun>();
  /** The runs that the journal has no record of, each with another base URL that has its id, if there is one. */
  const missing = new Map<string, string | undefined>();
  return {
    append,
    recordStatus,
    markNotFound,
    runs,
    unfinishedRuns,
    forgottenRuns,
    find,
    findElsewhere,
    pastDurationsMs,
    conflicts: queries.conflicts,
    unresolvedTriggers: queries.unresolvedTriggers,
    hasLaterRun: queries.hasLaterRun,
    findKey: queries.findKey,
  };

  /** Returns false if the record couldn't be written. A `triggered` record is on disk on return. */
  function append(record: NewRecord): boolean {
    const stored = log.append(record);
    if (!stored || !('executionId' in stored)) return stored !== undefined;
    const isFirst = missing.delete(runIdOf(stored)) || stored.first;
    if (isFirst || remembered.has(runIdOf(stored))) updateRun(remembered, stored);
    return true;
  }

  /** Records a status of a run, unless it says nothing new. */
  function recordStatus(baseUrl: string, { target, executionId }: Run, execution: Execution, error?: string): void {
    const { status, startedAt, completedAt, creditsCharged } = execution;
    const recordedRun = find(executionId, { baseUrl });
    const report = { status, startedAt, completedAt, creditsCharged, error };
    if (recordedRun && isEqual({ ...recordedRun, ...reportedOf(recordedRun, report) }, recordedRun)) return;
    const earlier = recordedRun ?? find(executionId, { baseUrl, fresh: true });
    append({ type: 'status', baseUrl, target, executionId, ...report, first: earlier ? undefined : true });
  }

  /** Records that the service doesn't know the run, if it is unfinished and `account` started it. Returns whether it is so. */
  function markNotFound(baseUrl: string, { target, executionId }: Run, account: string): boolean {
    const recordedRun = find(executionId, { baseUrl });
    if (!recordedRun || recordedRun.account !== account || recordedRun.isFinal) return false;
    return recordedRun.status === null || append({ type: 'not_found', baseUrl, target, executionId });
  }

  /**
   * Runs and unresolved triggers, newest first. If only part of the journal is read, those that began earlier are left out.
   * The newest files are read first, and the others only if the caller asks for more.
   */
  function* runs(filter: RunFilter = {}): Generator<JournalRun> {
    const listed = new Set<string>();
    const isFirstPart = (files: number) => filter.sinceMs === undefined && files < (filter.files ?? Infinity);
    for (const files of newestFiles.filter(isFirstPart)) {
      for (const { run, isWhole } of newestFirst({ ...filter, files })) {
        if (!isWhole || listed.has(listedIdOf(run))) continue;
        listed.add(listedIdOf(run));
        yield run;
      }
    }
    const isPart = !filter.hasRun && (filter.sinceMs !== undefined || filter.files !== undefined);
    for (const { run, isWhole } of newestFirst(filter)) {
      // A run with neither a key nor a first record began in a file that wasn't read.
      const isCut = isPart && !isWhole && run.idempotencyKey === null;
      const isListed = listed.size > 0 && listed.has(listedIdOf(run));
      if (!isCut && !isListed) yield run;
    }
  }

  function newestFirst(filter: RunFilter) {
    const entries = filter.hasRun ? runEntriesOf(queries.read(filter)) : fold(queries.read(filter)).entries;
    return entries.flatMap(({ run, isWhole }) => (run ? { run, isWhole } : [])).reverse();
  }

  function unfinishedRuns(filter: { baseUrl: string; target?: Target }) {
    return remember(openRuns(filter).filter(isUnfinished));
  }

  /** The runs that the service didn't know when it was last asked, and that it may know again. */
  function forgottenRuns(filter: { baseUrl: string }) {
    return remember(openRuns(filter).filter(isForgotten));
  }

  function openRuns(filter: RunFilter): JournalRun[] {
    return [...runs({ ...filter, sinceMs: nowMs() - openMs })].filter((run) => isOpen(run, nowMs()));
  }

  function remember<Run extends JournalRun & { executionId: string }>(found: Run[]): Run[] {
    for (const run of found) remembered.set(runIdOf(run), run);
    return found;
  }

  /** A run by its id. With `fresh`, includes what other processes recorded since the last call. */
  function find(executionId: string, { baseUrl, fresh }: { baseUrl: string; fresh?: boolean }): JournalRun | undefined {
    const id = runIdOf({ baseUrl, executionId });
    if (fresh || !(remembered.has(id) || missing.has(id))) search(executionId, baseUrl);
    return remembered.get(id);
  }

  /** Another base URL that has a run with this id, if this one has none. */
  function findElsewhere(executionId: string, baseUrl: string): string | undefined {
    find(executionId, { baseUrl });
    return missing.get(runIdOf({ baseUrl, executionId }));
  }

  /** Searches from the newest file back to the first record of the run. */
  function search(executionId: string, baseUrl: string): void {
    const id = runIdOf({ baseUrl, executionId });
    let records: JournalRecord[] = [];
    let elsewhere: string | undefined;
    const texts = textsOf({ idPrefix: executionId });
    for (const inFile of log.read({ texts, newestFirst: true })) {
      const ofId = inFile.filter((record) => isOfRun(record, executionId));
      const ofRun = ofId.filter((record) => record.baseUrl === baseUrl);
      elsewhere ??= ofId.find((record) => record.baseUrl !== baseUrl)?.baseUrl;
      records = [...ofRun, ...records];
      if (ofRun.some(({ first }) => first)) break;
    }
    const run = fold(records).runs.get(id);
    if (run) remembered.set(id, run);
    else if (!remembered.has(id)) missing.set(id, elsewhere);
    if (run) missing.delete(id);
  }

  /** How long the target's last completed runs took, newest first, from the newest files. */
  function pastDurationsMs(filter: TargetFilter): number[] {
    const durationsMs: number[] = [];
    const sinceMs = nowMs() - pastFiles.ageMs;
    for (const { status, startedAt, completedAt, at } of runs({
      ...filter,
      files: pastFiles.files,
      hasRun: true,
    })) {
      if (durationsMs.length >= mostPastRuns || Date.parse(at) < sinceMs) break;
      const hasCompleted = status !== null && endedWell(status);
      const durationMs = durationMsOf({ startedAt, completedAt });
      if (hasCompleted && durationMs) durationsMs.push(durationMs);
    }
    return durationsMs;
  }
}

const isEqual = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);

const listedIdOf = ({ baseUrl, target, executionId, idempotencyKey }: JournalRun) =>
  JSON.stringify([baseUrl, executionId ?? [target, idempotencyKey]]);

const isOfRun = (record: JournalRecord, executionId: string) =>
  'executionId' in record && record.executionId.toLowerCase() === executionId.toLowerCase();
