import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { giveUpListingAfter, selectionHelp } from '../cli/options.ts';
import { moment, statusWords, whole } from '../cli/values.ts';
import { flawOfSelection, parseAutomationNames } from '../connection/arguments.ts';
import type { Connection } from '../connection/connection.ts';
import { automationsIn } from '../connection/known-automations.ts';
import { journalOf } from '../connection/open-journal.ts';
import type { CommandContext } from '../context.ts';
import type { EntryFilter } from '../journal/entry-filter.ts';
import { snapshotIn } from '../journal/run-handle.ts';
import { plainHintContext } from '../messages/hint-context.ts';
import { wantsData } from '../output/command-result.ts';
import type { ListRow } from '../output/tables.ts';
import {
  ageOf,
  documentOfEntry,
  type Entry,
  executionIdOf,
  isOpen,
  isUnfinished,
  type RunEntry,
  runOf,
  type UnresolvedTrigger,
} from '../run/entry.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import type { InDoubtDetails } from '../run/in-doubt.ts';
import { defaults } from '../run/limits.ts';
import type { Outcome, OutcomeOf } from '../run/outcome.ts';
import { interruptedProblem, Problem } from '../run/problem.ts';
import { shownStatuses } from '../run/statuses.ts';
import { resolveSettings, resolveWithoutApiKey } from '../settings/resolve.ts';
import { optionalValue } from '../settings/table.ts';
import {
  checkStatuses,
  emptyNote,
  mayMatchProblem,
  offlineNote,
  omissionNote,
  reasonOfMissed,
  unknownNote,
  unpolledNote,
} from './list-notes.ts';
import { connectToPoll, type PolledList, pollAll, type UnpolledRun } from './list-polls.ts';
import { isPollable, isSelected, recordedIn, type Selection } from './list-runs.ts';

const command = new Command('list')
  .alias('ls')
  .description('list runs started or watched on this machine')
  .argument('[automation...]', selectionHelp)
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
  .option('--offline', "don't poll; show what the journal has")
  .addOption(giveUpListingAfter);

type ListOptions = OptionsOf<typeof command>;

export const list = define(command, {
  flawOf: flawOfSelection,
  examples: [
    [
      'runctl list',
      `the last ${defaults.listLimit} runs of this machine; runs of other machines are not shown`,
    ],
    ['runctl list nightly --status FAILED', 'the nightly runs that failed'],
    ['runctl list --since 2d --json', 'the runs of the last two days, for a script'],
  ],
  async run([names], options, context) {
    const fullSettings = options.offline ? undefined : await resolveSettings(options, context);
    const settings = fullSettings ?? resolveWithoutApiKey(options, context.env);
    const baseUrl = optionalValue(settings.baseUrl);
    const automations = parseAutomationNames(names, optionalValue(settings.project));
    const reached = fullSettings
      ? await connectToPoll(fullSettings, options, context)
      : offlineProblem;
    const journal =
      reached instanceof Problem ? journalOf(context, { needed: true }) : reached.journal;
    const nowMs = context.clock.nowMs();
    const projectId = options.project && optionalValue(settings.project);
    const selection = selectionOf({ baseUrl, automations, projectId }, options, nowMs);

    const recorded = recordedIn(journal, selection, nowMs);
    checkStatuses(options.status, recorded);
    const polled = await pollSelected(recorded, reached, options, context);
    const recordedNames = () => automationsIn({ journal, baseUrl });
    const matching = rowsOf(polled, selection, nowMs);
    const rows = matching.slice(0, selection.limit);
    // A run that wasn't polled may have one of the statuses that were asked for.
    const mayMatch = options.status && polled.missed.length > 0;
    const { problems, notices } = mayMatch
      ? mayMatchResult(polled.missed, options)
      : { problems: [], notices: [] };
    if (rows.length === 0) {
      if (!mayMatch) notices.push(...emptyNote(names, baseUrl, options, recordedNames, context));
      return { outcomes: problems, notices };
    }
    const shownMissed =
      reached instanceof Problem
        ? []
        : polled.missed.filter(({ entry }) => isAmongRows(entry, rows));
    warnOfMissed(shownMissed, context);
    if (selection.isForIds) {
      const ids = rows.map(({ entry }) => executionIdOf(entry) ?? '');
      return { outcomes: problems, notices, forPeople: { raw: ids.join('\n') } };
    }
    const { runTable } = await import('../output/tables.ts');
    if (!mayMatch && shownMissed.length > 0) notices.push(unpolledNote(shownMissed));
    notices.push(...omissionNote(names, automations, { matching, rows }, options, recordedNames));
    return {
      outcomes: [...rows.map((row) => outcomeOf(row, nowMs)), ...problems],
      hintContext: { ...plainHintContext, argumentOf: ({ executionId }) => executionId },
      notices,
      forPeople: {
        note: options.quiet ? undefined : unknownNote(rows, nowMs),
        text: (theme, lines) => runTable(rows, nowMs, theme, lines),
      },
    };
  },
});

const offlineProblem = new Problem({
  name: 'usage',
  message: 'with `--offline` nothing is polled',
});

/** Polls the runs whose status may have changed. Throws the interrupted problem. */
async function pollSelected(
  recorded: readonly Entry[],
  reached: Connection | Problem,
  options: ListOptions,
  context: CommandContext,
): Promise<PolledList> {
  const nowMs = context.clock.nowMs();
  const pollable = recorded.filter((entry) => isPollable(entry, options.status, nowMs));
  const polled = await pollAll(recorded, pollable, reached, options, context);
  if (context.signal.aborted) throw interruptedProblem(exitNameOfSignal(context.signal));
  return polled;
}

/**
 * The entries that were asked for. A run is `isOld` if its status may have changed since it was
 * recorded.
 */
function rowsOf({ entries, missed }: PolledList, selection: Selection, nowMs: number): ListRow[] {
  const missedIds = new Set(missed.map(({ entry }) => entry.executionId));
  const isOld = (entry: Entry) =>
    isUnfinished(entry) && (missedIds.has(entry.executionId) || !isOpen(entry, nowMs));
  return entries
    .filter((entry) => isSelected(entry, selection))
    .map((entry) => ({ entry, isOld: isOld(entry) }));
}

/**
 * The result for runs that may have one of the statuses that were asked for. It is a problem, but
 * with `--offline` the user has chosen that, so a sentence is enough.
 */
function mayMatchResult(
  missed: readonly UnpolledRun[],
  { status = [], offline }: ListOptions,
): { problems: OutcomeOf<'problem'>[]; notices: string[] } {
  if (offline) return { problems: [], notices: [offlineNote(missed, status)] };
  return { problems: [{ kind: 'problem', problem: mayMatchProblem(missed, status) }], notices: [] };
}

const isAmongRows = (run: RunEntry, rows: readonly ListRow[]) =>
  rows.some(({ entry }) => isSameRun(entry, run));

const isSameRun = (one: Entry, other: RunEntry) => executionIdOf(one) === other.executionId;

/** Adds a warning to the document of each run. On stderr, one sentence covers all of them. */
function warnOfMissed(missed: readonly UnpolledRun[], { warnings }: CommandContext): void {
  for (const { entry, cause } of missed) {
    const message = `its status may be out of date because it couldn't be polled: ${reasonOfMissed(cause)}`;
    warnings.push({ event: 'warning', name: 'status_unavailable', message, run: runOf(entry) });
  }
}

function selectionOf(filter: EntryFilter, options: ListOptions, nowMs: number): Selection {
  return {
    filter,
    statuses: options.status,
    sinceMs: options.since?.(nowMs),
    limit: limitOf(options),
    isForIds: isForIds(options),
  };
}

/** With `-q` and without `--json`, only the ids are printed, and by default those of all runs. */
const isForIds = ({ quiet, ...output }: ListOptions) => quiet === true && !wantsData(output);

const limitOf = ({ limit, since, ...output }: ListOptions) =>
  limit ?? (since || isForIds(output) ? Number.POSITIVE_INFINITY : defaults.listLimit);

/**
 * The outcome for a run or an unresolved trigger of the journal. It never changes the exit code of
 * the list.
 */
function outcomeOf({ entry, isOld }: ListRow, nowMs: number): Outcome {
  const { target, at, baseUrl, idempotencyKey = null } = entry;
  const fields = { list: { idempotencyKey, at, baseUrl } };
  if (entry.kind === 'unresolved') {
    return {
      kind: 'in_doubt',
      target,
      inDoubt: inDoubtOf(entry, nowMs),
      isReportOnly: true,
      fields,
    };
  }
  const run = runOf(entry);
  if (entry.kind === 'not_found')
    return { kind: 'not_found', run, document: documentOfEntry(entry), isReportOnly: true, fields };
  const statusAgeMs = isOld ? nowMs - Date.parse(entry.statusAt) : undefined;
  return {
    kind: 'status',
    run,
    snapshot: snapshotIn(entry),
    statusAgeMs,
    isReportOnly: true,
    fields,
  };
}

function inDoubtOf(entry: UnresolvedTrigger, nowMs: number): InDoubtDetails {
  const isRecoverable = isOpen(entry, nowMs) && !entry.isSuperseded;
  return {
    reason: { kind: 'listed', isRecoverable },
    recorded: { at: entry.at, ageMs: ageOf(entry, nowMs) },
    conflict: entry.conflict && { ...entry.conflict, isOthers: false },
    ifActive: entry.ifActive,
    ignoresKeys: false,
  };
}
