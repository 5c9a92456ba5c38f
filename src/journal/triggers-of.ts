import { type JournalRecord, requestIdOf } from './record.ts';

type RecordOf<T extends JournalRecord['type']> = Extract<JournalRecord, { type: T }>;

/** All that is known of one trigger. */
export interface Trigger {
  accepted?: RecordOf<'accepted'>;
  /** The newest record that closed it. An intent before it is of no interest. */
  closed?: RecordOf<'refused' | 'forgotten'>;
  /** The first one since then. */
  intent?: RecordOf<'intent'>;
  /** Why the last attempt since then is in doubt. */
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
  for (const record of newestFirst) {
    if (record.type === 'seen') continue;
    const id = requestIdOf(record);
    const trigger = triggers.get(id) ?? {};
    if (record.type === 'accepted') trigger.accepted = record;
    else if (trigger.closed) continue;
    else if (record.type === 'intent') {
      trigger.intent = record;
      triggers.delete(id);
    } else if (record.type === 'doubtful') trigger.reason ??= record.reason;
    else trigger.closed = record;
    triggers.set(id, trigger);
  }
  return triggers;
}
