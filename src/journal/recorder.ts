import type { Recorder, Trigger } from '../core/ports.ts';
import { isOvertaken, isSameAutomation } from '../core/run.ts';
import type { Journal, NewRecord } from './journal.ts';
import type { StatusRecord } from './records.ts';

export interface RecorderOptions {
  journal: Journal;
  /** A hash of the API key that triggers are sent with. */
  apiKeyHash: string;
  areKeysIgnored: boolean;
  newId(): string;
  /** Hides secrets in what the service said. */
  scrub(text: string): string;
  /** Is called once, if the journal can't be written. */
  onUnwritable(error: Error): void;
}

type LastStatus = Pick<StatusRecord, 'status' | 'isFinal' | 'reason'>;

/** The journal as the core uses it: it never throws, because a run must not be lost by a full disk. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { journal, apiKeyHash, areKeysIgnored, newId, scrub, onUnwritable } = options;
  const firstFiles = new Map<string, number>(); // by minted key: nothing of it is in older files
  const lastStatuses = new Map<string, LastStatus>(); // by run
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
  function lastStatus(executionId: string): LastStatus | undefined {
    if (lastStatuses.has(executionId)) return lastStatuses.get(executionId);
    try {
      return journal.recent().find((entry) => entry.executionId === executionId)?.status;
    } catch {
      return undefined;
    }
  }

  return {
    async appendSent({ automation, idempotencyKey: key, isKeyGiven }, { repeats }) {
      const id = newId();
      const sent = { id, key, isKeyGiven, repeats, apiKeyHash, areKeysIgnored };
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
      const last = lastStatus(executionId);
      const hasNewReason = reason !== undefined && reason !== last?.reason;
      const isSame = last?.status === status && last.isFinal === isFinal;
      const isNews = !isSame && !isOvertaken(last, { status, isFinal });
      if (!isNews && !hasNewReason) return;
      lastStatuses.set(executionId, { status, isFinal, reason });
      const { startedAtMs, completedAtMs, creditsCharged } = facts;
      const times = { startedAtMs, completedAtMs, creditsCharged };
      append({ type: 'status', automation, executionId, status, isFinal, ...times, reason }, false);
    },
    appendReported({ automation, idempotencyKey: key }, sentIds) {
      append({ type: 'reported', automation, key, sentIds });
    },
    async look(trigger) {
      try {
        return lookIn(trigger, journal, firstFiles.get(trigger.idempotencyKey));
      } catch {
        return undefined;
      }
    },
  };
}

function lookIn({ automation, idempotencyKey }: Trigger, journal: Journal, fromFile?: number) {
  const entry = journal
    .search(idempotencyKey, fromFile)
    .find(
      (each) =>
        each.trigger?.idempotencyKey === idempotencyKey &&
        isSameAutomation(each.automation, automation),
    );
  const openSents = entry?.trigger?.openSents.map(({ id }) => id) ?? [];
  return { executionId: entry?.executionId, openSents };
}
