import type { Entry, RunEntry, UnresolvedTrigger } from '../run/entry.ts';
import { type Complete, type RunRecord, updateRun } from './fold-run.ts';
import { type JournalRecord, type RecordOf, runIdOf, triggerIdOf } from './records.ts';

/** What is known of an idempotency key of one target. */
export interface KeyUse {
  /** Of its first record. */
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
  place: Place;
}

/** An attempt without an outcome. */
interface Attempt {
  record: RecordOf<'triggered'>;
  position: number;
  /** Its process won't send the trigger again. */
  hasEnded?: true;
}

/**
 * A line of the list: a run by its `runIdOf`, else a trigger while it has attempts, else nothing.
 */
interface Place {
  runId?: string;
  use?: KeyUse;
  /** Its first records were folded, so no older record can change or move it. */
  isWhole: boolean;
}

export interface State {
  /** By `runIdOf`. */
  runs: Map<string, RunEntry>;
  /** By `triggerIdOf`, in the order of their first unresolved attempts. */
  keys: Map<string, KeyUse>;
  /** In the order of their first records. */
  places: Place[];
}

/** An entry, and whether older records could change it. */
export interface Listed {
  entry: Entry;
  isWhole: boolean;
}

/**
 * What these records say, oldest first. Older records may be missing. Which of two records is the
 * later one is never decided by their times, because a clock may have been set between them. Their
 * positions among the records decide.
 */
export function fold(records: Iterable<JournalRecord>): State {
  const state: State = { runs: new Map(), keys: new Map(), places: [] };
  let position = 0;
  for (const record of records) {
    position += 1;
    if (record.type === 'triggered') applyTriggered(state, record, position);
    else if (record.type === 'accepted') applyAccepted(state, record, position);
    else if (record.type === 'status' || record.type === 'not_found') applyStatus(state, record);
    else applyEnd(state, record);
  }
  return state;
}

/** Newest first. */
export function listed({ runs, places }: State): Listed[] {
  const list: Listed[] = [];
  for (let index = places.length - 1; index >= 0; index--) {
    const { runId, use, isWhole } = places[index] as Place;
    const run = runId === undefined ? undefined : runs.get(runId);
    if (run) list.push({ entry: run, isWhole });
    else if (use && use.attempts.length > 0) list.push({ entry: unresolvedOf(use), isWhole });
  }
  return list;
}

/** Only the runs, from records that name one, in half the time. */
export function foldRuns(records: Iterable<JournalRecord>): State {
  const state: State = { runs: new Map(), keys: new Map(), places: [] };
  for (const record of records) if ('executionId' in record) applyStatus(state, record);
  return state;
}

export const isUnresolved = ({ attempts, isSuperseded }: KeyUse): boolean =>
  attempts.length > 0 && !isSuperseded;

/** Another attempt joins an unresolved trigger. After a refusal, the trigger starts over. */
function applyTriggered(
  { keys, places }: State,
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
  if (earlier) earlier.place.use = undefined;
  const place: Place = { isWhole: record.first === true || earlier?.place.isWhole === true };
  places.push(place);
  const use: KeyUse = {
    position,
    attempts: [...(earlier?.attempts ?? []), { record, position }],
    place,
  };
  place.use = use;
  // A `Map` keeps the order in which its keys were added.
  keys.delete(id);
  keys.set(id, use);
}

/** The run takes the place of its trigger, unless it was known before. */
function applyAccepted(state: State, record: RecordOf<'accepted'>, position: number): void {
  const runId = runIdOf(record);
  const isListed = !updateRun(state.runs, runId, record);
  const use = state.keys.get(triggerIdOf(record)) ?? unrecordedUse(state, record, position);
  if (use.executionId === undefined) {
    use.executionId = record.executionId;
    use.how = record.how;
    use.attempts = [];
    use.place.runId = isListed ? undefined : runId;
    use.place.isWhole &&= record.first === true;
  } else if (!isListed) {
    state.places.push({ runId, isWhole: false });
  }
}

function unrecordedUse(
  { keys, places }: State,
  record: RecordOf<'accepted'>,
  position: number,
): KeyUse {
  const place: Place = { isWhole: false };
  const unrecorded: KeyUse = { position, attempts: [], place };
  places.push(place);
  keys.set(triggerIdOf(record), unrecorded);
  return unrecorded;
}

/** A refusal only ends its own attempt, because another process may have sent the same key. */
function applyEnd(
  { keys }: State,
  record: RecordOf<'refused' | 'reused_key' | 'superseded' | 'in_doubt'>,
): void {
  const use = keys.get(triggerIdOf(record));
  if (!use || !isUnresolved(use)) return;
  switch (record.type) {
    case 'superseded':
      use.isSuperseded = true;
      break;
    case 'reused_key':
      use.attempts = [];
      break;
    case 'refused':
      use.attempts = use.attempts.filter((attempt) => attempt.record.attempt !== record.attempt);
      noteConflict(use, record);
      break;
    case 'in_doubt':
      markInDoubt(use, record);
  }
}

function markInDoubt(use: KeyUse, record: RecordOf<'in_doubt'>): void {
  use.reason = record.reason;
  noteConflict(use, record);
  if (!record.isLast) return;
  const ended = use.attempts.find((attempt) => attempt.record.attempt === record.attempt);
  if (ended) ended.hasEnded = true;
}

function noteConflict(
  use: KeyUse,
  { name, activeExecutionId }: RecordOf<'refused' | 'in_doubt'>,
): void {
  if (name === 'already_active')
    use.conflict = { activeExecutionId: activeExecutionId ?? use.conflict?.activeExecutionId };
}

function applyStatus(state: State, record: RunRecord): void {
  const runId = runIdOf(record);
  const isNew = updateRun(state.runs, runId, record);
  if (isNew) state.places.push({ runId, isWhole: record.first === true });
}

/** `use` must have an attempt without an outcome. */
export function unresolvedOf({
  attempts: all,
  isSuperseded,
  reason,
  conflict,
}: KeyUse): Complete<UnresolvedTrigger> {
  const [oldest] = all;
  if (!oldest) throw new Error('every attempt of this trigger has an outcome');
  const {
    baseUrl,
    account,
    target,
    idempotencyKey,
    body,
    userProvided = false,
    at,
  } = oldest.record;
  const attempts = all.map(({ record }) => record.attempt);
  const senders = all.flatMap(({ record: { process, at }, hasEnded }) =>
    process && !hasEnded ? [{ process, at }] : [],
  );
  // If one of the attempts was to start a run whether another one was active or not, a late run is
  // wanted.
  const isSkip = all.every(({ record }) => record.ifActive === 'skip');
  const ifActive = isSkip ? ('skip' as const) : undefined;
  return {
    kind: 'unresolved',
    baseUrl,
    account,
    target,
    idempotencyKey,
    body,
    userProvided,
    ifActive,
    at,
    reason,
    conflict,
    attempts,
    senders,
    isSuperseded,
  };
}
