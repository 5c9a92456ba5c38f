import { exitNameOf } from '../problems/fault-facts.ts';
import { randomUuid } from '../random-uuid.ts';
import type { TriggerIdentity } from '../triggering/trigger.ts';
import type { TriggerRecord } from '../triggering/trigger-record.ts';
import type { Journal } from './journal.ts';

interface SentTrigger extends TriggerIdentity {
  body: string;
  isRepeat: boolean;
  process?: string;
}

export function createTriggerRecord(journal: Journal, trigger: SentTrigger): TriggerRecord {
  const { baseUrl, target, idempotencyKey, account, body, userProvided, isRepeat, process } = trigger;
  const key = { baseUrl, target, idempotencyKey };
  const attempt = randomUuid();
  let isWritten = false;
  let isInDoubt = isRepeat;

  return {
    sending: writeTriggered,
    inDoubt(fault, { sentAtMs, isLast }) {
      isInDoubt = true;
      const sentAt = sentAtMs === undefined ? undefined : new Date(sentAtMs).toISOString();
      const ended = isLast ? ({ attempt, isLast } as const) : {};
      journal.append({ type: 'in_doubt', ...key, reason: fault.message, sentAt, ...ended });
    },
    started({ executionId, startedAt, status }) {
      if (!isWritten) writeTriggered();
      // No other process can know the run of a key that we generated and whose answer came at once.
      const isNew = !(userProvided || isInDoubt) || journal.find(executionId, { baseUrl, fresh: true }) === undefined;
      journal.append({ type: 'accepted', ...key, account, executionId, startedAt, status, first: isNew || undefined });
    },
    refused(fault) {
      // Every attempt with a reused key was answered with the run that had used it.
      if (fault.kind === 'reused_key') journal.append({ type: 'forgotten', ...key });
      return journal.append({ type: 'refused', ...key, name: exitNameOf(fault), attempt });
    },
    readKey() {
      const known = journal.findKey(key);
      return known?.state === 'open' ? { state: 'open', ageMs: known.trigger.ageMs } : known;
    },
    isOfAnother(executionId) {
      const known = journal.find(executionId, { baseUrl, fresh: true });
      return known !== undefined && known.idempotencyKey !== null && known.idempotencyKey !== idempotencyKey;
    },
  };

  function writeTriggered(): void {
    const first = isRepeat ? undefined : true;
    isWritten = journal.append({ type: 'triggered', ...key, attempt, account, body, userProvided, process, first });
  }
}
