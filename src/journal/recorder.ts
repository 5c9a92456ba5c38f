import { type Attribution, attributions } from '../run/attribution.ts';
import type { RecordedKey } from '../run/entry.ts';
import { exitNameOfFault, type Fault } from '../run/fault.ts';
import { randomUuid } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import type { Journal } from './journal.ts';

/**
 * What must be recorded of a trigger, and when: a crash between two calls leaves what `recover`
 * needs.
 */
export interface Recorder {
  /** Called before the first byte is sent. The record is on disk when this returns. */
  triggered(): void;
  /** Has another process recorded the same idempotency key first, at the same time as this one? */
  isTaken(): boolean;
  /** The attempt is in doubt. With `isLast`, this process won't send the trigger again. */
  inDoubt(fault: Fault, attempt: { isLast: boolean }): void;
  /** The service has returned a run. */
  accepted(run: RunSnapshot, attribution: Attribution): void;
  /** None of this command's attempts started a run. */
  refused(fault: Fault): void;
  /** What the journal has of the key, which another process may have sent, too. */
  readKey(): RecordedKey | undefined;
}

interface TriggerToRecord extends Trigger {
  wasSentBefore: boolean;
  /** What the journal had of this key when this command decided to send it. */
  earlierAttempts?: readonly string[];
  /** Its name from `Processes`. */
  process?: string;
}

/** Writes the records of one trigger to the journal. */
export function createRecorder(journal: Journal, trigger: TriggerToRecord): Recorder {
  const {
    baseUrl,
    target,
    idempotencyKey,
    userProvided,
    wasSentBefore,
    earlierAttempts = [],
  } = trigger;
  const key = { baseUrl, target, idempotencyKey };
  const attempt = randomUuid();
  let isWritten = false;
  /** Another process may have got the run of this key, so the journal may know it. */
  let mayHaveKnownRun = userProvided || wasSentBefore;

  return {
    triggered: writeTriggered,
    isTaken() {
      // Nobody else has a generated key.
      if (!userProvided && !wasSentBefore) return false;
      const recorded = journal.findKey(key);
      if (recorded?.kind !== 'unresolved') return recorded?.kind === 'run';
      const own = recorded.sendingIds.indexOf(attempt);
      const before = own === -1 ? recorded.sendingIds : recorded.sendingIds.slice(0, own);
      return before.some((id) => !earlierAttempts.includes(id));
    },
    inDoubt(fault, { isLast }) {
      mayHaveKnownRun = true;
      journal.append({
        type: 'in_doubt',
        ...key,
        ...failureFields(fault),
        attempt,
        isLast: isLast || undefined,
      });
    },
    accepted(run, attribution) {
      if (!isWritten) writeTriggered();
      const { how } = attributions[attribution];
      // No other process can know the run of a generated key if the response came at once.
      const isNew =
        !mayHaveKnownRun || journal.find(run.executionId, { baseUrl, fresh: true }) === undefined;
      journal.append({ type: 'accepted', ...trigger, ...run, how, first: isNew || undefined });
    },
    refused(fault) {
      // Every attempt with a reused key got the run that had used it before.
      if (fault.kind === 'key_of_other_automation') journal.append({ type: 'reused_key', ...key });
      journal.append({ type: 'refused', ...key, ...failureFields(fault), attempt });
    },
    readKey: () => journal.findKey(key),
  };

  function writeTriggered(): void {
    const first = wasSentBefore ? undefined : true;
    isWritten = journal.append({ type: 'triggered', ...trigger, attempt, first });
  }
}

/** Why an attempt started no run, or may have started one. */
const failureFields = (fault: Fault) => ({
  name: exitNameOfFault(fault),
  reason: fault.message,
  activeExecutionId: fault.executionId,
});
