import { isCompleted, isFinal, type Run, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { isKnown, type KnownState, learn } from './known-state.ts';
import { type LogOptions, openLog } from './log.ts';
import { type OpenIntent, openIntentOf } from './open-intent.ts';
import {
  isOfTrigger,
  type JournalRecord,
  type NewRecord,
  type Place,
  type Request,
  requestIdOf,
  runIdOf,
} from './record.ts';
import { isInState, isMatch, needleOf, type RunFilter } from './run-filter.ts';
import { type JournalRun, runsOf } from './runs-of.ts';
import { createSettledLines } from './settled-lines.ts';
import { pathOf } from './target-path.ts';
import { isOpen, triggersOf } from './triggers-of.ts';

export type { JournalRun } from './runs-of.ts';

/** What this machine knows of runs and triggers (contract §7). Nothing here throws: without a journal it knows nothing. */
export interface Journal {
  /** False when it could not be written. An intent is on disk when the call returns. */
  append(record: NewRecord): boolean;
  /** Records a state that the service told, unless it is known already. */
  sawState(baseUrl: string, run: Run, execution: Execution): void;
  /** Records that the service does not know a run, unless that may still be going. */
  missed(baseUrl: string, run: Run): void;
  /** Newest first; reads no further back than the caller asks. Triggers whose outcome is unknown are among them. */
  runs(filter?: RunFilter): Generator<JournalRun>;
  /** The first of `runs`: perhaps a trigger whose outcome is unknown, with no `executionId`. */
  last(filter: RunFilter): JournalRun | undefined;
  /** `anew` asks for what other processes have written by now, too: else a run may be remembered from an earlier look. */
  find(executionId: string, filter: { baseUrl: string; anew?: boolean }): JournalRun | undefined;
  /** Newest first; reads no further back than `maxAgeMs`. */
  openIntents(filter: IntentFilter): OpenIntent[];
  /** Under whatever API key, so that one that is replaced starts no second run; what is known under this one comes first. */
  findKey(request: Request): KeyState | undefined;
  /** How long the last completed runs of a target took, in milliseconds, newest first. */
  durations(filter: { baseUrl: string; target: Target }, limit: number): number[];
}

export interface IntentFilter {
  baseUrl: string;
  target?: Target;
  maxAgeMs?: number;
}

/** What is known of a key; one that was refused or forgotten is not. */
export type KeyState = { state: 'accepted'; executionId: string } | { state: 'open'; intent: OpenIntent };

const manyFinds = 16;

/** The service ends a run after three hours. Counted by this machine's clock: the service's may say anything. */
const surelyOverMs = 24 * 3_600_000;

export function openJournal(options: LogOptions): Journal {
  const log = openLog(options);
  // What this process wrote or read: it need not look again to know what the journal holds.
  const knownStates = new Map<string, KnownState>();
  const knownTriggers = new Set<string>();
  /** Every run there was when this process had asked for many: reading it all once is cheaper than searching it each time. */
  let index: Map<string, JournalRun> | undefined;
  let finds = 0;
  /** Those whose intent could not be written. */
  const unwrittenTriggers = new Set<string>();
  /** Those of a key minted here and never in doubt: no one can know the run that they start. */
  const newTriggers = new Set<string>();

  return { append, sawState, missed, runs, last, find, openIntents, findKey, durations };

  function append(record: NewRecord): boolean {
    const isTold = record.type === 'seen' || (record.type === 'accepted' && !newTriggers.has(idOf(record)));
    const known = isTold ? knownState(record) : undefined;
    if (record.type === 'seen' && known && isKnown(record, known)) return true;
    const place = placeOf(record, known);
    const isWritten = log.append(record, place);
    if (place === 'first' && record.type === 'intent' && !record.given) newTriggers.add(idOf(record));
    if (record.type === 'doubtful') newTriggers.delete(idOf(record));
    if (isWritten) remember(record);
    else if (place === 'first' && record.type === 'intent') unwrittenTriggers.add(idOf(record));
    return isWritten;
  }

  function placeOf(record: NewRecord, known: KnownState | undefined): Place | undefined {
    if (record.type === 'seen') return known === undefined ? 'first' : undefined;
    if (record.type === 'accepted') {
      if (known !== undefined) return 'known';
      return unwrittenTriggers.has(idOf(record)) ? 'first' : undefined;
    }
    if (record.type !== 'intent') return undefined;
    // A minted key is new; one that the user chose may be in use elsewhere.
    if (record.given) findKey(record);
    return knownTriggers.has(idOf(record)) ? undefined : 'first';
  }

  function remember(record: NewRecord): void {
    if (record.type === 'seen' || record.type === 'accepted') {
      const id = runIdOf(record);
      knownStates.set(id, learn(record, knownStates.get(id)));
    }
    if (record.type === 'gone') knownStates.set(runIdOf(record), {});
    if (record.type === 'intent') knownTriggers.add(idOf(record));
    if (record.type === 'refused' || record.type === 'forgotten') knownTriggers.delete(idOf(record));
  }

  function knownState(record: { baseUrl: string; executionId: string }): KnownState | undefined {
    const id = runIdOf(record);
    if (!knownStates.has(id)) find(record.executionId, record);
    return knownStates.get(id);
  }

  function sawState(baseUrl: string, { target, executionId }: Run, execution: Execution): void {
    const { status, startedAt, completedAt, creditsCharged } = execution;
    append({ type: 'seen', baseUrl, target, executionId, status, startedAt, completedAt, creditsCharged });
  }

  function missed(baseUrl: string, { target, executionId }: Run): void {
    const known = find(executionId, { baseUrl });
    const isOver = known && options.nowMs() - Date.parse(known.at) > surelyOverMs;
    if (isOver && known.status !== null && !isFinal(target, known.status))
      append({ type: 'gone', baseUrl, target, executionId });
  }

  function* runs(filter: RunFilter = {}): Generator<JournalRun> {
    for (const run of runsOf(matching(log.read({ needle: needleOf(filter) }), filter))) {
      if (isInState(run, filter)) yield run;
    }
  }

  function last(filter: RunFilter): JournalRun | undefined {
    const [run] = runs(filter);
    return run;
  }

  function find(executionId: string, { baseUrl, anew }: { baseUrl: string; anew?: boolean }): JournalRun | undefined {
    const id = runIdOf({ baseUrl, executionId });
    if (!anew) finds += 1;
    if (finds > manyFinds) index ??= new Map([...runs()].map((run) => [indexOf(run), run]));
    const isFromIndex = index !== undefined && !anew;
    const run = isFromIndex ? index?.get(id) : search(executionId, baseUrl);
    // What this process has written since the index was made is the newer.
    if (run && !(isFromIndex && knownStates.has(id))) knownStates.set(id, run);
    return run;
  }

  function search(executionId: string, baseUrl: string): JournalRun | undefined {
    const [run] = runsOf(storyOf(executionId, log.read({ needle: JSON.stringify(executionId) }), baseUrl));
    return run;
  }

  function openIntents({ maxAgeMs = Number.POSITIVE_INFINITY, ...filter }: IntentFilter): OpenIntent[] {
    // Every line of a trigger holds a key.
    const needle = needleOf(filter) ?? '"idempotencyKey"';
    const sinceMs = options.nowMs() - maxAgeMs;
    const since = sinceMs > 0 ? new Date(sinceMs).toISOString() : undefined;
    const records = log.read({ needle, since, isWanted: createSettledLines() });
    const open = [...triggersOf(matching(records, filter)).values()].filter(isOpen);
    for (const { intent } of open) knownTriggers.add(requestIdOf(intent));
    return open.map((trigger) => openIntentOf(trigger, options.nowMs())).filter(({ ageMs }) => ageMs <= maxAgeMs);
  }

  function findKey(request: Request): KeyState | undefined {
    const { baseUrl, target, idempotencyKey } = request;
    const id = idOf(request);
    const triggers = triggersOf(
      ofKey(idempotencyKey, log.read({ needle: JSON.stringify(idempotencyKey) }), { baseUrl, target }),
    );
    const ours = triggers.get(id) ?? {};
    if (ours.accepted || isOpen(ours)) knownTriggers.add(id);
    else knownTriggers.delete(id);
    const all = [ours, ...triggers.values()];
    const { accepted } = all.find((trigger) => trigger.accepted) ?? {};
    if (accepted) return { state: 'accepted', executionId: accepted.executionId };
    const open = all.find(isOpen);
    return open && { state: 'open', intent: openIntentOf(open, options.nowMs()) };
  }

  function durations(filter: { baseUrl: string; target: Target }, limit: number): number[] {
    const found: number[] = [];
    for (const { target, status, startedAt, completedAt } of runs(filter)) {
      if (found.length >= limit) break;
      const hasCompleted = status !== null && isFinal(target, status) && isCompleted(status);
      const durationMs = Date.parse(completedAt ?? '') - Date.parse(startedAt ?? '');
      if (hasCompleted && durationMs >= 0) found.push(durationMs);
    }
    return found;
  }
}

function* matching(records: Iterable<JournalRecord>, filter: RunFilter): Generator<JournalRecord> {
  for (const record of records) if (isMatch(record, filter)) yield record;
}

function* ofKey(key: string, records: Iterable<JournalRecord>, filter: RunFilter): Generator<JournalRecord> {
  for (const record of matching(records, filter)) {
    if (isOfTrigger(record) && record.idempotencyKey === key) yield record;
  }
}

/** The records of one run, back to the one whose writer had found no older. */
function* storyOf(executionId: string, records: Iterable<JournalRecord>, baseUrl: string): Generator<JournalRecord> {
  for (const record of matching(records, { baseUrl })) {
    if ((isOfTrigger(record) && record.type !== 'accepted') || record.executionId !== executionId) continue;
    yield record;
    if (record.type === 'accepted' ? record.place !== 'known' : record.place === 'first') return;
  }
}

const indexOf = ({ baseUrl, executionId }: JournalRun) => runIdOf({ baseUrl, executionId: executionId ?? '' });

const idOf = (request: Request) => requestIdOf({ ...request, target: pathOf(request.target) });
