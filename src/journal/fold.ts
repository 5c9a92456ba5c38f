import type { Entry, RunEntry, UnresolvedTrigger } from '../run/entry.ts';
import { type Complete, type RunRecord, updateRun } from './fold-run.ts';
import { type JournalRecord, type RecordOf, runIdOf, triggerIdOf } from './records.ts';

// `fold` plays the records back. `runs` and `keys` say what is known then, and `lines` in which order
// `list` shows it. A run takes over the line of its trigger.

export interface FoldedJournal {
  /** By `runIdOf`. */
  runs: Map<string, RunEntry>;
  /** By `triggerIdOf`, in the order of their first unresolved attempts. */
  keys: Map<string, KeyState>;
  /** In the order of their first records. */
  lines: ListLine[];
}

/** What is known of an idempotency key of one target. */
export interface KeyState {
  /** The position of its first record among all records. */
  position: number;
  /** The attempts without an outcome, oldest first. */
  attempts: Attempt[];
  /** A later trigger has a run: the attempts only matter if the key is used again. */
  isSuperseded?: true;
  /** The run that it started; never changes once known. */
  executionId?: string;
  /** How it got that run. */
  how?: RecordOf<'accepted'>['how'];
  /** Why an attempt is in doubt. */
  reason?: string;
  /** A repeat was refused because a run was active. */
  conflict?: { activeExecutionId?: string };
  line: ListLine;
}

/** An attempt without an outcome. */
interface Attempt {
  record: RecordOf<'triggered'>;
  position: number;
  /** Its process won't send the trigger again. */
  hasEnded?: true;
}

/** A line of the list. It shows the run, else the trigger while it has attempts, else nothing. */
interface ListLine {
  /** The `runIdOf` of its run. */
  runId?: string;
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
  const folded: FoldedJournal = { runs: new Map(), keys: new Map(), lines: [] };
  let position = 0;
  for (const record of records) {
    position += 1;
    if (record.type === 'triggered') applyTriggered(folded, record, position);
    else if (record.type === 'accepted') applyAccepted(folded, record, position);
    else if (record.type === 'status' || record.type === 'not_found') applyToRun(folded, record);
    else applyToAttempts(folded, record);
  }
  return folded;
}

/** Returns the entries that `list` shows, newest first. */
export function listedEntries({ runs, lines }: FoldedJournal): ListedEntry[] {
  const entries: ListedEntry[] = [];
  for (let index = lines.length - 1; index >= 0; index--) {
    const { runId, key, isComplete } = lines[index] as ListLine;
    const run = runId === undefined ? undefined : runs.get(runId);
    if (run) entries.push({ entry: run, isComplete });
    else if (key && key.attempts.length > 0) entries.push({ entry: unresolvedOf(key), isComplete });
  }
  return entries;
}

/** Plays back only the records that name a run, in half the time. */
export function foldRuns(records: Iterable<JournalRecord>): FoldedJournal {
  const folded: FoldedJournal = { runs: new Map(), keys: new Map(), lines: [] };
  for (const record of records) if ('executionId' in record) applyToRun(folded, record);
  return folded;
}

export const isUnresolved = ({ attempts, isSuperseded }: KeyState): boolean =>
  attempts.length > 0 && !isSuperseded;

/** Another attempt joins an unresolved trigger. After a refusal, the trigger starts over. */
function applyTriggered(
  { keys, lines }: FoldedJournal,
  record: RecordOf<'triggered'>,
  position: number,
): void {
  const id = triggerIdOf(record);
  const earlier = keys.get(id);
  if (earlier?.executionId !== undefined) return;
  if (earlier && isUnresolved(earlier)) {
    earlier.attempts.push({ record, position });
    return;
  }
  if (earlier) earlier.line.key = undefined;
  const isComplete = record.first === true || earlier?.line.isComplete === true;
  const line: ListLine = { isComplete };
  const attempts = [...(earlier?.attempts ?? []), { record, position }];
  const key: KeyState = { position, attempts, line };
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
  const runId = runIdOf(record);
  const isNew = updateRun(folded.runs, runId, record);
  const key = folded.keys.get(triggerIdOf(record)) ?? addUnrecordedKey(folded, record, position);
  if (key.executionId === undefined) {
    key.executionId = record.executionId;
    key.how = record.how;
    key.attempts = [];
    key.line.runId = isNew ? runId : undefined;
    key.line.isComplete &&= record.first === true;
  } else if (isNew) {
    folded.lines.push({ runId, isComplete: false });
  }
}

/** Adds a key whose trigger isn't among these records. */
function addUnrecordedKey(
  { keys, lines }: FoldedJournal,
  record: RecordOf<'accepted'>,
  position: number,
): KeyState {
  const line: ListLine = { isComplete: false };
  const key: KeyState = { position, attempts: [], line };
  lines.push(line);
  keys.set(triggerIdOf(record), key);
  return key;
}

/** A refusal only ends its own attempt, because another process may have sent the same key. */
function applyToAttempts(
  { keys }: FoldedJournal,
  record: RecordOf<'refused' | 'reused_key' | 'superseded' | 'in_doubt'>,
): void {
  const key = keys.get(triggerIdOf(record));
  if (!key || !isUnresolved(key)) return;
  switch (record.type) {
    case 'superseded':
      key.isSuperseded = true;
      break;
    case 'reused_key':
      key.attempts = [];
      break;
    case 'refused':
      key.attempts = key.attempts.filter((attempt) => attempt.record.attempt !== record.attempt);
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
  const ended = key.attempts.find((attempt) => attempt.record.attempt === record.attempt);
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
  const runId = runIdOf(record);
  const isNew = updateRun(runs, runId, record);
  if (isNew) lines.push({ runId, isComplete: record.first === true });
}

/**
 * Returns the trigger of a key, which must have an attempt without an outcome. Every field is
 * listed, so that the compiler asks for a new one.
 */
export function unresolvedOf(key: KeyState): Complete<UnresolvedTrigger> {
  const { attempts, isSuperseded, reason, conflict } = key;
  const [oldest] = attempts;
  if (!oldest) throw new Error('every attempt of this trigger has an outcome');
  const { record } = oldest;
  return {
    kind: 'unresolved',
    baseUrl: record.baseUrl,
    account: record.account,
    target: record.target,
    idempotencyKey: record.idempotencyKey,
    body: record.body,
    userProvided: record.userProvided ?? false,
    ifActive: ifActiveOf(attempts),
    at: record.at,
    reason,
    conflict,
    attempts: attempts.map((attempt) => attempt.record.attempt),
    senders: sendersOf(attempts),
    isSuperseded,
  };
}

/**
 * Returns `skip` if every attempt was to start no run while another one is active. If one of them
 * was to start a run in any case, a late run is wanted.
 */
const ifActiveOf = (attempts: readonly Attempt[]) =>
  attempts.every(({ record }) => record.ifActive === 'skip') ? ('skip' as const) : undefined;

/** Returns the processes that may still send the trigger. */
const sendersOf = (attempts: readonly Attempt[]) =>
  attempts.flatMap(({ record: { process, at }, hasEnded }) =>
    process !== undefined && process !== '' && !hasEnded ? [{ process, at }] : [],
  );
