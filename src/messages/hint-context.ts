import { fullArgumentOf } from '../run/quote.ts';
import type { Run } from '../run/run.ts';

/** What hints need besides the facts of an outcome. */
export interface HintContext {
  /** The run as an argument of a suggested command. */
  argumentOf(run: Run): string;
  /** Without one, there are no runs to list. */
  hasJournal: boolean;
  /** Automations of this machine's journal, for a name that may have a typo. */
  namesLike(name: string): string[];
}

/** The context for hints if nothing is known about this machine. */
export const plainHintContext: HintContext = {
  argumentOf: fullArgumentOf,
  hasJournal: true,
  namesLike: () => [],
};
