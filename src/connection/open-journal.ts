import type { Invocation } from '../context.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import { resolveStateFolder } from '../settings/folders.ts';
import { journalTrouble } from './state-folder.ts';

export interface JournalNeed {
  /** The command prints the journal, so an unreadable journal must not look like an empty one. */
  needed?: boolean;
  /** Don't warn, unless it is needed, or for a trigger, because `recover` may need its record. */
  quiet?: boolean;
}

/** Is there a folder for the journal? */
export const hasJournal = ({ env }: Invocation) => resolveStateFolder(env) !== undefined;

/** Is it known that the journal lacks something, because it couldn't be written? */
export const isJournalIncomplete = ({ warnings }: Pick<Invocation, 'warnings'>) =>
  warnings.some(({ name }) => name === 'journal_unavailable');

/** Where nothing is recorded: there may be something in the journal of another user. */
export function journalPlace(baseUrl: string | undefined, { env }: Pick<Invocation, 'env'>): string {
  const folder = resolveStateFolder(env) ?? 'no folder';
  return `recorded${baseUrl === undefined ? '' : ` for ${baseUrl}`} (journal: ${folder})`;
}

/** Opens the journal. A failure is reported once; if the journal is `needed`, reading it throws the problem. */
export function journalOf({ env, reporter, clock }: Invocation, { needed, quiet }: JournalNeed = {}): Journal {
  const folder = resolveStateFolder(env);
  if (needed && folder === undefined)
    throw usageProblem('there is no folder for the journal', 'set HOME or RUNCTL_STATE_DIR');
  const warn = (message: string) => reporter.observe({ event: 'warning', name: 'journal_unavailable', message });
  const trouble = needed && folder ? journalTrouble(folder) : undefined;
  if (trouble) warn(`${trouble.message}, so runs and triggers may be missing: ${trouble.facts.hint}`);
  return openJournal({
    folder,
    nowMs: clock.nowMs,
    onTrouble(what, lack) {
      if (needed && lack === 'read') {
        const hint = 'fix it, or set RUNCTL_STATE_DIR to another folder';
        throw new Problem({ name: 'output_error', message: what, hint });
      }
      if (trouble || (quiet && !needed)) return;
      const hint = folder && journalTrouble(folder)?.facts.hint;
      const loss = `${what}; \`runctl recover\` and short run ids may not work for this run`;
      warn(hint ? `${loss}: ${hint}` : loss);
    },
  });
}
