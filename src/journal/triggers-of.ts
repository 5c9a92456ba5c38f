import { attemptIdOf, isOfTrigger, type JournalRecord, requestIdOf } from './record.ts';

type RecordOf<T extends JournalRecord['type']> = Extract<JournalRecord, { type: T }>;

/** All that is known of one trigger. */
export interface Trigger {
  accepted?: RecordOf<'accepted'>;
  /** The first one that is neither forgotten nor refused. */
  intent?: RecordOf<'intent'>;
  /** Why its last attempt is in doubt. */
  reason?: string;
}

export type OpenTrigger = Trigger & { intent: RecordOf<'intent'> };

/** An intent stays open until something settles it; once accepted, a trigger is settled for good. */
export function isOpen(trigger: Trigger): trigger is OpenTrigger {
  return trigger.intent !== undefined && !trigger.accepted;
}

/** The triggers that records, newest first, tell of; by `requestIdOf`, in the order of their intents: newest first. */
export function triggersOf(newestFirst: Iterable<JournalRecord>): Map<string, Trigger> {
  const triggers = new Map<string, Trigger>();
  const forgotten = new Set<string>();
  const refused = new Set<string>();
  for (const record of newestFirst) {
    if (!isOfTrigger(record)) continue;
    const id = requestIdOf(record);
    const trigger = triggers.get(id) ?? {};
    if (record.type === 'accepted') trigger.accepted = record;
    else if (forgotten.has(id)) continue;
    else if (record.type === 'doubtful') trigger.reason ??= record.reason;
    else if (record.type === 'intent') {
      if (refused.has(attemptIdOf(record))) continue;
      trigger.intent = record;
      triggers.delete(id);
    } else if (record.type === 'refused') refused.add(attemptIdOf(record));
    else forgotten.add(id);
    triggers.set(id, trigger);
  }
  return triggers;
}
