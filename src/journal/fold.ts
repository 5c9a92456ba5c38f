import type { Target } from '../run/run.ts';
import { isFinalStatus } from '../run/statuses.ts';
import { ageOf } from './age.ts';
import { type JournalRecord, type RecordOf, runIdOf, type TriggeredRecord, triggerIdOf } from './records.ts';

/** For an unresolved trigger, `executionId` and `status` are null. */
export interface JournalRun {
  baseUrl: string;
  target: Target;
  executionId: string | null;
  /** The first final status stays. It is also null if the service forgot the run before it reported how it ended. */
  status: string | null;
  isFinal: boolean; // the status is final
  startedAt: string | null;
  completedAt: string | null;
  creditsCharged: number | null;
  error?: string; // the first line of its error, if its result was read
  idempotencyKey: string | null; // null if this machine didn't start the run
  account?: string; // fingerprint of the API key that started the run
  isSuperseded?: true; // a later trigger has a run, so nobody sends this one again
  statusAt?: string; // when the status was last recorded
  at: string; // when the run was triggered or first seen, ISO 8601
}

export const isUnfinished = (run: JournalRun): run is JournalRun & { executionId: string; status: string } =>
  run.executionId !== null && run.status !== null && !run.isFinal;

/** The service said that it doesn't know the run. A later status makes it known again. */
export const isForgotten = (
  run: Pick<JournalRun, 'executionId' | 'status'>,
): run is JournalRun & { executionId: string; status: null } => run.executionId !== null && run.status === null;

export interface Trigger {
  at: string; // ISO 8601, like every time here
  attempts: RecordOf<'triggered'>[]; // the attempts without an outcome, oldest first
  superseded?: RecordOf<'triggered'>[]; // attempts whose outcome only matters if the idempotency key is used again
  executionId?: string; // the run that it started; never changes once known
  how?: RecordOf<'accepted'>['how']; // how it got that run
  reason?: string; // why an attempt is in doubt
  conflict?: { activeExecutionId?: string }; // a repeat was refused because a run was active
  entry: Entry;
}

interface Entry {
  run?: JournalRun; // undefined if the trigger started no run, or the run has its own entry
  isWhole: boolean; // its first records were folded, so no older record can change or move it
}

export interface State {
  runs: Map<string, JournalRun>; // by `runIdOf`
  triggers: Map<string, Trigger>; // in the order of their first unresolved attempts
  entries: Entry[]; // the list of runs and unresolved triggers, in the order of their first records
}

export function fold(records: Iterable<JournalRecord>): State {
  const state: State = { runs: new Map(), triggers: new Map(), entries: [] };
  for (const record of records) apply(state, record);
  return state;
}

/** Only the entries of runs, from records that name one, in half the time. */
export function runEntriesOf(records: Iterable<JournalRecord>): Entry[] {
  const runs: State['runs'] = new Map();
  const whole = new Set<JournalRun>();
  for (const record of records) {
    if (!('executionId' in record)) continue;
    const run = updateRun(runs, record);
    if (record.first) whole.add(run);
  }
  return Array.from(runs.values(), (run) => ({ run, isWhole: whole.has(run) }));
}

/** Adds one record to the state. Older records may be missing. */
function apply(state: State, record: JournalRecord): void {
  if (record.type === 'triggered') trigger(state, record);
  else if (record.type === 'accepted') accept(state, record);
  else if (record.type === 'status' || record.type === 'not_found') observe(state, record);
  else resolve(state, record);
}

export const isUnresolved = ({ attempts }: Trigger): boolean => attempts.length > 0;

/** Another attempt joins an unresolved trigger. After a refusal, the trigger starts over. */
function trigger({ triggers, entries }: State, record: RecordOf<'triggered'>): void {
  const id = triggerIdOf(record);
  const known = triggers.get(id);
  if (known?.executionId !== undefined) return;
  if (known && isUnresolved(known)) {
    known.attempts.push(record);
    return;
  }
  const entry: Entry = { run: createRun(record, null), isWhole: record.first === true };
  entries.push(entry);
  if (known) known.entry.run = undefined;
  // A `Map` keeps the order in which its keys were added.
  triggers.delete(id);
  const earlier = known?.superseded ?? [];
  triggers.set(id, { at: record.at, attempts: [...earlier, record], entry });
}

/** The run replaces its trigger, unless it was known before. */
function accept(state: State, record: RecordOf<'accepted'>): void {
  const isKnown = state.runs.has(runIdOf(record));
  const run = updateRun(state.runs, record);
  const known = state.triggers.get(triggerIdOf(record)) ?? unrecordedTrigger(state, record);
  if (known.executionId === undefined) {
    known.executionId = record.executionId;
    known.how = record.how;
    known.attempts = [];
    known.entry.run = isKnown ? undefined : run;
    known.entry.isWhole &&= record.first === true;
  } else if (!isKnown) {
    state.entries.push({ run, isWhole: false });
  }
}

function unrecordedTrigger({ triggers, entries }: State, record: RecordOf<'accepted'>): Trigger {
  const entry: Entry = { isWhole: false };
  const unrecorded: Trigger = { at: record.at, attempts: [], entry };
  entries.push(entry);
  triggers.set(triggerIdOf(record), unrecorded);
  return unrecorded;
}

/** A refusal only ends its own attempt, because another process may have sent the same key. */
function resolve({ triggers }: State, record: RecordOf<'refused' | 'reused_key' | 'superseded' | 'in_doubt'>): void {
  const known = triggers.get(triggerIdOf(record));
  if (!known || !isUnresolved(known)) return;
  if (record.type === 'in_doubt') doubt(known, record);
  if (record.type === 'superseded') {
    known.superseded = known.attempts;
    known.attempts = [];
    if (known.entry.run) known.entry.run.isSuperseded = true;
    return;
  }
  if (record.type === 'reused_key') known.attempts = [];
  if (record.type === 'refused') known.attempts = known.attempts.filter(({ attempt }) => attempt !== record.attempt);
  if (record.type === 'refused') meetConflict(known, record);
  const [oldest] = known.attempts;
  if (!oldest) known.entry.run = undefined;
  else if (known.entry.run) known.entry.run.at = oldest.at;
}

function doubt(known: Trigger, record: RecordOf<'in_doubt'>): void {
  known.reason = record.reason;
  meetConflict(known, record);
  if (!record.isLast) return;
  known.attempts = known.attempts.map((each) =>
    each.attempt === record.attempt ? { ...each, process: undefined } : each,
  );
}

function meetConflict(known: Trigger, { name, activeExecutionId }: RecordOf<'refused' | 'in_doubt'>): void {
  if (name === 'already_active')
    known.conflict = { activeExecutionId: activeExecutionId ?? known.conflict?.activeExecutionId };
}

function observe(state: State, record: RecordOf<'status' | 'not_found'>): void {
  const isKnown = state.runs.has(runIdOf(record));
  const run = updateRun(state.runs, record);
  if (!isKnown) state.entries.push({ run, isWhole: record.first === true });
}

export function updateRun(runs: State['runs'], record: RecordOf<'accepted' | 'status' | 'not_found'>): JournalRun {
  const id = runIdOf(record);
  const run = runs.get(id) ?? createRun(record, record.executionId);
  runs.set(id, run);
  if (record.type === 'not_found') {
    if (!run.isFinal) run.status = null;
    return run;
  }
  if (record.type === 'accepted' && run.idempotencyKey === null) {
    run.idempotencyKey = record.idempotencyKey;
    run.at = record.at;
    if (record.account !== undefined) run.account = record.account;
  }
  run.statusAt = record.at;
  return Object.assign(run, reportedOf(run, record));
}

/** What is known about a run after a report. A report without a status means RUNNING. */
export function reportedOf(known: JournalRun, report: StatusReport) {
  const status = known.isFinal && known.status !== null ? known.status : (report.status ?? 'RUNNING');
  return {
    status,
    isFinal: isFinalStatus(status),
    startedAt: report.startedAt ?? known.startedAt,
    completedAt: report.completedAt ?? known.completedAt,
    creditsCharged: report.creditsCharged ?? known.creditsCharged,
    error: report.error ?? known.error,
  };
}

type StatusReport = Partial<
  Pick<RecordOf<'status'>, 'status' | 'startedAt' | 'completedAt' | 'creditsCharged' | 'error'>
>;

function createRun(record: JournalRecord, executionId: string | null): JournalRun {
  return {
    baseUrl: record.baseUrl,
    target: record.target,
    executionId,
    status: null,
    isFinal: false,
    startedAt: null,
    completedAt: null,
    creditsCharged: null,
    idempotencyKey: record.type === 'triggered' ? record.idempotencyKey : null,
    at: record.at,
  };
}

export interface UnresolvedTrigger extends Omit<TriggeredRecord, 'type' | 'attempt' | 'baseUrl' | 'process'> {
  at: string;
  senders: { process: string; ageMs: number }[]; // the processes that may still send it, and since when
  ageMs: number; // infinite if the clock was set back
  reason?: string; // why the outcome is unknown; undefined if runctl was killed first
  conflict?: { activeExecutionId?: string }; // a repeat was refused because a run was active, perhaps its own
}

/** `trigger` must have an attempt without an outcome. */
export function unresolvedOf({ attempts, reason, conflict }: Trigger, nowMs: number): UnresolvedTrigger {
  const [oldest] = attempts;
  if (!oldest) throw new Error('every attempt of this trigger has an outcome');
  const { account, target, idempotencyKey, body, userProvided, at } = oldest;
  const senders = attempts.flatMap(({ process, at }) => (process ? [{ process, ageMs: ageOf(at, nowMs) }] : []));
  const known = { account, target, idempotencyKey, body, userProvided, at, reason, conflict };
  return { ...known, ageMs: ageOf(at, nowMs), senders };
}
