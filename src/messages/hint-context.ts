import { fullArgumentOf } from '../run/quote.ts';
import type { Run } from '../run/run.ts';

/** What hints need besides the facts of an outcome. */
export interface HintContext {
  argumentOf(run: Run): string; // the run as an argument of a suggested command
  hasJournal: boolean; // without one, there are no runs to list
  namesLike(name: string): string[]; // automations of this machine's journal, for a name that may have a typo
}

/** The context for hints if nothing is known about this machine. */
export const plainHintContext: HintContext = { argumentOf: fullArgumentOf, hasJournal: true, namesLike: () => [] };
