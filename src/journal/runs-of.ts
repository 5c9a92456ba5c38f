import { isFinal, type Target } from '../runs/run.ts';
import { attemptIdOf, isOfTrigger, type JournalRecord, requestIdOf, runIdOf } from './record.ts';
import { targetOf } from './target-path.ts';

/** A run as the journal knows it, or a trigger whose outcome is unknown: then `executionId` and `status` are null. */
export interface JournalRun {
  baseUrl: string;
  target: Target;
  executionId: string | null;
  /** The last one known; a final one stays, whatever was recorded later. Null too where the service forgot the run before it told its end. */
  status: string | null;
  startedAt: string | null;
  completedAt: string | null;
  creditsCharged: number | null;
  /** Null for a run that this machine did not start. */
  idempotencyKey: string | null;
  /** When the trigger was accepted, or sent while it is open; else when the run was first seen. ISO 8601. */
  at: string;
}

type RunRecord = Extract<JournalRecord, { type: 'accepted' | 'seen' | 'gone' }>;

/**
 * The runs and open triggers that records tell of, in the order of their first appearance: the newest first, as the
 * records must come. Each is yielded as soon as its first record is read.
 */
export function* runsOf(newestFirst: Iterable<JournalRecord>): Generator<JournalRun> {
  const runs = new Map<string, JournalRun>();
  const gone = new Set<JournalRun>();
  /** What newer records say of a trigger whose first record is still to come. */
  const triggers = new Map<string, JournalRun | 'closed'>();
  const refused = new Set<string>();
  const told = new Set<JournalRun>();
  /** Those whose first record is still to come; last the one whose oldest record is the oldest. */
  const waiting = new Set<JournalRun>();

  for (const record of newestFirst) {
    const run = runOf(record);
    if (!run || told.has(run)) continue;
    waiting.delete(run);
    if (record.place === 'first') {
      told.add(run);
      yield run;
    } else {
      waiting.add(run);
    }
  }
  // Their first records were lost.
  yield* waiting;

  function runOf(record: JournalRecord): JournalRun | undefined {
    if (record.type === 'doubtful') return undefined;
    if (!isOfTrigger(record)) return learn(record);
    const id = requestIdOf(record);
    const trigger = triggers.get(id);
    if (record.type === 'accepted') {
      const run = learn(record);
      if (trigger && trigger !== 'closed' && trigger.executionId === null) waiting.delete(trigger);
      // A run that was known before is not placed by this trigger.
      triggers.set(id, record.place === 'known' ? 'closed' : run);
      return run;
    }
    if (record.type === 'intent') {
      const isRefused = refused.has(attemptIdOf(record));
      if (trigger === 'closed' || (isRefused && !trigger) || isTold(trigger)) return undefined;
      const run = trigger ?? createRun(record, null);
      if (run.executionId === null && !isRefused) run.at = record.at;
      triggers.set(id, run);
      return run;
    }
    if (record.type === 'refused') refused.add(attemptIdOf(record));
    else if (!trigger || isTold(trigger)) triggers.set(id, 'closed');
    return undefined;
  }

  function isTold(trigger: JournalRun | 'closed' | undefined): boolean {
    return trigger !== undefined && trigger !== 'closed' && told.has(trigger);
  }

  function learn(record: RunRecord): JournalRun {
    const id = runIdOf(record);
    const run = runs.get(id) ?? createRun(record, record.executionId);
    runs.set(id, run);
    if (record.type === 'gone') {
      if (run.status === null) gone.add(run);
      return run;
    }
    // The interface (§3): a run that was accepted is RUNNING.
    const { status = 'RUNNING', startedAt } = record;
    if ((run.status === null && !gone.has(run)) || isFinal(run.target, status)) run.status = status;
    run.startedAt = startedAt ?? run.startedAt;
    if (record.type === 'accepted') {
      run.idempotencyKey = record.idempotencyKey;
      run.at = record.at;
    } else {
      run.completedAt = record.completedAt ?? run.completedAt;
      run.creditsCharged = record.creditsCharged ?? run.creditsCharged;
      if (run.idempotencyKey === null) run.at = record.at;
    }
    return run;
  }
}

function createRun(record: JournalRecord, executionId: string | null): JournalRun {
  return {
    baseUrl: record.baseUrl,
    target: targetOf(record.target),
    executionId,
    status: null,
    startedAt: null,
    completedAt: null,
    creditsCharged: null,
    idempotencyKey: record.type === 'intent' ? record.idempotencyKey : null,
    at: record.at,
  };
}
