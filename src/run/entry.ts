import type { JsonObject } from '../system/json.ts';
import type { ActiveRunConflict } from './in-doubt.ts';
import { serviceLimits } from './limits.ts';
import type { Run, Target } from './run.ts';
import type { RunStatus } from './service.ts';
import type { Trigger } from './trigger.ts';

/**
 * Everything that the records of the journal say about one run or one trigger. Times are ISO 8601.
 */
export type Entry = RunEntry | UnresolvedTrigger;
export type RunEntry = KnownRun | NotFoundRun;

interface Recorded {
  baseUrl: string;
  target: Target;
  /** When it was triggered or first seen. */
  at: string;
}

interface RecordedRun extends Recorded {
  executionId: string;
  /** Undefined if this machine didn't start it. */
  idempotencyKey?: string;
  /** Fingerprint of the API key that started it. */
  account?: string;
  startedAt?: string;
  completedAt?: string;
  creditsCharged?: number;
  /** The first line of its error or `noError`, if its result was read. */
  error?: string;
}

/**
 * A run with the status that was recorded last. A final status is only replaced by a graver one.
 */
export interface KnownRun extends RecordedRun, RunStatus {
  kind: 'run';
  /** When that status was recorded. */
  statusAt: string;
}

/** The service said that it doesn't know the run. A later status makes it known again. */
export interface NotFoundRun extends RecordedRun {
  kind: 'not_found';
}

/** A trigger of which the journal has neither a run nor an end, so it may have started a run. */
export interface UnresolvedTrigger extends Recorded, Trigger {
  kind: 'unresolved';
  /** The ids of its sendings without a recorded end, in the order of their records. */
  sendingIds: readonly string[];
  /** The processes that may still send it, and since when. */
  senders: readonly { process: string; at: string }[];
  /** Why the last sending got no run. Undefined if runctl was killed before it knew. */
  reason?: string;
  /** A retry was refused because a run was active, which this trigger may have started. */
  conflict?: Omit<ActiveRunConflict, 'isOthers'>;
  /** A later trigger has a run, so this one isn't sent again. */
  isSuperseded?: true;
}

/** What the journal has of an idempotency key: its run, or its unresolved trigger. */
export type RecordedKey = { kind: 'run'; executionId: string } | UnresolvedTrigger;

/**
 * The error of a run that failed without one. It is recorded, because the result would be read again
 * and again.
 */
export const noError = '';

/** How wrong a synchronized clock may be. */
export const clockSkewMs = 300_000;

/**
 * The age of a record. It is infinite if the record is dated in the future, because then the clock
 * was set back.
 */
export function ageOf({ at }: { at: string }, nowMs: number): number {
  const ageMs = nowMs - Date.parse(at);
  return ageMs < -clockSkewMs ? Number.POSITIVE_INFINITY : ageMs;
}

/**
 * Only younger entries can be open. An older run has finished, because a run takes three hours at
 * most. An older trigger can't be sent again, because the service may have dropped its idempotency
 * key.
 */
export const maxOpenAgeMs = serviceLimits.keyRetentionMs;
export const isOpen = ({ at }: { at: string }, nowMs: number): boolean =>
  nowMs - Date.parse(at) < maxOpenAgeMs;

export const isUnfinished = (entry: Entry): entry is KnownRun & { isFinal: false } =>
  entry.kind === 'run' && !entry.isFinal;

/** The run that an entry of the journal is about. */
export const runOf = ({ target, executionId }: RunEntry): Run => ({ target, executionId });

/** The id of the run. Undefined for a trigger without a known run. */
export const executionIdOf = (entry: Entry): string | undefined =>
  entry.kind === 'unresolved' ? undefined : entry.executionId;

/**
 * The status of an entry: the one from the service, UNKNOWN for an unresolved trigger, or NOT_FOUND
 * for a run that the service doesn't know.
 */
export function statusOf(entry: Entry): string {
  if (entry.kind === 'run') return entry.status;
  return entry.kind === 'unresolved' ? 'UNKNOWN' : 'NOT_FOUND';
}

/** What the journal has of a run, as a document with the field names of the service. */
export function documentOfEntry(entry: RunEntry): JsonObject {
  const { startedAt, completedAt, creditsCharged } = entry;
  const status = entry.kind === 'run' ? entry.status : undefined;
  const fields = Object.entries({ status, startedAt, completedAt, creditsCharged });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
