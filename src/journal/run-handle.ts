import { documentOfEntry, type KnownRun, type RunEntry } from '../run/entry.ts';
import type { RunHandle } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Clock } from '../system/clock.ts';

/**
 * A run with what the journal knows of it. Another process may have triggered it, so its age is by
 * the wall clock.
 */
export function runHandleOf(run: Run, entry: RunEntry | undefined, clock: Clock): RunHandle {
  if (!entry) return { run };
  const sinceMs = (time: string) => clock.nowMs() - Date.parse(time);
  const { idempotencyKey, at } = entry;
  return {
    run,
    ...(entry.kind === 'run' && {
      lastConfirmed: () => ({ snapshot: snapshotIn(entry), ageMs: sinceMs(entry.statusAt) }),
    }),
    ...(idempotencyKey !== undefined && { sinceTriggerMs: () => sinceMs(at) }),
  };
}

/** What the journal knows of a run, as the service would report it. */
export function snapshotIn(entry: KnownRun): RunSnapshot {
  const { executionId, status, isFinal, startedAt, completedAt, creditsCharged } = entry;
  const document = documentOfEntry(entry);
  return { executionId, status, isFinal, startedAt, completedAt, creditsCharged, document };
}
