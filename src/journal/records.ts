import type { FailureKind } from '../core/failure.ts';

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
  /** A hash of the API key. */
  apiKeyHash: string;
  areKeysIgnored: boolean;
}

/** What was sent after one `sent` record has started nothing. */
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
  sentIds: readonly string[];
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
const commonFields = { atMs: 'number', baseUrl: 'string', projectId: 'string', name: 'string' };
const requiredFields: Record<string, Record<string, string>> = {
  sent: { ...commonFields, id: 'string', key: 'string', apiKeyHash: 'string' },
  refused: { ...commonFields, key: 'string', sentId: 'string', kind: 'string', reason: 'string' },
  accepted: { ...commonFields, key: 'string', executionId: 'string' },
  reported: { ...commonFields, key: 'string', sentIds: 'object' },
  status: { ...commonFields, executionId: 'string', status: 'string', isFinal: 'boolean' },
};

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

function isRecord(value: unknown): value is JournalRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  const type = String(record.type);
  const fields = Object.hasOwn(requiredFields, type) ? requiredFields[type] : undefined;
  if (!fields) return false;
  for (const name in fields) if (typeof record[name] !== fields[name]) return false;
  // It is printed for shells to read.
  if (record.executionId && !/^[\w-]+$/.test(`${record.executionId}`)) return false;
  // No date is later or earlier than 8.64e15 (ECMA-262, Time Values), and zones add to it.
  const times = [record.atMs, record.startedAtMs ?? 0, record.completedAtMs ?? 0];
  const isTime = (time: unknown) => typeof time === 'number' && Math.abs(time) < 8.63e15;
  if (!times.every(isTime)) return false;
  return record.type !== 'reported' || Array.isArray(record.sentIds);
}
