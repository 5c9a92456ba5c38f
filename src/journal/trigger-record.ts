import { exitNameOf } from '../problems/fault-facts.ts';
import { defaults } from '../runs/defaults.ts';
import type { TriggerIdentity, TriggerRecord } from '../runs/trigger.ts';
import type { Journal } from './journal.ts';

/** A trigger that is about to be sent. */
export interface SentTrigger extends TriggerIdentity {
  /** The exact bytes of the request. */
  body: string;
  /** Is the trigger in the journal, unresolved, and sent once more? */
  isRepeat: boolean;
}

/** Keeps one attempt to trigger a run in the journal. */
export function createTriggerRecord(journal: Journal, trigger: SentTrigger): TriggerRecord {
  const { baseUrl, target, idempotencyKey, account, body, userProvided, isRepeat } = trigger;
  const key = { baseUrl, target, idempotencyKey };
  const attempt = crypto.randomUUID();
  let isWritten = false;
  let isInDoubt = isRepeat;

  return {
    intent: writeTriggered,
    inDoubt(fault) {
      isInDoubt = true;
      journal.append({ type: 'in_doubt', ...key, reason: fault.message });
    },
    started({ executionId, startedAt, status }) {
      // A full disk may have room again.
      if (!isWritten) writeTriggered();
      // No one else can know the run of an idempotency key that we made and whose answer came at once.
      const isNew = !(userProvided || isInDoubt) || journal.find(executionId, { baseUrl, fresh: true }) === undefined;
      journal.append({ type: 'accepted', ...key, executionId, startedAt, status, first: isNew || undefined });
    },
    refused(fault) {
      // Whatever was sent with a key that something else had used was answered with that.
      if (fault.kind === 'reused_key') journal.append({ type: 'forgotten', ...key });
      return journal.append({ type: 'refused', ...key, name: exitNameOf(fault), attempt });
    },
    readKey() {
      const known = journal.findKey(key);
      return known?.state === 'open' ? { state: 'open', ageMs: known.trigger.ageMs } : known;
    },
    mayBeOfAnother(executionId) {
      const known = journal.find(executionId, { baseUrl, fresh: true });
      const unresolved = journal.unresolvedTriggers({ baseUrl, target, maxAgeMs: defaults.keyRetentionMs });
      return (known ? [known, ...unresolved] : unresolved).some((other) => other.idempotencyKey !== idempotencyKey);
    },
  };

  function writeTriggered(): void {
    const first = isRepeat ? undefined : true;
    isWritten = journal.append({ type: 'triggered', ...key, attempt, account, body, userProvided, first });
  }
}
