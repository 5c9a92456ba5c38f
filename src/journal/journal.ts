import {
  type Entry,
  isOpen,
  isUnfinished,
  type KnownRun,
  maxOpenAgeMs,
  type RecordedKey,
  type RunEntry,
  type UnresolvedTrigger,
} from '../run/entry.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { durationMsOf, isSameId, type Run, type Target } from '../run/run.ts';
import type { RunResult, RunSnapshot } from '../run/service.ts';
import { hasFinished, isSuccess } from '../run/statuses.ts';
import type { TriggerKey } from '../run/trigger.ts';
import { type EntryFilter, textsOf } from './entry-filter.ts';
import { fold, isUnresolved, type KeyState, unresolvedOf } from './fold.ts';
import { updateRun, withReport } from './fold-run.ts';
import { allEntriesIn, entriesIn, mayStillChange, recordsMatching } from './read-entries.ts';
import { openRecordStore, type RecordStore, type StoreOptions } from './record-store.ts';
import {
  type JournalRecord,
  type NewRecord,
  type RecordOf,
  runRefOf,
  triggerRefOf,
} from './records.ts';

/** Which of an automation's earlier runs predict how long the next one takes. */
const pastFiles = { maxFiles: 16, ageMs: 90 * 24 * 3_600_000 };
/** How many earlier runs say how long the next one takes. */
const maxPastRuns = 20;

/** This machine's journal. Throws only what `onFailure` throws. What can't be read is unknown. */
export const openJournal = (options: StoreOptions): Journal =>
  new Journal(openRecordStore(options), options.nowMs);

export class Journal {
  readonly #store: RecordStore;
  readonly nowMs: () => number;
  /** The runs that this process asked for or recorded. */
  readonly #remembered = new Map<string, RunEntry>();
  /** The runs that the journal has no record of. Another base URL may have one with the id. */
  readonly #unrecorded = new Map<string, { otherBaseUrl?: string }>();

  constructor(store: RecordStore, nowMs: () => number) {
    this.#store = store;
    this.nowMs = nowMs;
  }

  /** Returns false if the record couldn't be written. A `triggered` record is on disk on return. */
  append(record: NewRecord): boolean {
    const stored = this.#store.append(record);
    if (!stored || !('executionId' in stored)) return stored !== undefined;
    const id = runRefOf(stored);
    const isFirst = this.#unrecorded.delete(id) || stored.first;
    if (isFirst || this.#remembered.has(id)) updateRun(this.#remembered, id, stored);
    return true;
  }

  /** Records a status of a run, unless it says nothing new. */
  recordStatus(
    baseUrl: string,
    { target, executionId }: Run,
    reported: RunSnapshot | RunResult,
    error?: string,
  ): void {
    const recorded = this.find(executionId, { baseUrl });
    const report = { ...reported, executionId, error };
    if (recorded?.kind === 'run' && !saysMore(recorded, report)) return;
    const earlier = recorded ?? this.find(executionId, { baseUrl, fresh: true });
    const first = earlier ? undefined : true;
    this.append({ type: 'status', baseUrl, target, ...report, first });
  }

  /**
   * Records that the service doesn't know the run, if it is unfinished and `account` started it.
   * Returns whether the journal now says so.
   */
  markNotFound(baseUrl: string, { target, executionId }: Run, account: string): boolean {
    const recorded = this.find(executionId, { baseUrl });
    if (!recorded || recorded.account !== account) return false;
    if (recorded.kind === 'not_found') return true;
    return !recorded.isFinal && this.append({ type: 'not_found', baseUrl, target, executionId });
  }

  /** Returns entries newest first. The older ones are only read if the caller asks for them. */
  entries(filter: EntryFilter = {}): Generator<Entry> {
    return entriesIn(this.#store, filter);
  }

  /** Returns the same for a caller who asks for all of them, and reads no file twice. */
  allEntries(filter: EntryFilter = {}): Generator<Entry> {
    return allEntriesIn(this.#store, filter);
  }

  /**
   * Whether any record matches. A trigger that was refused has no entry, but it has records.
   */
  hasRecord(filter: EntryFilter): boolean {
    return recordsMatching(this.#store, filter).next().done !== true;
  }

  /** Whether a run of an automation with this name is recorded, in whatever project. */
  hasRunOf(automationName: string, baseUrl: string | undefined): boolean {
    return this.hasRecord({ baseUrl, automations: [{ automationName }], hasRun: true });
  }

  /** The unfinished runs, newest first. */
  unfinished(filter: { baseUrl: string; target?: Target }): KnownRun[] {
    return this.pollable(filter).filter(isUnfinished);
  }

  /**
   * What a poll may change: the unfinished runs, and those that the service may know again, newest
   * first.
   */
  pollable(filter: EntryFilter): RunEntry[] {
    const recent = { ...filter, sinceMs: this.nowMs() - maxOpenAgeMs };
    const entries = [...this.allEntries({ ...recent, mayStillChange: true })];
    const open = entries.filter(mayStillChange).filter((entry) => isOpen(entry, this.nowMs()));
    for (const entry of open) this.#remembered.set(runRefOf(entry), entry);
    return open;
  }

  /** A run by its id. With `fresh`, includes what other processes recorded since the last call. */
  find(
    executionId: string,
    { baseUrl, fresh }: { baseUrl: string; fresh?: boolean },
  ): RunEntry | undefined {
    const id = runRefOf({ baseUrl, executionId });
    if (fresh || !(this.#remembered.has(id) || this.#unrecorded.has(id)))
      this.#search(executionId, baseUrl);
    return this.#remembered.get(id);
  }

  /** Another base URL that has a run with this id, if this one has none. */
  findElsewhere(executionId: string, baseUrl: string): string | undefined {
    this.find(executionId, { baseUrl });
    return this.#unrecorded.get(runRefOf({ baseUrl, executionId }))?.otherBaseUrl;
  }

  /** Searches from the newest file back to the first record of the run. */
  #search(executionId: string, baseUrl: string): void {
    const id = runRefOf({ baseUrl, executionId });
    let records: JournalRecord[] = [];
    let otherBaseUrl: string | undefined;
    const texts = textsOf({ idPrefix: executionId });
    for (const inFile of this.#store.read({ texts, newestFirst: true })) {
      const ofId = inFile.filter((record) => isOfRun(record, executionId));
      const ofRun = ofId.filter((record) => record.baseUrl === baseUrl);
      otherBaseUrl ??= ofId.find((record) => record.baseUrl !== baseUrl)?.baseUrl;
      records = [...ofRun, ...records];
      if (ofRun.some((record) => 'first' in record && record.first)) break;
    }
    const run = fold(records).runs.get(id);
    if (run) this.#remembered.set(id, run);
    else if (!this.#remembered.has(id)) this.#unrecorded.set(id, { otherBaseUrl });
    if (run) this.#unrecorded.delete(id);
  }

  /**
   * The last open refusal of a trigger, recorded after this run, that shows that another run of its
   * target was active.
   */
  otherActiveRun(baseUrl: string, { target, executionId }: Run): RecordOf<'refused'> | undefined {
    const records = [
      ...recordsMatching(this.#store, { baseUrl, target, sinceMs: this.nowMs() - maxOpenAgeMs }),
    ];
    const began = records.findIndex((record) => isOfRun(record, executionId));
    let hasFinished = false;
    let refused: RecordOf<'refused'> | undefined;
    for (const record of records.slice(began + 1)) {
      if (isOfRun(record, executionId)) hasFinished ||= isEnd(record);
      if (!isConflict(record) || !isOpen(record, this.nowMs())) continue;
      const { activeExecutionId } = record;
      // A refusal that names no run may mean this one, if it hadn't finished.
      const isOther =
        activeExecutionId === undefined ? hasFinished : !isSameId(activeExecutionId, executionId);
      if (isOther) refused = record;
    }
    return refused;
  }

  /** The open triggers whose outcome isn't known, newest first. */
  unresolved(filter: { baseUrl?: string; target?: Target }): UnresolvedTrigger[] {
    const isYoung = ({ openSendings: [oldest] }: KeyState) =>
      oldest !== undefined && isOpen(oldest.record, this.nowMs());
    return [...this.#openKeys({ ...filter, statuses: ['UNKNOWN'] }).values()]
      .filter((key) => isUnresolved(key) && isYoung(key))
      .map(unresolvedOf)
      .reverse();
  }

  /**
   * Whether a later trigger of the target has a run that no earlier use of its key had started. It
   * is later if its first record comes after this trigger's last attempt without an outcome.
   */
  hasLaterRun({ baseUrl, target, idempotencyKey }: TriggerKey): boolean {
    const keys = this.#openKeys({ baseUrl, target });
    const lastSending = keys
      .get(triggerRefOf({ baseUrl, target, idempotencyKey }))
      ?.openSendings.at(-1);
    if (!lastSending) return false;
    const isOwnRun = ({ executionId, how }: KeyState) =>
      executionId !== undefined && how !== 'replayed';
    return [...keys.values()].some((key) => isOwnRun(key) && key.position > lastSending.position);
  }

  /** The idempotency keys in the part of the journal that holds all that is open. */
  #openKeys(filter: EntryFilter): Map<string, KeyState> {
    return fold(recordsMatching(this.#store, { ...filter, sinceMs: this.nowMs() - maxOpenAgeMs }))
      .keys;
  }

  /** How an idempotency key was used, however long ago. */
  findKey({ baseUrl, target, idempotencyKey }: TriggerKey): RecordedKey | undefined {
    const { keys } = fold(this.#recordsWithKey(idempotencyKey));
    const key = keys.get(triggerRefOf({ baseUrl, idempotencyKey, target }));
    if (key?.executionId !== undefined) return { kind: 'run', executionId: key.executionId };
    return key && key.openSendings.length > 0 ? unresolvedOf(key) : undefined;
  }

  /** How often attempts with this idempotency key and this API key were refused for this reason. */
  refusalsOf(key: TriggerKey & { account: string }, name: ExitName): number {
    const id = triggerRefOf(key);
    const attempts = new Set<string>();
    let refusals = 0;
    for (const record of this.#recordsWithKey(key.idempotencyKey)) {
      if (
        record.type === 'triggered' &&
        record.account === key.account &&
        triggerRefOf(record) === id
      )
        attempts.add(record.attempt);
      if (record.type === 'refused' && record.name === name && attempts.has(record.attempt))
        refusals += 1;
    }
    return refusals;
  }

  /** The records in whose line this idempotency key stands, oldest first. */
  #recordsWithKey(idempotencyKey: string): JournalRecord[] {
    return [...this.#store.read({ texts: [JSON.stringify(idempotencyKey)] })].flat();
  }

  /** How long the target's last completed runs took, newest first, from the newest files. */
  pastDurationsMs(filter: { baseUrl: string; target: Target }): number[] {
    const durationsMs: number[] = [];
    const sinceMs = this.nowMs() - pastFiles.ageMs;
    for (const entry of this.entries({ ...filter, maxFiles: pastFiles.maxFiles, hasRun: true })) {
      if (durationsMs.length >= maxPastRuns) break;
      // The entries come in the order of their records, not of their times, because a clock may
      // have been set.
      if (Date.parse(entry.at) < sinceMs) continue;
      const durationMs =
        entry.kind === 'run' && isSuccess(entry.status) ? durationMsOf(entry) : undefined;
      if (durationMs) durationsMs.push(durationMs);
    }
    return durationsMs;
  }
}

const isEnd = (record: JournalRecord) =>
  'status' in record &&
  record.status !== undefined &&
  hasFinished({ ...record, status: record.status });

/** Whether a report says something new. Both runs have their fields in the order of `newRun`. */
function saysMore(recorded: KnownRun, report: Parameters<typeof withReport>[1]): boolean {
  const reported = withReport(recorded, report, recorded.statusAt);
  return JSON.stringify(reported) !== JSON.stringify(recorded);
}

/** The refusal of a trigger because a run was active. */
const isConflict = (record: JournalRecord): record is RecordOf<'refused'> =>
  record.type === 'refused' && record.name === 'already_active';

const isOfRun = (record: JournalRecord, executionId: string) =>
  'executionId' in record && isSameId(record.executionId, executionId);
