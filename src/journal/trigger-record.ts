import { exitNameOf } from '../problems/fault-facts.ts';
import { randomUuid } from '../random-uuid.ts';
import type { TriggerIdentity } from '../triggering/send-until-known.ts';
import type { KeyTreatment, TriggerRecord } from '../triggering/trigger-record.ts';
import type { Journal } from './journal.ts';

interface SentTrigger extends TriggerIdentity {
  body: string;
  isRepeat: boolean;
  process?: string;
  ifActive?: string; // what the command does if it is refused because a run is active
}

export function createTriggerRecord(journal: Journal, trigger: SentTrigger): TriggerRecord {
  const { baseUrl, target, idempotencyKey, account, body, userProvided, isRepeat, process, ifActive } = trigger;
  const key = { baseUrl, target, idempotencyKey };
  const attempt = randomUuid();
  let isWritten = false;
  let isInDoubt = isRepeat;

  return {
    sending: writeTriggered,
    inDoubt(fault, { sentAtMs, isLast }) {
      isInDoubt = true;
      const sentAt = sentAtMs === undefined ? undefined : new Date(sentAtMs).toISOString();
      const ended = isLast ? ({ isLast } as const) : {};
      const { message: reason, executionId: activeExecutionId } = fault;
      const name = exitNameOf(fault);
      journal.append({ type: 'in_doubt', ...key, reason, name, activeExecutionId, attempt, sentAt, ...ended });
    },
    started({ executionId, startedAt, status }, { isByTime, isKeyHonored } = {}) {
      if (!isWritten) writeTriggered();
      const treatment = treatmentOf(executionId, isByTime) ?? (isKeyHonored ? 'honored' : undefined);
      if (treatment) recordTreatment(treatment);
      // No other process can know the run of a generated key if the response came at once.
      const isNew = !(userProvided || isInDoubt) || journal.find(executionId, { baseUrl, fresh: true }) === undefined;
      journal.append({
        type: 'accepted',
        ...key,
        attempt,
        account,
        executionId,
        startedAt,
        status,
        isByTime,
        first: isNew || undefined,
      });
    },
    refused(fault) {
      // Every attempt with a reused key got the run that had used it before.
      if (fault.kind === 'reused_key') journal.append({ type: 'reused_key', ...key });
      const { message: reason, executionId: activeExecutionId } = fault;
      const name = exitNameOf(fault);
      const then = name === 'already_active' && ifActive !== 'fail' ? { ifActive } : {};
      return journal.append({ type: 'refused', ...key, name, reason, activeExecutionId, attempt, ...then });
    },
    isRepeatable: () => target.family === 'agent' || journal.keysSeen(baseUrl)?.treatment !== 'ignored',
    readKey() {
      const known = journal.findKey(key);
      if (known?.state === 'open') return { state: 'open', ageMs: known.trigger.ageMs };
      return known && { state: 'accepted', executionId: known.executionId, isByTime: known.isByTime };
    },
    isOfAnother(executionId) {
      const known = journal.find(executionId, { baseUrl, fresh: true });
      return known !== undefined && known.idempotencyKey !== null && known.idempotencyKey !== idempotencyKey;
    },
  };

  /** If a key whose run is known gets another run, with the same API key, the service ignores idempotency keys. */
  function treatmentOf(executionId: string, isByTime?: true): KeyTreatment | undefined {
    const known = userProvided || isInDoubt ? journal.findKey(key) : undefined;
    if (known?.state !== 'accepted' || known.account !== account || known.isByTime || isByTime) return undefined;
    return known.executionId.toLowerCase() === executionId.toLowerCase() ? 'honored' : 'ignored';
  }

  function recordTreatment(treatment: KeyTreatment): void {
    // For Agents, the service's behavior is documented.
    if (target.family === 'agent' || journal.keysSeen(baseUrl)?.treatment === treatment) return;
    journal.append({ type: 'keys_seen', baseUrl, target, treatment });
  }

  function writeTriggered(): void {
    const first = isRepeat ? undefined : true;
    isWritten = journal.append({ type: 'triggered', ...key, attempt, account, body, userProvided, process, first });
  }
}
