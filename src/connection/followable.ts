import type { JournalRun } from '../journal/journal.ts';
import { fullArgumentOf } from '../run/quote.ts';
import type { Run } from '../run/run.ts';
import type { Execution } from '../run/service.ts';
import type { Clock } from '../system/clock.ts';
import type { Followable } from '../watching/watch-run.ts';
import type { Connection } from './connection.ts';

/** The run as an argument of a suggested command: its full name if the journal doesn't have it, and in CI. */
export function argumentOf(
  { target, executionId }: Run,
  { journal, baseUrl, context }: Pick<Connection, 'journal' | 'baseUrl' | 'context'>,
): string {
  const { CI, GITHUB_ACTIONS } = context.env;
  const isHere = !CI && !GITHUB_ACTIONS && journal.find(executionId, { baseUrl }) !== undefined;
  return isHere ? executionId : fullArgumentOf({ target, executionId });
}

/** A run in the journal. Another process may have triggered it, so its age is by the wall clock. */
export function followableOf(run: Run, record: JournalRun | undefined, clock: Clock): Followable {
  if (!record) return { run };
  const sinceMs = (time: string) => () => clock.nowMs() - Date.parse(time);
  const { status, statusAt = record.at } = record;
  const execution = executionIn(record);
  return {
    run,
    ...(status !== null && { seenBefore: () => ({ execution, ageMs: sinceMs(statusAt)() }) }),
    ...(record.idempotencyKey && { sinceTriggerMs: sinceMs(record.at) }),
  };
}

/** What the journal knows of a run, in the form in which the service says it. */
export function executionIn({ isFinal, ...record }: JournalRun): Execution {
  const facts = {
    executionId: record.executionId ?? undefined,
    status: record.status ?? '',
    startedAt: record.startedAt ?? undefined,
    completedAt: record.completedAt ?? undefined,
    creditsCharged: record.creditsCharged ?? undefined,
  };
  return { ...facts, isFinal, document: facts };
}
