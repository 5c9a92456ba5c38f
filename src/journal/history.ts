import { type Automation, isSameAutomation } from '../core/run.ts';
import type { JournalEntry } from './entries.ts';
import type { Journal } from './journal.ts';

const minSamples = 3;
const maxSamples = 9;

/** The median of what the last runs took that completed. Undefined if the journal knows too few. */
export function usualDurationMs(automation: Automation, journal: Journal): number | undefined {
  const took = entriesOrNone(journal.recent)
    .filter((entry) => isSameAutomation(entry.automation, automation))
    .flatMap(({ status }) => {
      const { startedAtMs = Number.NaN, completedAtMs = Number.NaN } = status ?? {};
      const tookMs = completedAtMs - startedAtMs;
      // The service's times may make no sense.
      return status?.status === 'COMPLETED' && tookMs >= 0 ? tookMs : [];
    })
    .slice(-maxSamples)
    .sort((one, other) => one - other);
  return took.length < minSamples ? undefined : took[Math.floor(took.length / 2)];
}

/** Entries, or none if the journal can't be read, which keeps nobody from starting a run. */
export function entriesOrNone(
  read: () => JournalEntry[],
  tell: (why: string) => void = () => {},
): JournalEntry[] {
  try {
    return read();
  } catch (error) {
    tell((error as Error).message);
    return [];
  }
}
