import type { Trigger, TriggerJournal } from '../run/ports.ts';
import type { Journal, NewRecord } from './journal.ts';

export interface TriggerJournalOptions {
  journal: Journal;
  /** The fingerprint of the API key. */
  apiKey: string;
  areKeysIgnored: boolean;
  newId(): string;
  /** Hides secrets in what the service said. */
  scrub(text: string): string;
  /** Is called once, if the journal can't be written. */
  onUnwritable(error: Error): void;
}

/** The journal as the core uses it: it never throws, because a run must not be lost by a full disk. */
export function createTriggerJournal(options: TriggerJournalOptions): TriggerJournal {
  const { journal, apiKey, areKeysIgnored, newId, scrub, onUnwritable } = options;
  const firstFiles = new Map<string, number>(); // by minted key: nothing of it is in older files
  const lastStatuses = new Map<string, string>(); // by run
  let hasWarned = false;

  /** Returns the number of the file. Undefined if it can't be written. */
  function append(record: NewRecord, isDurable = true): number | undefined {
    try {
      return journal.append(record, { isDurable });
    } catch (error) {
      if (!hasWarned) onUnwritable(error as Error);
      hasWarned = true;
      return undefined;
    }
  }

  /** What the journal has, so that `status` in a loop doesn't fill it. */
  function recordedStatus(executionId: string): string | undefined {
    if (lastStatuses.has(executionId)) return lastStatuses.get(executionId);
    try {
      const entry = journal.recent().find((each) => each.executionId === executionId);
      if (!entry) return undefined;
      return entry.status ? `${entry.status.status} ${entry.status.reason ?? ''}` : 'RUNNING ';
    } catch {
      return undefined;
    }
  }

  return {
    async appendSent({ automation, idempotencyKey: key, isKeyGiven }, { repeats }) {
      const id = newId();
      const sent = { id, key, isKeyGiven, repeats, apiKey, areKeysIgnored };
      const file = append({ type: 'sent', automation, ...sent });
      if (file !== undefined && !isKeyGiven && !repeats) firstFiles.set(key, file);
      return { sentId: id, isWritten: file !== undefined };
    },
    async appendRefused({ automation, idempotencyKey: key }, sentId, { why, isListed }) {
      const { kind, reason } = why;
      append({ type: 'refused', automation, key, sentId, kind, reason, isListed });
    },
    async appendAccepted({ automation, idempotencyKey: key }, executionId) {
      append({ type: 'accepted', automation, key, executionId });
    },
    appendStatus({ automation, executionId }, { status, isFinal, ...facts }, error) {
      const reason = error === undefined ? undefined : scrub(error).replace(/\s+/g, ' ');
      const summary = `${status} ${reason ?? ''}`;
      if (recordedStatus(executionId) === summary) return;
      lastStatuses.set(executionId, summary);
      const { startedAtMs, completedAtMs, creditsCharged } = facts;
      const times = { startedAtMs, completedAtMs, creditsCharged };
      append({ type: 'status', automation, executionId, status, isFinal, ...times, reason }, false);
    },
    async look({ automation, idempotencyKey }: Trigger) {
      try {
        const entries = journal.search(idempotencyKey, firstFiles.get(idempotencyKey));
        const entry = entries.find(
          (each) =>
            each.trigger?.idempotencyKey === idempotencyKey &&
            each.automation.projectId === automation.projectId &&
            each.automation.name === automation.name,
        );
        const openSents = entry?.trigger?.openSents.map(({ id }) => id) ?? [];
        return { executionId: entry?.executionId, openSents };
      } catch {
        return undefined;
      }
    },
  };
}
