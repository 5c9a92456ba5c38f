import { type Failure, failureTable } from '../core/failure.ts';
import type { Trigger } from '../core/ports.ts';
import { type Automation, isOvertaken } from '../core/run.ts';
import type { JournalRecord, RefusedRecord, SentRecord, StatusRecord } from './records.ts';

/** One `sent` record that counts and that no `refused` has closed. */
export interface OpenSent {
  id: string;
  atMs: number;
  /** A hash of the API key it was sent with. */
  apiKeyHash: string;
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
  /**
   * When it was first sent and not refused, else when it was first refused or seen, in milliseconds
   * since 1970.
   */
  atMs: number;
  /** Absent of a run that was only watched. */
  trigger?: Trigger & { openSents: readonly OpenSent[] };
  executionId?: string;
  /** The last one that was recorded. */
  status?: StatusRecord;
  /** Why it started no run; only if `list` shows it as NOT_STARTED. */
  notStarted?: Failure;
}

/** It may have started a run, and nobody knows. */
export const isUnknown = ({ executionId, trigger }: JournalEntry): boolean =>
  executionId === undefined && trigger !== undefined && trigger.openSents.length > 0;

/** It is unknown, and `recover` hasn't yet said what to look for. */
export const isUnreported = (entry: JournalEntry): boolean =>
  isUnknown(entry) && (entry.trigger?.openSents.some(({ isReported }) => !isReported) ?? false);

/** An entry while it is put together. */
interface Draft extends JournalEntry {
  /** The `sent` records that count, with those that a `refused` has closed. */
  sents: (OpenSent & { isRefused: boolean })[];
  refusal?: RefusedRecord;
}

/**
 * What records together say of each trigger and run, oldest first. What is older is decided by the
 * place in the journal, never by a time. Doubled, torn and missing records do no harm: a trigger
 * is unknown if one of its `sent` records is open, and none was `accepted`.
 */
export function fold(records: readonly JournalRecord[]): JournalEntry[] {
  const drafts = new Map<string, Draft>(); // by idempotency key, or by run if it was only watched
  const triggered = new Map<string, Set<Draft>>(); // by run
  const draftOf = (id: string, record: JournalRecord, place: number) => {
    const fullId = `${record.baseUrl}\n${record.projectId}\n${record.name}\n${id}`;
    const existing = drafts.get(fullId);
    if (existing) return existing;
    const draft = newDraft(record, place);
    drafts.set(fullId, draft);
    return draft;
  };
  for (const [place, record] of records.entries()) {
    if (record.type === 'status') continue;
    const draft = draftOf(record.key, record, place);
    addRecord(draft, record, place);
    if (record.type !== 'accepted') continue;
    // A service that replays responses may give several triggers one run.
    const ofRun = triggered.get(runId(record)) ?? new Set();
    triggered.set(runId(record), ofRun.add(draft));
  }
  // A run may have been watched before its trigger was known to have started it.
  for (const [place, record] of records.entries()) {
    if (record.type !== 'status') continue;
    const id = runId(record);
    for (const draft of triggered.get(id) ?? [draftOf(id, record, place)]) addStatus(draft, record);
  }
  return [...drafts.values()].flatMap(entryOf).sort((one, other) => one.place - other.place);
}

const runId = ({ baseUrl, executionId }: { baseUrl: string; executionId: string }) =>
  `${baseUrl}\n${executionId}`;

function newDraft(record: JournalRecord, place: number): Draft {
  const { baseUrl, projectId, name, atMs } = record;
  const automation = { projectId, name };
  const draft: Draft = { baseUrl, automation, place, atMs, sents: [] };
  if (record.type === 'status') draft.executionId = record.executionId;
  else draft.trigger = { automation, idempotencyKey: record.key, isKeyGiven: false, openSents: [] };
  return draft;
}

function addRecord(draft: Draft, record: Exclude<JournalRecord, StatusRecord>, place: number) {
  switch (record.type) {
    case 'sent':
      addSent(draft, record, place);
      break;
    case 'accepted':
      draft.executionId ??= record.executionId;
      break;
    case 'refused':
      for (const sent of draft.sents) sent.isRefused ||= sent.id === record.sentId;
      draft.refusal = record;
      break;
    case 'reported':
      for (const sent of draft.sents) sent.isReported ||= record.sentIds.includes(sent.id);
  }
}

/** A repetition counts only if a `sent` that counts is open before it. */
function addSent(draft: Draft, record: SentRecord, place: number): void {
  const { id, isKeyGiven, repeats, atMs, apiKeyHash, areKeysIgnored } = record;
  if (draft.trigger) draft.trigger.isKeyGiven = isKeyGiven;
  if (draft.sents.some((sent) => sent.id === id)) return;
  if (repeats && !draft.sents.some(isOpen)) return;
  draft.sents.push({ id, atMs, apiKeyHash, areKeysIgnored, isReported: false, isRefused: false });
  draft.place = place;
}

const isOpen = ({ isRefused }: Draft['sents'][number]) => !isRefused;

/** A status without the reason of a run that failed keeps the one that was recorded. */
function addStatus(draft: Draft, record: StatusRecord): void {
  if (isOvertaken(draft.status, record)) return;
  const { reason } = draft.status ?? {};
  draft.status = record.reason || !reason ? record : { ...record, reason };
}

/** Nothing if it started no run, and `list` doesn't show it. */
function entryOf({ sents, refusal, ...draft }: Draft): JournalEntry[] {
  const openSents = sents.filter(isOpen);
  const trigger = draft.trigger && { ...draft.trigger, openSents };
  const entry = { ...draft, trigger, atMs: openSents[0]?.atMs ?? draft.atMs };
  if (entry.executionId !== undefined || openSents.length > 0) return [entry];
  if (!refusal?.isListed) return [];
  // A newer version may have recorded a kind that this one doesn't know.
  const isKnown = Object.hasOwn(failureTable, refusal.kind);
  const kind = isKnown ? refusal.kind : 'rejected';
  return [{ ...entry, notStarted: { kind, reason: refusal.reason } }];
}
