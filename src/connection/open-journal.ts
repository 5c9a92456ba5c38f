import type { CommandContext } from '../context.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { incompleteJournalText, unrecordedText } from '../messages/warnings.ts';
import { Problem } from '../run/problem.ts';
import { hintForRootOwned, resolveStateFolder } from '../settings/folders.ts';
import { journalProblem, noFolderProblem } from './journal-problem.ts';

export interface JournalNeed {
  /**
   * The command prints what the journal has, so an unreadable journal is a problem and must not
   * look like an empty one. False by default.
   */
  needed?: boolean;
  /**
   * No warning if the journal can't be used, because the command works without it. By default there
   * is one, because `recover` may need the record of a trigger.
   */
  quiet?: boolean;
}

/** Whether there is a folder for the journal. */
export const hasJournal = ({ env }: CommandContext) => resolveStateFolder(env) !== undefined;

/**
 * Whether this command has found that records are missing in the journal, because it couldn't be
 * read or written.
 */
export const isJournalIncomplete = ({ warnings }: CommandContext) =>
  warnings.some(({ name }) => name === 'journal_unavailable');

/**
 * The place in a sentence such as `No runs recorded here`. It names the journal's folder, because
 * the runs may be in the journal of another user.
 */
export function journalPlace(baseUrl: string | undefined, { env }: CommandContext): string {
  const folder = resolveStateFolder(env) ?? 'no folder';
  const where = baseUrl === undefined ? '' : ` for ${baseUrl}`;
  return `recorded${where} (journal: ${folder})`;
}

/**
 * Opens the journal. A failure is reported once; if the journal is `needed`, reading it throws the
 * problem.
 */
export function journalOf(
  { env, reporter, clock }: CommandContext,
  { needed, quiet }: JournalNeed = {},
): Journal {
  const folder = resolveStateFolder(env);
  if (needed && folder === undefined) throw noFolderProblem('usage');
  const warn = (message: string) =>
    reporter.emit({ event: 'warning', name: 'journal_unavailable', message });
  const knownProblem = needed && folder ? journalProblem(folder) : undefined;
  if (knownProblem) warn(incompleteJournalText(knownProblem.facts));
  return openJournal({
    folder,
    nowMs: clock.nowMs,
    onFailure(message, failure) {
      const hint = folder && hintForRootOwned(folder);
      if (needed && failure === 'read') throw unreadableProblem(message, hint);
      const isSilent = quiet && !needed;
      if (knownProblem || isSilent) return;
      const problem = folder ? journalProblem(folder) : undefined;
      warn(unrecordedText(problem?.facts ?? { message, hint }));
    },
  });
}

const unreadableProblem = (
  message: string,
  hint = 'check its owner and its mode, or set RUNCTL_STATE_DIR to another folder',
): Problem => new Problem({ name: 'output_error', message, hint });
