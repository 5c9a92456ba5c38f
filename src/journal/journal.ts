import { isCompleted, isFinal, type Run, runLimitMs, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { PastRun, PastRuns } from '../runs/statistics.ts';
import type { KeyTreatment } from '../triggering/trigger-record.ts';
import { fold, isUnresolved, type JournalRun, reportedOf, type State } from './fold.ts';
import { type LogOptions, openLog, type RecordFilter } from './log.ts';
import { foldRecent } from './recent-runs.ts';
import {
  isOfHook,
  type JournalRecord,
  type NewRecord,
  pathOf,
  type TriggerKey,
  targetOf,
  triggerIdOf,
} from './records.ts';
import { isMatch, needleOf, type RunFilter } from './run-filter.ts';
import { createRunSearch } from './run-search.ts';
import { createUnresolvedLines, type UnresolvedTrigger, unresolvedOf } from './unresolved.ts';

export type { JournalRun } from './fold.ts';
export type { UnresolvedTrigger } from './unresolved.ts';

type KeyState =
  | { state: 'accepted'; executionId: string; account?: string; isByTime?: true }
  | { state: 'open'; trigger: UnresolvedTrigger };

interface TargetFilter {
  baseUrl: string;
  target: Target;
}

/** `runs` folds this many of the newest records, then twice as many, and in the end all. */
const fewRecords = 16;
const manyRecords = 4096;
const hookDays = 2;
/** At this age a run counts as finished also if another API key may have started it, which may still know it. */
const surelyFinishedMs = 24 * 3_600_000;

const historyMs = 90 * 24 * 3_600_000;

export type Journal = ReturnType<typeof openJournal>;

/** The journal of this machine. Only what `onTrouble` throws is thrown: what cannot be read is unknown. */
export function openJournal(options: LogOptions) {
  const log = openLog(options);
  const { find, findElsewhere, remember } = createRunSearch({
    read,
    readFiles: () => log.readFiles(0),
    readAppended: log.readAppended,
  });
  return {
    append,
    recordStatus,
    markNotFound,
    runs,
    recentRuns,
    find,
    findElsewhere,
    unresolvedTriggers,
    hasLaterRun,
    hooks,
    findKey,
    keysSeen,
    pastRuns,
  };

  /** Returns false if the record could not be written. A `triggered` record is on disk on return. */
  function append(record: NewRecord): boolean {
    const stored = log.append(record);
    if (!stored || !('executionId' in stored) || isOfHook(stored)) return stored !== undefined;
    remember(stored);
    return true;
  }

  /** Records a status of a run, unless it says nothing new. */
  function recordStatus(baseUrl: string, { target, executionId }: Run, execution: Execution): void {
    const { status, startedAt, completedAt, creditsCharged } = execution;
    const known = find(executionId, { baseUrl });
    const report = { status, startedAt, completedAt, creditsCharged };
    if (known && JSON.stringify({ ...known, ...reportedOf(known, report) }) === JSON.stringify(known)) return;
    const earlier = known ?? find(executionId, { baseUrl, fresh: true });
    append({ type: 'status', baseUrl, target, executionId, ...report, first: earlier ? undefined : true });
  }

  /** Records that `account` does not know the run, unless the run may still be running. */
  function markNotFound(baseUrl: string, { target, executionId }: Run, account: string): void {
    const known = find(executionId, { baseUrl });
    const finishedMs = known?.account === account ? runLimitMs : surelyFinishedMs;
    const isFinished = known && options.nowMs() - Date.parse(known.at) > finishedMs;
    if (isFinished && known.status !== null && !isFinal(target, known.status))
      append({ type: 'not_found', baseUrl, target, executionId });
  }

  /** Runs and unresolved triggers, newest first; reads no further back than the caller asks. */
  function* runs(filter: RunFilter = {}): Generator<JournalRun> {
    const yielded = new Set<string>();
    const newest: JournalRecord[] = [];
    let next = fewRecords;
    // A few of the newest records are read faster than a checkpoint.
    const first = filter.only === 'newest' ? { ...filter, only: undefined } : filter;
    for (const record of filter.only === 'kept' ? [] : read(first)) {
      newest.push(record);
      if (newest.length < next) continue;
      yield* newIn(fold(newest.toReversed()), true);
      if (next >= manyRecords) break;
      next *= 2;
    }
    const isAll = filter.only !== 'kept' && newest.length < manyRecords;
    yield* newIn(fold(isAll ? newest.reverse() : read(filter, { oldestFirst: true })), false);

    function* newIn({ entries }: State, onlyWhole: boolean): Generator<JournalRun> {
      for (const { run, isWhole } of entries.reverse()) {
        // What has neither a key nor a first record began in a file that was not read.
        const isCut = filter.since !== undefined && !isWhole && run?.idempotencyKey === null;
        if (!run || isCut || (onlyWhole && !isWhole)) continue;
        const id = JSON.stringify([run.baseUrl, run.executionId ?? [run.target, run.idempotencyKey]]);
        if (yielded.has(id)) continue;
        yielded.add(id);
        yield run;
      }
    }
  }

  /** Runs of which something was recorded since `sinceMs`, in milliseconds since 1970; faster than `runs`. */
  function recentRuns({ baseUrl }: { baseUrl?: string }, sinceMs: number): PastRuns[] {
    return foldRecent(log.readFiles(sinceMs), baseUrl);
  }

  function unresolvedTriggers(filter: { baseUrl: string; target?: Target }): UnresolvedTrigger[] {
    const needle = needleOf(filter) ?? '"idempotencyKey"';
    const records = [...read({ ...filter, only: 'kept' }, { needle, isWanted: createUnresolvedLines() })].reverse();
    const unresolved = [...fold(records).triggers.values()].filter(isUnresolved).reverse();
    return unresolved.map((trigger) => unresolvedOf(trigger, options.nowMs()));
  }

  /** Has a trigger that was first sent after this time, ISO 8601, a known run? */
  function hasLaterRun(filter: TargetFilter, at: string): boolean {
    const records = [...read(filter, { since: at })].reverse();
    return [...fold(records).triggers.values()].some((other) => other.executionId !== undefined && other.at > at);
  }

  function hooks({ baseUrl, executionId }: { baseUrl: string; executionId?: string }) {
    const since = new Date(Math.max(0, options.nowMs() - hookDays * 86_400_000)).toISOString();
    const needle = executionId === undefined ? '"type":"hook_' : JSON.stringify(executionId);
    const ended = new Set<string>();
    const begun = new Map<string, { run: Run; hasEnded: boolean }>();
    for (const record of read({ baseUrl }, { needle, since })) {
      if (record.type === 'hook_ended') ended.add(record.executionId);
      if (record.type !== 'hook_begun' || (executionId !== undefined && record.executionId !== executionId)) continue;
      const run = { target: targetOf(record.target), executionId: record.executionId };
      begun.set(run.executionId, { run, hasEnded: ended.has(run.executionId) });
    }
    return [...begun.values()].reverse();
  }

  function findKey({ baseUrl, target, idempotencyKey }: TriggerKey): KeyState | undefined {
    const records = log.read({ needle: JSON.stringify(idempotencyKey), oldestFirst: true });
    const id = triggerIdOf({ baseUrl, idempotencyKey, target: pathOf(target) });
    const trigger = fold(records).triggers.get(id);
    if (!trigger) return undefined;
    if (trigger.executionId !== undefined)
      return { state: 'accepted', executionId: trigger.executionId, ...trigger.acceptedAs };
    const { attempts, superseded = [] } = trigger;
    const unknown = attempts.length > 0 ? attempts : superseded;
    if (unknown.length === 0) return undefined;
    return { state: 'open', trigger: unresolvedOf({ ...trigger, attempts: unknown }, options.nowMs()) };
  }

  /** What the service was last seen to do with idempotency keys; undefined if that was never seen. */
  function keysSeen(baseUrl: string): { treatment: KeyTreatment; at: string } | undefined {
    for (const record of read({ baseUrl }, { needle: '"type":"keys_seen"' })) {
      if (record.type === 'keys_seen') return { treatment: record.treatment, at: record.at };
    }
    return undefined;
  }

  /** The completed runs of the last 90 days, newest first; a checkpoint keeps 30 of them. */
  function pastRuns(filter: TargetFilter, limit: number): PastRun[] {
    const found: PastRun[] = [];
    const sinceMs = options.nowMs() - historyMs;
    for (const { status, startedAt, completedAt, creditsCharged, at } of runs({ ...filter, only: 'kept' })) {
      if (found.length >= limit || Date.parse(at) < sinceMs) break;
      const hasCompleted = status !== null && isCompleted(status);
      const durationMs = Date.parse(completedAt ?? '') - Date.parse(startedAt ?? '');
      if (hasCompleted && durationMs >= 0) found.push({ durationMs, credits: creditsCharged });
    }
    return found;
  }

  function* read(filter: RunFilter, how: RecordFilter = {}): Generator<JournalRecord> {
    const { only, since } = filter;
    const isEnough =
      only && ((omitted: ReadonlySet<string>) => typeof only === 'string' || !omitted.has(only.status.toUpperCase()));
    const wanted = { needle: needleOf(filter), isEnough, since, ...how };
    for (const record of log.read(wanted)) if (isMatch(record, filter)) yield record;
  }
}
