import type { FailureKind } from '../run/failure.ts';
import type { Automation } from '../run/run.ts';

interface Common {
  /** Milliseconds since 1970. */
  atMs: number;
  baseUrl: string;
  projectId: string;
  name: string;
}

/** A trigger is about to be sent. */
export interface SentRecord extends Common {
  type: 'sent';
  id: string;
  key: string;
  isKeyGiven: boolean;
  /** It sends a trigger again that is unknown. */
  repeats: boolean;
  /** The fingerprint of the API key. */
  apiKey: string;
  areKeysIgnored: boolean;
}

/** What one `sent` sent has surely started nothing. */
export interface RefusedRecord extends Common {
  type: 'refused';
  key: string;
  sentId: string;
  /** A kind of failure, and one clause. */
  kind: FailureKind;
  reason: string;
  /** `list` shows it as NOT_STARTED. */
  isListed: boolean;
}

export interface AcceptedRecord extends Common {
  type: 'accepted';
  key: string;
  executionId: string;
}

/** `recover` has said what to look for, so nobody needs to hear of these again. */
export interface ReportedRecord extends Common {
  type: 'reported';
  key: string;
  sentIds: string[];
}

export interface StatusRecord extends Common {
  type: 'status';
  executionId: string;
  status: string;
  isFinal: boolean;
  startedAtMs?: number;
  completedAtMs?: number;
  creditsCharged?: number;
  /** The error of a run that failed: one line. */
  reason?: string;
}

export type JournalRecord =
  | SentRecord
  | RefusedRecord
  | AcceptedRecord
  | ReportedRecord
  | StatusRecord;

/** The fields that each type must have, with their types. */
const requiredFields: Record<JournalRecord['type'], Record<string, string>> = {
  sent: { id: 'string', key: 'string', apiKey: 'string' },
  refused: { key: 'string', sentId: 'string', kind: 'string', reason: 'string' },
  accepted: { key: 'string', executionId: 'string' },
  reported: { key: 'string', sentIds: 'object' },
  status: { executionId: 'string', status: 'string', isFinal: 'boolean' },
};
const commonFields = { atMs: 'number', baseUrl: 'string', projectId: 'string', name: 'string' };

/** Undefined for a torn or foreign line. */
export function parseRecord(line: string): JournalRecord | undefined {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isRecord(record) ? record : undefined;
}

function isRecord(record: unknown): record is JournalRecord {
  if (typeof record !== 'object' || record === null || !('type' in record)) return false;
  const { type } = record;
  if (typeof type !== 'string' || !Object.hasOwn(requiredFields, type)) return false;
  const fields = { ...commonFields, ...requiredFields[type as JournalRecord['type']] };
  const values = record as Record<string, unknown>;
  for (const name in fields) {
    if (typeof values[name] !== fields[name as keyof typeof fields]) return false;
  }
  return type !== 'reported' || Array.isArray(values.sentIds);
}

export const automationOf = ({ projectId, name }: JournalRecord): Automation => ({
  projectId,
  name,
});
