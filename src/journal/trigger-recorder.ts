import { exitNameOf } from '../run/fault.ts';
import { randomUuid } from '../run/run.ts';
import type { StartedExecution } from '../run/service.ts';
import type { TriggerIdentity } from '../triggering/send-until-known.ts';
import { starts } from '../triggering/start-evidence.ts';
import type { TriggerRecord } from '../triggering/trigger-record.ts';
import type { Journal } from './journal.ts';

interface SentTrigger extends TriggerIdentity {
  body: string;
  isRepeat: boolean;
  process?: string;
}

export function createTriggerRecord(journal: Journal, trigger: SentTrigger): TriggerRecord<StartedExecution> {
  const { baseUrl, target, idempotencyKey, account, body, userProvided, isRepeat, process } = trigger;
  const key = { baseUrl, target, idempotencyKey };
  const attempt = randomUuid();
  let isWritten = false;
  let isInDoubt = isRepeat;

  return {
    sending: writeTriggered,
    inDoubt(fault, { isLast }) {
      isInDoubt = true;
      const ended = isLast ? ({ isLast } as const) : {};
      const { message: reason, executionId: activeExecutionId } = fault;
      journal.append({
        type: 'in_doubt',
        ...key,
        reason,
        name: exitNameOf(fault),
        activeExecutionId,
        attempt,
        ...ended,
      });
    },
    started({ executionId, startedAt, status }, evidence) {
      if (!isWritten) writeTriggered();
      const { how } = starts[evidence];
      // No other process can know the run of a generated key if the response came at once.
      const isNew = !(userProvided || isInDoubt) || journal.find(executionId, { baseUrl, fresh: true }) === undefined;
      const first = isNew || undefined;
      journal.append({ type: 'accepted', ...key, account, executionId, startedAt, status, how, first });
    },
    refused(fault) {
      // Every attempt with a reused key got the run that had used it before.
      if (fault.kind === 'reused_key') journal.append({ type: 'reused_key', ...key });
      const { message: reason, executionId: activeExecutionId } = fault;
      journal.append({ type: 'refused', ...key, name: exitNameOf(fault), reason, activeExecutionId, attempt });
    },
    readKey() {
      const known = journal.findKey(key);
      if (known?.state === 'open') return { state: 'open', ageMs: known.trigger.ageMs };
      return known && { state: 'accepted', executionId: known.executionId };
    },
  };

  function writeTriggered(): void {
    const first = isRepeat ? undefined : true;
    isWritten = journal.append({ type: 'triggered', ...key, attempt, account, body, userProvided, process, first });
  }
}
