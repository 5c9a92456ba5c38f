import type { JournalEntry, OpenSent } from './entries.ts';
import {
  type AcceptedRecord,
  automationOf,
  type JournalRecord,
  type RefusedRecord,
  type SentRecord,
  type StatusRecord,
} from './records.ts';

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
  const runs = new Map<string, Draft>();
  for (const [place, record] of records.entries()) {
    if (record.type === 'status') {
      addStatus(record, place, drafts, runs);
      continue;
    }
    const draft = draftOf(keyed(record, record.key), record, place, drafts);
    if (record.type === 'sent') addSent(draft, record, place);
    else if (record.type === 'accepted') addRun(draft, record, drafts, runs);
    else if (record.type === 'refused') addRefusal(draft, record);
    else for (const sent of draft.sents) sent.isReported ||= record.sentIds.includes(sent.id);
  }
  return [...drafts.values()].filter(finish).sort((one, other) => one.place - other.place);
}

const keyed = ({ baseUrl, projectId, name }: JournalRecord, key: string) =>
  `${baseUrl}\n${projectId}\n${name}\n${key}`;

function draftOf(
  id: string,
  record: JournalRecord,
  place: number,
  drafts: Map<string, Draft>,
): Draft {
  const existing = drafts.get(id);
  if (existing) return existing;
  const { baseUrl, atMs } = record;
  const draft = { baseUrl, automation: automationOf(record), place, atMs, sents: [] };
  drafts.set(id, draft);
  return draft;
}

/** A repetition counts only if a `sent` that counts is open before it. */
function addSent(draft: Draft, record: SentRecord, place: number): void {
  const { id, key, isKeyGiven, repeats, atMs, apiKey, areKeysIgnored } = record;
  draft.trigger ??= { idempotencyKey: key, isKeyGiven, openSents: [] };
  if (draft.sents.some((sent) => sent.id === id)) return;
  if (repeats && !draft.sents.some(isOpen)) return;
  draft.sents.push({ id, atMs, apiKey, areKeysIgnored, isReported: false, isRefused: false });
  draft.place = place;
}

const isOpen = ({ isRefused }: Draft['sents'][number]) => !isRefused;

function addRefusal(draft: Draft, record: RefusedRecord): void {
  for (const sent of draft.sents) sent.isRefused ||= sent.id === record.sentId;
  draft.refusal = record;
}

/** It may have been watched before its trigger was known to have started it. */
function addRun(
  draft: Draft,
  record: AcceptedRecord,
  drafts: Map<string, Draft>,
  runs: Map<string, Draft>,
): void {
  const { executionId, key } = record;
  const id = `${record.baseUrl}\n${executionId}`;
  draft.trigger ??= { idempotencyKey: key, isKeyGiven: false, openSents: [] };
  draft.executionId ??= executionId;
  draft.status ??= drafts.get(keyed(record, id))?.status;
  drafts.delete(keyed(record, id));
  runs.set(id, draft);
}

/** Once final, always final. */
function addStatus(
  record: StatusRecord,
  place: number,
  drafts: Map<string, Draft>,
  runs: Map<string, Draft>,
): void {
  const { executionId, status, isFinal, atMs, startedAtMs, completedAtMs } = record;
  const id = `${record.baseUrl}\n${executionId}`;
  const draft = runs.get(id) ?? draftOf(keyed(record, id), record, place, drafts);
  draft.executionId ??= executionId;
  if (draft.status?.isFinal && !isFinal) return;
  const { creditsCharged = draft.status?.creditsCharged, reason = draft.status?.reason } = record;
  const times = { atMs, startedAtMs, completedAtMs };
  draft.status = { status, isFinal, ...times, creditsCharged, reason };
}

/** False: it started no run, and `list` doesn't show it. */
function finish(draft: Draft): boolean {
  const { trigger, refusal, executionId } = draft;
  const open = draft.sents.filter(isOpen);
  if (trigger) trigger.openSents = open;
  if (executionId !== undefined || open.length > 0) return true;
  if (!refusal?.isListed) return false;
  draft.notStarted = { kind: refusal.kind, reason: refusal.reason };
  return true;
}
