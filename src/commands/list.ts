import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { aboutSelection } from '../cli/options.ts';
import { moment, statusWords, whole } from '../cli/values.ts';
import { flawOfSelection, parseAutomationNames } from '../connection/arguments.ts';
import { connectWith } from '../connection/connect.ts';
import { journalOf } from '../connection/open-journal.ts';
import { currentOf, type Refreshed, refreshRuns } from '../connection/refresh.ts';
import type { Invocation } from '../context.ts';
import type { EntryFilter } from '../journal/entry-filter.ts';
import { statusIn } from '../journal/found-run.ts';
import type { Journal } from '../journal/journal.ts';
import { wantsData } from '../output/print.ts';
import type { Row } from '../output/tables.ts';
import {
  ageOf,
  documentOfEntry,
  type Entry,
  executionIdOf,
  isOpen,
  isUnfinished,
  type RunEntry,
  runOf,
  statusOf,
} from '../run/entry.ts';
import { interruptNameOf } from '../run/exit-codes.ts';
import { reasonOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Outcome } from '../run/outcome.ts';
import { interruptedProblem } from '../run/problem.ts';
import { count } from '../run/quote.ts';
import { shownStatuses } from '../run/statuses.ts';
import { resolveSettings, resolveWithoutApiKey } from '../settings/resolve.ts';
import { valueIfGiven } from '../settings/table.ts';
import { dayMs } from '../system/time-text.ts';
import { plainVoice } from '../words/voice.ts';
import { checkStatuses, emptyNote, omissionNote, unknownNote } from './list-notes.ts';

const command = new Command('list')
  .alias('ls')
  .description('list runs started or watched on this machine')
  .argument('[automation...]', aboutSelection)
  .option(
    '-n, --limit <n>',
    `show at most this many (default: ${defaults.listLimit}; with --since: all)`,
    whole(1, 1_000_000),
  )
  .option(
    '--status <status>',
    `only runs with this status, or one of several (${shownStatuses.join(', ')})`,
    statusWords,
  )
  .option(
    '--since <time>',
    'only runs that started since then: 2d (ago), today, yesterday, a date or a local time',
    moment,
  )
  .option('--offline', "don't poll; show what the journal has");

type ListOptions = OptionsOf<typeof command>;

export const list = define(command, {
  flawOf: flawOfSelection,
  examples: [
    ['runctl list', `the last ${defaults.listLimit} runs of this machine; runs of other machines are not shown`],
    ['runctl list nightly --status FAILED', 'the nightly runs that failed'],
    ['runctl list --since 2d --json', 'the runs of the last two days, for a script'],
  ],
  async run([names], options, context) {
    const { clock, env, signal } = context;
    const settings = options.offline ? undefined : await resolveSettings(options, context);
    const inForce = settings ?? resolveWithoutApiKey(options, env);
    const baseUrl = valueIfGiven(inForce.baseUrl);
    const automations = parseAutomationNames(names, valueIfGiven(inForce.project));
    const connection =
      settings && baseUrl !== undefined && settings.apiKey.value !== undefined
        ? await connectWith(settings, options, context, { needed: true })
        : undefined;
    const journal = connection?.journal ?? journalOf(context, { needed: true });
    const nowMs = clock.nowMs();

    const filter = { baseUrl, automations, projectId: options.project && valueIfGiven(inForce.project) };
    const recorded = [...runsIn(journal, filter, options, options.since?.(nowMs))];
    checkStatuses(options.status, recorded);
    const isPollable = (entry: Entry): entry is RunEntry =>
      (isUnfinished(entry) || entry.kind === 'forgotten') && isOpen(entry, nowMs);
    const refreshed: Refreshed = connection
      ? await refreshRuns(recorded.filter(isPollable), connection)
      : { current: new Map(), faults: new Map() };
    if (signal.aborted) throw interruptedProblem(interruptNameOf(signal));

    const isOld = (entry: Entry) => isUnfinished(entry) && currentOf(entry, refreshed) === entry;
    const matching = recorded
      .map((entry): Row => ({ entry: currentOf(entry, refreshed), isOld: isOld(entry) }))
      .filter(({ entry }) => hasStatus(entry, options.status));
    const rows = matching.slice(0, limitOf(options));
    if (rows.length === 0) return { omission: emptyNote(names, baseUrl, options, context) };
    const old = connection ? rows.filter((row) => row.isOld && isPollable(row.entry)) : [];
    const missed = old.map(({ entry }) => ({ entry, reason: whyMissed(entry, refreshed) }));
    for (const { entry, reason } of missed) warnOfOld(entry, reason, context);
    const reasons = [...new Set(missed.map(({ reason }) => reason))].join('; ');
    if (isForIds(options)) return { verbatim: rows.map(({ entry }) => executionIdOf(entry) ?? '').join('\n') };
    const { runTable } = await import('../output/tables.ts');
    const outcomes = rows.map((row) => outcomeOf(row, nowMs));
    const unpolled = missed.length > 0 ? [`${count(missed.length, 'run')} couldn't be polled: ${reasons}`] : [];
    const leftOut = options.quiet ? [] : [omissionNote(names, automations, { matching, rows }, options)].flat();
    return {
      outcomes,
      voice: { ...plainVoice, argumentOf: ({ executionId }) => executionId },
      omission: [...unpolled, ...leftOut],
      note: options.quiet ? undefined : unknownNote(rows, nowMs, journal),
      text: (theme, lines) => runTable(rows, nowMs, theme, lines),
    };
  },
});

function whyMissed(entry: Entry, { faults }: Refreshed): string {
  const fault = faults.get(executionIdOf(entry) ?? '');
  return fault ? reasonOf(fault) : 'no response within 3s';
}

/** For the documents. One sentence says it for all of them on stderr. */
function warnOfOld(entry: Entry, reason: string, { warnings }: Invocation): void {
  if (entry.kind === 'unresolved') return;
  const message = `its status may be out of date because it couldn't be polled: ${reason}`;
  warnings.push({ event: 'warning', name: 'status_unavailable', message, run: runOf(entry) });
}

/** With `-q` people and their scripts get the ids alone, of all runs. */
const isForIds = ({ quiet, ...output }: ListOptions) => quiet === true && !wantsData(output);

const limitOf = ({ limit, since, ...output }: ListOptions) =>
  limit ?? (since || isForIds(output) ? Number.POSITIVE_INFINITY : defaults.listLimit);

const hasStatus = (entry: Entry, statuses: readonly string[] | undefined) =>
  statuses === undefined || statuses.includes(statusOf(entry).toUpperCase());

/** As many runs as are shown and one more. With `--status`, unfinished runs are extra, as a poll may change their status. */
function* runsIn(
  journal: Journal,
  filter: EntryFilter,
  { status, since, ...options }: ListOptions,
  sinceMs = Number.NEGATIVE_INFINITY,
): Generator<Entry> {
  // A run is recorded within moments of its start.
  const recordedMs = sinceMs - dayMs;
  const hasRun = isForIds(options) || (status !== undefined && !status.includes('UNKNOWN'));
  let counted = 0;
  for (const entry of journal.entries({ ...filter, hasRun, sinceMs: since && recordedMs })) {
    // The entries come in the order of their records. A clock that was set may have dated a later one earlier.
    if (Date.parse(entry.at) < recordedMs) continue;
    const startedAt = entry.kind === 'unresolved' ? undefined : entry.startedAt;
    if (Date.parse(startedAt ?? entry.at) < sinceMs) continue;
    const mayChange = status !== undefined && isUnfinished(entry);
    if (!mayChange && !hasStatus(entry, status)) continue;
    yield entry;
    if (!mayChange && ++counted > limitOf({ since, ...options })) return;
  }
}

/** What the journal knows of a run or an unresolved trigger. None of it changes the exit code of the list. */
function outcomeOf({ entry, isOld }: Row, nowMs: number): Outcome {
  const { target, at, baseUrl, idempotencyKey = null } = entry;
  const about = { target, isAnswer: true, fields: { list: { idempotencyKey, at, baseUrl } } } as const;
  if (entry.kind === 'unresolved') {
    const isRecoverable = isOpen(entry, nowMs) && !entry.isSuperseded;
    const recorded = { at, ageMs: ageOf(entry, nowMs) };
    const { ifActive } = entry;
    const conflict = entry.conflict && { ...entry.conflict, isOthers: false };
    return {
      kind: 'in_doubt',
      ...about,
      doubt: { why: { kind: 'listed', isRecoverable }, recorded, conflict, ifActive, ignoresKeys: false },
    };
  }
  const run = runOf(entry);
  if (entry.kind === 'forgotten') return { kind: 'forgotten', ...about, run, document: documentOfEntry(entry) };
  const seenAgeMs = isOld ? nowMs - Date.parse(entry.statusAt) : undefined;
  return { kind: 'known', ...about, run, status: statusIn(entry), seenAgeMs };
}
