import { resolveStateFolder } from '../config/paths.ts';
import type { Context } from '../context.ts';
import type { Journal, JournalRun } from '../journal/journal.ts';
import type { RunFilter } from '../journal/run-filter.ts';
import { shellWord } from '../problems/quote.ts';

/** Where nothing is recorded: there may be something under another base URL, or in the journal of another user. */
export function journalPlace(baseUrl: string | undefined, { env }: Context): string {
  const folder = resolveStateFolder(env) ?? 'no folder';
  return `recorded${baseUrl === undefined ? '' : ` for ${baseUrl}`} (journal: ${folder})`;
}

/**
 * A sentence that names the base URL of the newest such run in the journal; undefined if it is the one in force, or if there
 * is no such run. `http://localhost` and `http://127.0.0.1` are two base URLs.
 */
export function elsewhere(
  what: string,
  { journal, baseUrl }: { journal: Journal; baseUrl: string | undefined },
  filter: RunFilter,
  isCounted: (run: JournalRun) => boolean = () => true,
): string | undefined {
  if (baseUrl === undefined) return undefined;
  for (const run of journal.runs({ ...filter, baseUrl: undefined })) {
    if (!isCounted(run)) continue;
    if (run.baseUrl === baseUrl) return undefined;
    return `The same journal has ${what} for ${run.baseUrl}: add \`--base-url ${shellWord(run.baseUrl)}\`, or choose its profile.`;
  }
  return undefined;
}
