import type { Failure } from '../run/failure.ts';
import type { Automation } from '../run/run.ts';

/** One `sent` record that counts and that no `refused` has closed. */
export interface OpenSent {
  id: string;
  atMs: number;
  /** The fingerprint of the API key it was sent with. */
  apiKey: string;
  /** The setting `idempotencyKeys` at that time. */
  areKeysIgnored: boolean;
  /** `recover` has told somebody about it. */
  isReported: boolean;
}

/** What the journal's records together say of one trigger, or of one run that was only watched. */
export interface JournalEntry {
  baseUrl: string;
  automation: Automation;
  /** Larger is newer: the place of its last `sent` that counts, else of its first record. */
  place: number;
  /** When it was first sent or seen, in milliseconds since 1970. */
  atMs: number;
  /** Absent of a run that was only watched. */
  trigger?: { idempotencyKey: string; isKeyGiven: boolean; openSents: readonly OpenSent[] };
  executionId?: string;
  /** The last one that was recorded. */
  status?: {
    status: string;
    isFinal: boolean;
    atMs: number;
    startedAtMs?: number;
    completedAtMs?: number;
    creditsCharged?: number;
    /** The error of a run that failed: one line. */
    reason?: string;
  };
  /** Why it started no run; only if `list` shows it as NOT_STARTED. */
  notStarted?: Failure;
}

/** It may have started a run, and nobody knows. */
export const isUnknown = ({ executionId, trigger }: JournalEntry): boolean =>
  executionId === undefined && trigger !== undefined && trigger.openSents.length > 0;

/** It is unknown, and `recover` hasn't yet said what to look for. */
export const stillCounts = (entry: JournalEntry): boolean =>
  isUnknown(entry) && (entry.trigger?.openSents.some(({ isReported }) => !isReported) ?? false);
