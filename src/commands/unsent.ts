import type { UnknownReport } from '../core/report.ts';
import { keysIgnored } from '../core/start-run.ts';
import type { JournalEntry } from '../journal/entries.ts';
import type { Opened } from './open.ts';

/** Why an unknown trigger isn't sent again, and what helps. */
export type Unsent = Pick<UnknownReport, 'notSentBecause' | 'remedy'>;

/** Why nobody sends an unknown trigger again, whatever its age and order. Undefined if one may. */
export function whyNotSent(
  { trigger }: JournalEntry,
  { settings, apiKeyHash }: Pick<Opened, 'settings' | 'apiKeyHash'>,
): Unsent | undefined {
  const sents = trigger?.openSents ?? [];
  if (settings.idempotencyKeys.value === 'ignored') return keysIgnored;
  if (sents.some(({ areKeysIgnored }) => areKeysIgnored)) {
    return { ...keysIgnored, notSentBecause: 'idempotency keys were ignored when it was sent' };
  }
  if (sents.every((sent) => sent.apiKeyHash === apiKeyHash)) return undefined;
  // Another profile's sweep may find its run.
  return { notSentBecause: 'it was sent with another API key' };
}
