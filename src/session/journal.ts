import { resolveStateFolder } from '../config/paths.ts';
import type { Context } from '../context.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { usageProblem } from '../problems/problem.ts';

export interface JournalNeed {
  /** The answer is the journal itself: what cannot be read must not pass for what is not there. */
  needed?: boolean;
  /** Without it only a trigger loses something that somebody has to know of: such a command says so all the same. */
  quiet?: boolean;
}

export const hasJournal = ({ env }: Context) => resolveStateFolder(env) !== undefined;

/** A failure of it is reported once. Throws a usage problem where it is `needed` and cannot be read. */
export function journalOf({ env, reporter, clock }: Context, { needed, quiet }: JournalNeed = {}): Journal {
  const folder = resolveStateFolder(env);
  if (needed && folder === undefined)
    throw usageProblem('there is no folder for the journal', 'set HOME or RUNCTL_STATE_DIR');
  return openJournal({
    folder,
    nowMs: clock.nowMs,
    onTrouble(what, doing) {
      if (needed && doing === 'reading')
        throw usageProblem(what, 'fix it, or name another folder with RUNCTL_STATE_DIR');
      if (quiet) return;
      const message = `${what}; \`runctl recover\` and short run ids will not work for this run`;
      reporter.observe({ event: 'warning', name: 'journal_unavailable', message });
    },
  });
}
