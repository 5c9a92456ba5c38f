import type { JsonObject } from '../system/json.ts';
import { defaults } from './limits.ts';
import type { Run, Target } from './run.ts';
import type { Trigger } from './trigger.ts';

/** What the records of the journal say together about one run or one trigger. Times are ISO 8601. */
export type Entry = RunEntry | UnresolvedTrigger;
export type RunEntry = KnownRun | NotFoundRun;

interface Recorded {
  baseUrl: string;
  target: Target;
  at: string; // when it was triggered or first seen
}

interface RecordedRun extends Recorded {
  executionId: string;
  idempotencyKey?: string; // if this machine started it
  account?: string; // fingerprint of the API key that started it
  startedAt?: string;
  completedAt?: string;
  creditsCharged?: number;
  error?: string; // its first line, if the result was read
}

/** A run with the status that was last recorded; the gravest final status stays. */
export interface KnownRun extends RecordedRun {
  kind: 'run';
  status: string;
  isFinal: boolean; // the status is final
  statusAt: string; // when that status was recorded
}

/** The service said that it doesn't know the run. A later status makes it known again. */
export interface NotFoundRun extends RecordedRun {
  kind: 'not_found';
}

/** A trigger whose outcome isn't known: it may have started a run. */
export interface UnresolvedTrigger extends Recorded, Trigger {
  kind: 'unresolved';
  attempts: readonly string[]; // the ids of those without an outcome, in the order of their records
  senders: readonly { process: string; at: string }[]; // the processes that may still send it, and since when
  reason?: string; // why it isn't known; undefined if runctl was killed first
  conflict?: { activeExecutionId?: string }; // a repeat was refused because a run was active, perhaps its own
  isSuperseded?: true; // a later trigger has a run, so nobody sends this one again
}

/** What became of an idempotency key, as far as it is recorded. */
export type RecordedKey = { kind: 'run'; executionId: string } | UnresolvedTrigger;

export const clockSkewMs = 300_000; // how wrong a synchronized clock may be

/** How long ago that was. Infinite if the clock was set back. */
export function ageOf({ at }: { at: string }, nowMs: number): number {
  const sinceMs = nowMs - Date.parse(at);
  return sinceMs < -clockSkewMs ? Number.POSITIVE_INFINITY : sinceMs;
}

/**
 * Only what is younger than this can be open: an unfinished run, a trigger without an outcome. A run takes three
 * hours at most, and later the service may have dropped the idempotency key.
 */
export const openMs = defaults.keyRetentionMs;
export const isOpen = ({ at }: { at: string }, nowMs: number): boolean => nowMs - Date.parse(at) < openMs;

export const isUnfinished = (entry: Entry): entry is KnownRun & { isFinal: false } =>
  entry.kind === 'run' && !entry.isFinal;

/** The run that an entry of the journal is about. */
export const runOf = ({ target, executionId }: RunEntry): Run => ({ target, executionId });

/** Undefined for a trigger without a known run. */
export const executionIdOf = (entry: Entry): string | undefined =>
  entry.kind === 'unresolved' ? undefined : entry.executionId;

/** How it stands, in the word of the service or in ours. */
export function statusOf(entry: Entry): string {
  if (entry.kind === 'run') return entry.status;
  return entry.kind === 'unresolved' ? 'UNKNOWN' : 'NOT_FOUND';
}

/** What the journal knows of a run, in the form in which the service says it. */
export function documentOfEntry(entry: RunEntry): JsonObject {
  const { startedAt, completedAt, creditsCharged } = entry;
  const status = entry.kind === 'run' ? entry.status : undefined;
  const fields = Object.entries({ status, startedAt, completedAt, creditsCharged });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
