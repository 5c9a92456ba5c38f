import { isJournalIncomplete, journalPlace } from '../connection/open-journal.ts';
import type { CommandContext } from '../context.ts';
import { type EntryFilter, isAmong } from '../journal/entry-filter.ts';
import { createProcesses, senderOf } from '../journal/processes.ts';
import { processText } from '../messages/in-doubt-diagnostics.ts';
import type { ListRow } from '../output/tables.ts';
import { ageOf, type Entry, isOpen, statusOf, type UnresolvedTrigger } from '../run/entry.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { exitNameOfFault, type Fault, hintOf, reasonOf } from '../run/fault.ts';
import { nearWords } from '../run/near-words.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import { pluralize, quote, quotedName, quotedNames } from '../run/quote.ts';
import { shownStatuses } from '../run/statuses.ts';
import { localTime } from '../system/time-text.ts';
import type { UnpolledRun } from './list-polls.ts';

// The sentences of `runctl list`.

/** What the sentences about a list need. */
export interface ListNoteInput {
  /** The automations as they were typed. */
  names: readonly string[];
  selection: { filter: EntryFilter };
  options: {
    limit?: number;
    status?: readonly string[];
    since?: unknown;
    project?: string;
    quiet?: boolean;
  };
  /** The entries that were asked for, and those of them that are shown. */
  matching: readonly ListRow[];
  rows: readonly ListRow[];
  /** Reads the names of the automations in the journal, which takes time. */
  recordedNames(): ReadonlySet<string>;
  context: CommandContext;
}

/**
 * Says that `--limit` leaves out runs. If it doesn't, says which of the named automations have no
 * such run.
 */
export function omissionNote(list: ListNoteInput): string[] {
  const { names, selection, options, matching, rows } = list;
  if (options.quiet) return [];
  if (matching.length > rows.length) return [moreNote(rows.length, options.limit)];
  const { automations = [] } = selection.filter;
  const isShown = (at: number) =>
    rows.some(({ entry }) => isAmong(automations.slice(at, at + 1), entry.target));
  const missing = names.filter((_, at) => !isShown(at));
  if (missing.length === 0) return [];
  return [`No runs of ${quotedNames(missing)}.${nearNote(missing, list.recordedNames)}`];
}

/** Suggests names for those that the journal doesn't have. */
function nearNote(names: readonly string[], recordedNames: () => ReadonlySet<string>): string {
  if (names.length === 0) return '';
  const all = recordedNames();
  const near = names.filter((name) => !all.has(name)).flatMap((name) => nearWords(name, all));
  return near.length > 0 ? ` Did you mean ${[...new Set(near)].join(' or ')}?` : '';
}

function moreNote(shown: number, limit: number | undefined): string {
  const newest = shown === 1 ? 'run' : pluralize(shown, 'run');
  const orSince = limit === undefined ? ' or `--since 7d`' : '';
  return `Showing the newest ${newest}; for more, add \`-n ${shown * 5}\`${orSince}.`;
}

/** Says how many runs are shown with their last recorded status, and why. */
export const unpolledNote = (unpolled: readonly UnpolledRun[]): string =>
  `${pluralize(unpolled.length, 'run')} couldn't be polled: ${reasonsFor(unpolled)}`;

/** With `--offline`: says how many runs may have one of the requested statuses by now. */
export function offlineNote(unpolled: readonly UnpolledRun[], statuses: readonly string[]): string {
  const verb = unpolled.length === 1 ? "wasn't" : "weren't";
  return `${pluralize(unpolled.length, 'run')} ${verb} polled (\`--offline\`) and may be ${wantedOf(unpolled, statuses)}.`;
}

/** The requested statuses that these runs may have by now. */
function wantedOf(unpolled: readonly UnpolledRun[], statuses: readonly string[]): string {
  const isNotFound = unpolled.some(({ entry }) => entry.kind === 'not_found');
  const mayBe = statuses.filter(
    (status) => status !== 'UNKNOWN' && (status !== 'NOT_FOUND' || isNotFound),
  );
  return mayBe.join(' or ');
}

/** The problem that runs may have one of the requested statuses but couldn't be polled. */
export function mayMatchProblem(
  unpolled: readonly UnpolledRun[],
  statuses: readonly string[],
): Problem {
  const causes = unpolled.map(({ cause }) => cause);
  const names = new Set(causes.map(exitNameOfUnpolled));
  const onlyName = names.size === 1 ? [...names][0] : undefined;
  const hasOwnName = onlyName === 'unauthorized' || onlyName === 'rate_limited';
  const [first] = unpolled;
  const subject = `${pluralize(unpolled.length, 'run')} couldn't be polled`;
  const firstFault = causes[0] instanceof Problem ? undefined : causes[0];
  return new Problem({
    name: hasOwnName ? onlyName : 'unavailable',
    message: `${subject} and may be ${wantedOf(unpolled, statuses)}: ${reasonsFor(unpolled)}`,
    hint: first && hintForUnpolled(first),
    fault: onlyName && firstFault,
  });
}

const exitNameOfUnpolled = (cause: Fault | Problem): ExitName =>
  cause instanceof Problem ? 'unavailable' : exitNameOfFault(cause);

function hintForUnpolled({ cause, entry }: UnpolledRun): string | undefined {
  if (cause instanceof Problem) return cause.facts.hint;
  // `status` records a run that the service doesn't know as not found, which a list doesn't do.
  if (cause.kind === 'not_found') return `\`runctl status ${entry.executionId}\``;
  return hintOf(cause, 'find the cause with `runctl doctor`');
}

export const reasonOfUnpolled = (cause: Fault | Problem): string =>
  cause instanceof Problem ? cause.facts.message : reasonOf(cause);

const maxReasons = 3;

function reasonsFor(unpolled: readonly UnpolledRun[]): string {
  const reasons = [...new Set(unpolled.map(({ cause }) => reasonOfUnpolled(cause)))];
  const more = reasons.length > maxReasons ? '; and other reasons' : '';
  return reasons.slice(0, maxReasons).join('; ') + more;
}

/**
 * Says why there is nothing to list. Says nothing with `--quiet`. It also says nothing if records
 * are missing in the journal, because nobody knows then what there is, and a warning says so.
 */
export function emptyNote(list: ListNoteInput): string[] {
  const { names, selection, options, context } = list;
  const { status, since, project, quiet } = options;
  if (quiet || isJournalIncomplete(context)) return [];
  const filters = [
    names.length > 0 && ` of ${quotedNames(names)}`,
    project && ` in project ${project}`,
    status && ` with the status ${status.join(' or ')}`,
    since && ' since then',
  ].filter(Boolean);
  const next =
    filters.length > 0
      ? '`runctl list` shows all.'
      : 'Start one with `runctl trigger <automation>`.';
  const place = journalPlace(selection.filter.baseUrl, context);
  const none = `No runs${filters.join('')} ${place}.${nearNote(names, list.recordedNames)}`;
  return [`${none} Runs started on other machines aren't listed. ${next}`];
}

/** Throws a usage problem for a status that neither the documents nor a run have. */
export function checkStatuses(statuses: readonly string[] = [], entries: readonly Entry[]): void {
  const odd = statuses.find(
    (status) =>
      ![...shownStatuses, ...entries.map(statusOf)].some((each) => each.toUpperCase() === status),
  );
  if (odd === undefined) return;
  throw usageProblem(
    `there is no status ${quote(odd)}`,
    `statuses are ${shownStatuses.join(', ')}`,
  );
}

/** Explains the status `UNKNOWN` below the table: what to do about these triggers. */
export function unknownNote(rows: readonly ListRow[], nowMs: number): string | undefined {
  const all = rows.flatMap(({ entry }) => (entry.kind === 'unresolved' ? entry : []));
  if (all.length === 0) return undefined;
  const isExpired = (trigger: UnresolvedTrigger) =>
    !isOpen(trigger, nowMs) || trigger.isSuperseded === true;
  const expired = all.filter(isExpired);
  const open = all.filter((trigger) => !isExpired(trigger));
  const processes = createProcesses();
  const lost = open.filter((trigger) => senderOf(trigger, processes, nowMs) === undefined);
  if (lost.length > 0) return lostNote(lost.length);
  const [sent] = open;
  if (!sent || expired.length > 0) return expiredNote(expired, nowMs);
  const sender = senderOf(sent, processes, nowMs) ?? '';
  return `The trigger of ${quotedName(sent.target)} is still being sent by ${processText(sender)}.`;
}

function lostNote(triggers: number): string {
  const [verb, whose] = triggers > 1 ? ['have', 'their runs'] : ['has', 'its run'];
  return `${pluralize(triggers, 'trigger')} ${verb} no recorded response; \`runctl recover\` finds or starts ${whose}, or says why not.`;
}

/**
 * Says what to do about triggers that `recover` doesn't send, because they are too old or
 * superseded.
 */
function expiredNote(
  [newest, ...others]: readonly UnresolvedTrigger[],
  nowMs: number,
): string | undefined {
  if (!newest) return undefined;
  const name = quotedName(newest.target);
  // A record that is dated in the future doesn't say when it was sent.
  const isDated = Number.isFinite(ageOf(newest, nowMs));
  const at = isDated ? ` at ${localTime(newest.at)}` : '';
  const more = others.length > 0 ? ` (and ${pluralize(others.length, 'older one')})` : '';
  const began = isDated ? 'one that began then' : 'it';
  return `The trigger of ${name}${at}${more} has no recorded response and isn't sent again; to know whether it started a run, look in the service for ${began}.`;
}
