import type { Entry, KnownRun, RunEntry, UnresolvedTrigger } from '../run/entry.ts';
import { isFinalStatus } from '../run/statuses.ts';
import { type JournalRecord, type RecordOf, runIdOf, triggerIdOf } from './records.ts';

/** What is known of an idempotency key of one target. */
export interface KeyUse {
  at: string; // ISO 8601, like every time here
  attempts: RecordOf<'triggered'>[]; // the attempts without an outcome, oldest first
  isSuperseded?: true; // a later trigger has a run: the attempts only matter if the key is used again
  executionId?: string; // the run that it started; never changes once known
  how?: RecordOf<'accepted'>['how']; // how it got that run
  reason?: string; // why an attempt is in doubt
  conflict?: { activeExecutionId?: string }; // a repeat was refused because a run was active
  place: Place;
}

/** A line of the list: a run by its `runIdOf`, else a trigger while it has attempts, else nothing. */
interface Place {
  runId?: string;
  use?: KeyUse;
  isWhole: boolean; // its first records were folded, so no older record can change or move it
}

export interface State {
  runs: Map<string, RunEntry>; // by `runIdOf`
  keys: Map<string, KeyUse>; // by `triggerIdOf`, in the order of their first unresolved attempts
  places: Place[]; // in the order of their first records
}

/** An entry, and whether older records could change it. */
export interface Listed {
  entry: Entry;
  isWhole: boolean;
}

/** What these records say, oldest first. Older records may be missing. */
export function fold(records: Iterable<JournalRecord>): State {
  const state: State = { runs: new Map(), keys: new Map(), places: [] };
  for (const record of records) {
    if (record.type === 'triggered') trigger(state, record);
    else if (record.type === 'accepted') accept(state, record);
    else if (record.type === 'status' || record.type === 'not_found') observe(state, record);
    else resolve(state, record);
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

/** Only the runs, from records that name one, in half the time. Newest first. */
export function listedRuns(records: Iterable<JournalRecord>): Listed[] {
  const runs: State['runs'] = new Map();
  const whole = new Set<string>();
  for (const record of records) {
    if (!('executionId' in record)) continue;
    updateRun(runs, record);
    if (record.first) whole.add(runIdOf(record));
  }
  return Array.from(runs, ([id, entry]) => ({ entry, isWhole: whole.has(id) })).reverse();
}

export const isUnresolved = ({ attempts, isSuperseded }: KeyUse): boolean => attempts.length > 0 && !isSuperseded;

/** Another attempt joins an unresolved trigger. After a refusal, the trigger starts over. */
function trigger({ keys, places }: State, record: RecordOf<'triggered'>): void {
  const id = triggerIdOf(record);
  const known = keys.get(id);
  if (known?.executionId !== undefined) return;
  if (known && isUnresolved(known)) {
    known.attempts.push(record);
    return;
  }
  if (known) known.place.use = undefined;
  const place: Place = { isWhole: record.first === true };
  places.push(place);
  const use: KeyUse = { at: record.at, attempts: [...(known?.attempts ?? []), record], place };
  place.use = use;
  // A `Map` keeps the order in which its keys were added.
  keys.delete(id);
  keys.set(id, use);
}

/** The run takes the place of its trigger, unless it was known before. */
function accept(state: State, record: RecordOf<'accepted'>): void {
  const runId = runIdOf(record);
  const isKnown = state.runs.has(runId);
  updateRun(state.runs, record);
  const known = state.keys.get(triggerIdOf(record)) ?? unrecordedUse(state, record);
  if (known.executionId === undefined) {
    known.executionId = record.executionId;
    known.how = record.how;
    known.attempts = [];
    known.place.runId = isKnown ? undefined : runId;
    known.place.isWhole &&= record.first === true;
  } else if (!isKnown) {
    state.places.push({ runId, isWhole: false });
  }
}

function unrecordedUse({ keys, places }: State, record: RecordOf<'accepted'>): KeyUse {
  const place: Place = { isWhole: false };
  const unrecorded: KeyUse = { at: record.at, attempts: [], place };
  places.push(place);
  keys.set(triggerIdOf(record), unrecorded);
  return unrecorded;
}

/** A refusal only ends its own attempt, because another process may have sent the same key. */
function resolve({ keys }: State, record: RecordOf<'refused' | 'reused_key' | 'superseded' | 'in_doubt'>): void {
  const known = keys.get(triggerIdOf(record));
  if (!known || !isUnresolved(known)) return;
  switch (record.type) {
    case 'superseded':
      known.isSuperseded = true;
      break;
    case 'reused_key':
      known.attempts = [];
      break;
    case 'refused':
      known.attempts = known.attempts.filter(({ attempt }) => attempt !== record.attempt);
      meetConflict(known, record);
      break;
    case 'in_doubt':
      doubt(known, record);
  }
}

function doubt(known: KeyUse, record: RecordOf<'in_doubt'>): void {
  known.reason = record.reason;
  meetConflict(known, record);
  if (!record.isLast) return;
  known.attempts = known.attempts.map((each) =>
    each.attempt === record.attempt ? { ...each, process: undefined } : each,
  );
}

function meetConflict(known: KeyUse, { name, activeExecutionId }: RecordOf<'refused' | 'in_doubt'>): void {
  if (name === 'already_active')
    known.conflict = { activeExecutionId: activeExecutionId ?? known.conflict?.activeExecutionId };
}

function observe(state: State, record: RecordOf<'status' | 'not_found'>): void {
  const runId = runIdOf(record);
  const isKnown = state.runs.has(runId);
  updateRun(state.runs, record);
  if (!isKnown) state.places.push({ runId, isWhole: record.first === true });
}

type RunRecord = RecordOf<'accepted' | 'status' | 'not_found'>;

/** Adds a record to what is known of its run. The first final status stays. */
export function updateRun(runs: State['runs'], record: RunRecord): void {
  const id = runIdOf(record);
  const { baseUrl, target, executionId, at } = record;
  const known: RunEntry = runs.get(id) ?? { kind: 'forgotten', baseUrl, target, executionId, at };
  if (record.type !== 'not_found') runs.set(id, withOrigin(known, record));
  else if (known.kind === 'run' && !known.isFinal) runs.set(id, withoutStatus(known));
  else runs.set(id, known);
}

function withOrigin(known: RunEntry, record: RecordOf<'accepted' | 'status'>): KnownRun {
  const run = reported(known, record, record.at);
  if (record.type === 'status' || known.idempotencyKey !== undefined) return run;
  const { idempotencyKey, at, account } = record;
  return { ...run, idempotencyKey, at, account };
}

function withoutStatus({ status: _, isFinal: __, statusAt: ___, ...known }: KnownRun): RunEntry {
  return { ...known, kind: 'forgotten' };
}

type StatusReport = Partial<
  Pick<RecordOf<'status'>, 'status' | 'startedAt' | 'completedAt' | 'creditsCharged' | 'error'>
>;

/** What is known of a run after a report at this time. A report without a status means RUNNING. */
export function reported(known: RunEntry, report: StatusReport, statusAt: string): KnownRun {
  const isOver = known.kind === 'run' && known.isFinal;
  const status = isOver ? known.status : (report.status ?? 'RUNNING');
  return {
    ...known,
    kind: 'run',
    status,
    isFinal: isFinalStatus(status),
    statusAt,
    startedAt: report.startedAt ?? known.startedAt,
    completedAt: report.completedAt ?? known.completedAt,
    creditsCharged: report.creditsCharged ?? known.creditsCharged,
    error: report.error ?? known.error,
  };
}

/** `use` must have an attempt without an outcome. */
export function unresolvedOf({ attempts, isSuperseded, reason, conflict }: KeyUse): UnresolvedTrigger {
  const [oldest] = attempts;
  if (!oldest) throw new Error('every attempt of this trigger has an outcome');
  const { baseUrl, account, target, idempotencyKey, body, userProvided, at } = oldest;
  const senders = attempts.flatMap(({ process, at }) => (process ? [{ process, at }] : []));
  const known = { baseUrl, account, target, idempotencyKey, body, userProvided, at, reason, conflict };
  return { kind: 'unresolved', ...known, senders, isSuperseded };
}
