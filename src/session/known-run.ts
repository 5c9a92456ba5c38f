import type { JournalRun } from '../journal/journal.ts';
import { shellWord } from '../problems/problem.ts';
import type { Clock } from '../runs/clock.ts';
import type { Run } from '../runs/run.ts';
import type { Session } from './session.ts';

/** A run, and when this machine triggered it, if it did. */
export interface KnownRun {
  run: Run;
  triggeredAtMs?: number;
  /** Milliseconds since this process triggered it, on the clock that cannot be set. */
  sinceTriggerMs?(): number;
}

/** The run as an argument of a suggested command: in full if the journal lacks it, and in CI. */
export function argumentOf(
  { target, executionId }: Run,
  { journal, baseUrl, context }: Pick<Session, 'journal' | 'baseUrl' | 'context'>,
): string {
  const { CI, GITHUB_ACTIONS } = context.env;
  const isHere = !CI && !GITHUB_ACTIONS && journal.find(executionId, { baseUrl }) !== undefined;
  if (isHere || target.family === 'agent') return executionId;
  return shellWord(`${target.projectId}/${target.automationName}/${executionId}`);
}

/** Milliseconds since a run was triggered, if that is known; by the wall clock if another process triggered it. */
export function sinceTriggerOf(
  { sinceTriggerMs, triggeredAtMs }: Omit<KnownRun, 'run'>,
  clock: Clock,
): KnownRun['sinceTriggerMs'] {
  if (sinceTriggerMs || triggeredAtMs === undefined) return sinceTriggerMs;
  return () => clock.nowMs() - triggeredAtMs;
}

export function knownRun(record: JournalRun | undefined, run: Run): KnownRun {
  return { run, triggeredAtMs: record?.idempotencyKey ? Date.parse(record.at) : undefined };
}
