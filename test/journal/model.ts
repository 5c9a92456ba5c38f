import { isOfTrigger, type JournalRecord } from '../../src/journal/record.ts';
import type { JournalRun } from '../../src/journal/runs-of.ts';
import { targetOf } from '../../src/journal/target-path.ts';
import { isFinal } from '../../src/runs/run.ts';

type Known = Pick<JournalRun, 'executionId' | 'status' | 'completedAt' | 'idempotencyKey' | 'at'>;

interface Place {
  /** Undefined while the trigger is refused or forgotten. */
  run?: Known;
}

export interface ModelTrigger {
  state: 'open' | 'accepted' | 'refused' | 'forgotten';
  place: Place;
  /** Those without an outcome, and when each was first sent. */
  attempts: Map<string | undefined, string>;
}

/** What a journal says, told the plain way: from its first record to its last. One account, one address. */
export function modelOf(records: readonly JournalRecord[]) {
  const places: Place[] = [];
  const byRun = new Map<string, Known>();
  const triggers = new Map<string, ModelTrigger>();

  for (const record of records) {
    if (!isOfTrigger(record)) {
      const known = byRun.get(record.executionId);
      const run = known ?? { executionId: record.executionId, ...unknown, at: record.at };
      if (!known) places.push({ run });
      byRun.set(record.executionId, run);
      if (record.type === 'seen') learn(run, record);
      else if (!isOver(run, record)) run.status = null;
      continue;
    }
    const trigger = triggers.get(record.idempotencyKey);
    if (record.type === 'intent') {
      const { attempt, at } = record;
      if (trigger?.state === 'open' && !trigger.attempts.has(attempt)) trigger.attempts.set(attempt, at);
      if (trigger?.state === 'open' || trigger?.state === 'accepted') continue;
      const place = { run: { executionId: null, ...unknown, idempotencyKey: record.idempotencyKey, at } };
      places.push(place);
      triggers.set(record.idempotencyKey, { state: 'open', place, attempts: new Map([[attempt, at]]) });
    } else if (trigger && record.type === 'accepted') {
      const { executionId, idempotencyKey, at } = record;
      const known = byRun.get(executionId);
      const run = known ?? { executionId, ...unknown, at };
      if (run.idempotencyKey === null) Object.assign(run, { idempotencyKey, at });
      if (trigger.state !== 'accepted') trigger.place.run = known ? undefined : run;
      trigger.state = 'accepted';
      byRun.set(executionId, run);
      learn(run, record);
    } else if (trigger && trigger.state !== 'accepted' && (record.type === 'refused' || record.type === 'forgotten')) {
      if (record.type === 'forgotten') trigger.attempts.clear();
      else trigger.attempts.delete(record.attempt);
      const [oldest] = trigger.attempts.values();
      if (oldest === undefined) {
        trigger.state = record.type;
        trigger.place.run = undefined;
      } else if (trigger.place.run) {
        trigger.place.run.at = oldest;
      }
    }
  }
  return { runs: places.flatMap(({ run }) => run ?? []).reverse(), byRun, triggers };

  function learn(run: Known, record: Extract<JournalRecord, { type: 'seen' | 'accepted' }>): void {
    if (!isOver(run, record)) run.status = record.status ?? 'RUNNING';
    if (record.type === 'seen') run.completedAt ??= record.completedAt ?? null;
  }
}

const isOver = ({ status }: Known, { target }: JournalRecord) => status !== null && isFinal(targetOf(target), status);

const unknown = { status: null, completedAt: null, idempotencyKey: null };
