import { resolveStateFolder } from '../config/paths.ts';
import type { Context } from '../context.ts';
import type { Journal, JournalRun } from '../journal/journal.ts';
import type { RunFilter } from '../journal/run-filter.ts';
import { shellWord } from '../problems/quote.ts';

/** `No runs of nightly …`, and the other base URL for which the newest of it is recorded. */
export function nothingRecorded(
  what: string,
  names: readonly string[],
  { context, ...here }: Here & { context: Context },
  filter: RunFilter,
  isCounted?: (run: JournalRun) => boolean,
): string[] {
  const whose = names.length > 0 ? ` of ${names.join(', ')}` : '';
  const sentence = `No ${what}${whose} ${journalPlace(here.baseUrl, context)}.`;
  return [sentence, elsewhere(what, here, filter, isCounted) ?? []].flat();
}

/** Where nothing is recorded: there may be something under another base URL, or in the journal of another user. */
export function journalPlace(baseUrl: string | undefined, { env }: Context): string {
  const folder = resolveStateFolder(env) ?? 'no folder';
  return `recorded${baseUrl === undefined ? '' : ` for ${baseUrl}`} (journal: ${folder})`;
}

/** A sentence that names another base URL, under which the newest such run is. */
export function elsewhere(
  what: string,
  here: Here,
  filter: RunFilter,
  isCounted?: (run: JournalRun) => boolean,
): string | undefined {
  const other = otherBaseUrl(here, filter, isCounted);
  return other && `The same journal has ${what} for ${other}: ${useBaseUrl(other)}.`;
}

interface Here {
  journal: Journal;
  baseUrl: string | undefined;
}

/**
 * The base URL of the newest such run in the journal; undefined if it is the one in force, or if there is no such run.
 * `http://localhost` and `http://127.0.0.1` are two base URLs.
 */
export function otherBaseUrl(
  { journal, baseUrl }: Here,
  filter: RunFilter,
  isCounted: (run: JournalRun) => boolean = () => true,
): string | undefined {
  if (baseUrl === undefined) return undefined;
  for (const run of journal.runs({ ...filter, baseUrl: undefined })) {
    if (!isCounted(run)) continue;
    return run.baseUrl === baseUrl ? undefined : run.baseUrl;
  }
  return undefined;
}

export const useBaseUrl = (baseUrl: string): string =>
  `add \`--base-url ${shellWord(baseUrl)}\`, or choose its profile with \`--profile <name>\``;
