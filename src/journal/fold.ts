import type { Entry, RunEntry, UnresolvedTrigger } from '../run/entry.ts';
import { type Complete, type RunRecord, updateRun } from './fold-run.ts';
import { type JournalRecord, type RecordOf, runRefOf, triggerRefOf } from './records.ts';

// `fold` plays the records back. `runs` and `keys` say what is known then, and `lines` in which order
// `list` shows it. A run takes over the line of its trigger.

export interface FoldedJournal {
  /** By `runRefOf`. */
  runs: Map<string, RunEntry>;
  /** By `triggerRefOf`, in the order of their first open sendings. */
  keys: Map<string, KeyState>;
  /** In the order of their first records. */
  lines: ListLine[];
}

/** What is known of an idempotency key of one target. */
export interface KeyState {
  /** The position of its first record among all records. */
  position: number;
  /** The sendings without an outcome, oldest first. */
  openSendings: Sending[];
  /** A later trigger has a run: the sendings only matter if the key is used again. */
  isSuperseded?: true;
  /** The run that it started; never changes once known. */
  executionId?: string;
  /** How it got that run. */
  how?: RecordOf<'accepted'>['how'];
  /** Why a sending is in doubt. */
  reason?: string;
  /** A repeat was refused because a run was active. */
  conflict?: { activeExecutionId?: string };
  line: ListLine;
}

/** A process has begun to send the trigger, and how that ended isn't recorded. */
interface Sending {
  record: RecordOf<'triggered'>;
  position: number;
  /** Its process won't send the trigger again. */
  hasEnded?: true;
}

/** A line of the list. It shows the run, else the trigger while it has open sendings, else nothing. */
interface ListLine {
  /** The `runRefOf` of its run. */
  runRef?: string;
  key?: KeyState;
  /** Its first records were folded, so no older record can change or move it. */
  isComplete: boolean;
}

/** An entry of the list, and whether no older record can change or move it. */
export interface ListedEntry {
  entry: Entry;
  isComplete: boolean;
}

/**
 * Plays the records back. They must come oldest first, and older ones may be missing. Which of two
 * records is the later one is never decided by their times, because a clock may have been set
 * between them. Their positions among the records decide.
 */
export function fold(records: Iterable<JournalRecord>): FoldedJournal {
  const folded = emptyJournal();
  let position = 0;
  for (const record of records) {
    position += 1;
    if (record.type === 'triggered') applyTriggered(folded, record, position);
    else if (record.type === 'accepted') applyAccepted(folded, record, position);
    else if (record.type === 'status' || record.type === 'not_found') applyToRun(folded, record);
    else applyToSendings(folded, record);
  }
  return folded;
}

/** Returns the entries that `list` shows, newest first. */
export function listedEntries({ runs, lines }: FoldedJournal): ListedEntry[] {
  const entries: ListedEntry[] = [];
  for (let index = lines.length - 1; index >= 0; index--) {
    const { runRef, key, isComplete } = lines[index] as ListLine;
    const run = runRef === undefined ? undefined : runs.get(runRef);
    if (run) entries.push({ entry: run, isComplete });
    else if (key && key.openSendings.length > 0)
      entries.push({ entry: unresolvedOf(key), isComplete });
  }
  return entries;
}

/** Plays back only the records that name a run, in half the time. */
export function foldRuns(records: Iterable<JournalRecord>): FoldedJournal {
  const folded = emptyJournal();
  for (const record of records) if ('executionId' in record) applyToRun(folded, record);
  return folded;
}

const emptyJournal = (): FoldedJournal => ({ runs: new Map(), keys: new Map(), lines: [] });

export const isUnresolved = ({ openSendings, isSuperseded }: KeyState): boolean =>
  openSendings.length > 0 && !isSuperseded;

/** Another sending joins an unresolved trigger. After a refusal, the trigger starts over. */
function applyTriggered(
  { keys, lines }: FoldedJournal,
  record: RecordOf<'triggered'>,
  position: number,
): void {
  const id = triggerRefOf(record);
  const earlier = keys.get(id);
  if (earlier?.executionId !== undefined) return;
  if (earlier && isUnresolved(earlier)) {
    earlier.openSendings.push({ record, position });
    return;
  }
  if (earlier) earlier.line.key = undefined;
  const isComplete = record.first === true || earlier?.line.isComplete === true;
  const line: ListLine = { isComplete };
  const openSendings = [...(earlier?.openSendings ?? []), { record, position }];
  const key: KeyState = { position, openSendings, line };
  line.key = key;
  lines.push(line);
  // A `Map` keeps the order in which its keys were added.
  keys.delete(id);
  keys.set(id, key);
}

/** The run takes over the line of its trigger, unless it was known before and has one. */
function applyAccepted(
  folded: FoldedJournal,
  record: RecordOf<'accepted'>,
  position: number,
): void {
  const runRef = runRefOf(record);
  const isNew = updateRun(folded.runs, runRef, record);
  const key = folded.keys.get(triggerRefOf(record)) ?? addUnrecordedKey(folded, record, position);
  if (key.executionId === undefined) {
    key.executionId = record.executionId;
    key.how = record.how;
    key.openSendings = [];
    key.line.runRef = isNew ? runRef : undefined;
    key.line.isComplete &&= record.first === true;
  } else if (isNew) {
    folded.lines.push({ runRef, isComplete: false });
  }
}

/** Adds a key whose trigger isn't among these records. */
function addUnrecordedKey(
  { keys, lines }: FoldedJournal,
  record: RecordOf<'accepted'>,
  position: number,
): KeyState {
  const line: ListLine = { isComplete: false };
  const key: KeyState = { position, openSendings: [], line };
  lines.push(line);
  keys.set(triggerRefOf(record), key);
  return key;
}

/** A refusal only ends its own sending, because another process may have sent the same key. */
function applyToSendings(
  { keys }: FoldedJournal,
  record: RecordOf<'refused' | 'reused_key' | 'superseded' | 'in_doubt'>,
): void {
  const key = keys.get(triggerRefOf(record));
  if (!key || !isUnresolved(key)) return;
  switch (record.type) {
    case 'superseded':
      key.isSuperseded = true;
      break;
    case 'reused_key':
      key.openSendings = [];
      break;
    case 'refused':
      key.openSendings = key.openSendings.filter(
        (sending) => sending.record.attempt !== record.attempt,
      );
      noteConflict(key, record);
      break;
    case 'in_doubt':
      markInDoubt(key, record);
  }
}

function markInDoubt(key: KeyState, record: RecordOf<'in_doubt'>): void {
  key.reason = record.reason;
  noteConflict(key, record);
  if (!record.isLast) return;
  const ended = key.openSendings.find((sending) => sending.record.attempt === record.attempt);
  if (ended) ended.hasEnded = true;
}

function noteConflict(
  key: KeyState,
  { name, activeExecutionId }: RecordOf<'refused' | 'in_doubt'>,
): void {
  if (name === 'already_active')
    key.conflict = { activeExecutionId: activeExecutionId ?? key.conflict?.activeExecutionId };
}

function applyToRun({ runs, lines }: FoldedJournal, record: RunRecord): void {
  const runRef = runRefOf(record);
  const isNew = updateRun(runs, runRef, record);
  if (isNew) lines.push({ runRef, isComplete: record.first === true });
}

/**
 * Returns the trigger of a key, which must have an open sending. Every field is
 * listed, so that the compiler asks for a new one.
 */
export function unresolvedOf(key: KeyState): Complete<UnresolvedTrigger> {
  const { openSendings, isSuperseded, reason, conflict } = key;
  const [oldest] = openSendings;
  if (!oldest) throw new Error('every sending of this trigger has an outcome');
  const { record } = oldest;
  return {
    kind: 'unresolved',
    baseUrl: record.baseUrl,
    account: record.account,
    target: record.target,
    idempotencyKey: record.idempotencyKey,
    body: record.body,
    userProvided: record.userProvided ?? false,
    ifActive: ifActiveOf(openSendings),
    at: record.at,
    reason,
    conflict,
    sendingIds: openSendings.map((sending) => sending.record.attempt),
    senders: sendersOf(openSendings),
    isSuperseded,
  };
}

/**
 * Returns `skip` if every sending was to start no run while another one is active. If one of them
 * was to start a run in any case, a late run is wanted.
 */
const ifActiveOf = (sendings: readonly Sending[]) =>
  sendings.every(({ record }) => record.ifActive === 'skip') ? ('skip' as const) : undefined;

/** Returns the processes that may still send the trigger. */
const sendersOf = (sendings: readonly Sending[]) =>
  sendings.flatMap(({ record: { process, at }, hasEnded }) =>
    process !== undefined && process !== '' && !hasEnded ? [{ process, at }] : [],
  );
