import type { CommandContext } from '../context.ts';
import type { Journal } from '../journal/journal.ts';
import { isPlainName } from '../run/automation-name.ts';
import { problemOrThrow } from '../run/problem.ts';
import { resolveWithoutApiKey } from '../settings/resolve.ts';
import { optionalValue } from '../settings/table.ts';
import { journalOf } from './open-journal.ts';

const maxRunsRead = 1000;
/**
 * How many of the newest journal files are read for suggestions. Reading more would take longer
 * than a suggestion is worth.
 */
const maxFilesRead = 4;

/**
 * The automations that can be suggested, because the journal has a run of them and their names can
 * be typed.
 */
export function automationsIn({
  journal,
  baseUrl,
}: {
  journal: Journal;
  baseUrl: string | undefined;
}): Set<string> {
  const names = new Set<string>();
  let read = 0;
  for (const { target } of journal.allEntries({ baseUrl, hasRun: true, maxFiles: maxFilesRead })) {
    if (isPlainName(target.automationName)) names.add(target.automationName);
    if (++read >= maxRunsRead) break;
  }
  return names;
}

/** Whether a run of an automation with this name is known here. */
export function isAutomation(name: string, context: CommandContext): boolean {
  try {
    const baseUrl = optionalValue(resolveWithoutApiKey({}, context.env).baseUrl);
    const journal = journalOf(context, { quiet: true });
    return journal.hasRunOf(name, baseUrl);
  } catch (error) {
    // A setting that is wrong is reported by the commands that need it.
    problemOrThrow(error);
    return false;
  }
}
