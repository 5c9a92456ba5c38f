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
  sents: Map<string, OpenSent & { isRefused: boolean }>;
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
    else if (record.type === 'accepted') addRun(draft, record, runs);
    else if (record.type === 'refused') {
      const sent = draft.sents.get(record.sentId);
      if (sent) sent.isRefused = true;
      draft.refusal = record;
    } else {
      for (const id of record.sentIds) {
        const sent = draft.sents.get(id);
        if (sent) sent.isReported = true;
      }
    }
  }
  return [...drafts.values()].flatMap(finish).sort((one, other) => one.place - other.place);
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
  const draft = { baseUrl, automation: automationOf(record), place, atMs, sents: new Map() };
  drafts.set(id, draft);
  return draft;
}

/** A repetition counts only if a `sent` that counts is open before it. */
function addSent(draft: Draft, record: SentRecord, place: number): void {
  const { id, key, isKeyGiven, repeats, atMs, apiKey, areKeysIgnored } = record;
  draft.trigger ??= { idempotencyKey: key, isKeyGiven, openSents: [] };
  if (draft.sents.has(id) || (repeats && openSents(draft).length === 0)) return;
  const sent = { id, atMs, apiKey, areKeysIgnored, isReported: false, isRefused: false };
  draft.sents.set(id, sent);
  draft.place = place;
}

const openSents = ({ sents }: Draft) => [...sents.values()].filter(({ isRefused }) => !isRefused);

function addRun(draft: Draft, record: AcceptedRecord, runs: Map<string, Draft>): void {
  const { executionId, key } = record;
  draft.trigger ??= { idempotencyKey: key, isKeyGiven: false, openSents: [] };
  draft.executionId ??= executionId;
  runs.set(`${record.baseUrl}\n${executionId}`, draft);
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

/** Nothing of a trigger that started no run and that `list` doesn't show. */
function finish({ sents, refusal, ...entry }: Draft): JournalEntry[] {
  const open = [...sents.values()].filter(({ isRefused }) => !isRefused);
  if (entry.trigger) entry.trigger = { ...entry.trigger, openSents: open };
  if (entry.executionId !== undefined || open.length > 0) return [entry];
  if (!refusal?.isListed) return [];
  const { kind, reason } = refusal;
  return [{ ...entry, notStarted: { kind, reason } }];
}
