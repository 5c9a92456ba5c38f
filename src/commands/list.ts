import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { giveUpListingAfter, selectionHelp } from '../cli/options.ts';
import { moment, statusWords, whole } from '../cli/values.ts';
import { flawOfSelection, parseAutomationNames } from '../connection/arguments.ts';
import { automationsIn } from '../connection/known-automations.ts';
import type { EntryFilter } from '../journal/entry-filter.ts';
import { wantsData } from '../output/command-result.ts';
import type { ListRow } from '../output/tables.ts';
import { type Entry, isOpen, isUnfinished } from '../run/entry.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { defaults } from '../run/limits.ts';
import { interruptedProblem } from '../run/problem.ts';
import { shownStatuses } from '../run/statuses.ts';
import { resolveSettings, resolveWithoutApiKey } from '../settings/resolve.ts';
import { optionalValue } from '../settings/table.ts';
import { checkStatuses } from './list-notes.ts';
import { openSource, type PolledList } from './list-polls.ts';
import { listResult } from './list-result.ts';
import { canPollTo, isSelected, readRecorded, type Selection } from './list-runs.ts';

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
    const project = optionalValue(settings.project);
    const automations = parseAutomationNames(names, project);
    const source = await openSource(fullSettings, options, context);
    const nowMs = context.clock.nowMs();
    const filter = { baseUrl, automations, projectId: options.project && project };
    const selection = selectionOf(filter, options, nowMs);

    const recorded = readRecorded(source.journal, selection, nowMs);
    checkStatuses(options.status, recorded);
    const pollable = recorded.filter((entry) => canPollTo(entry, options.status, nowMs));
    const polled = await source.poll(recorded, pollable);
    if (context.signal.aborted) throw interruptedProblem(exitNameOfSignal(context.signal));
    const matching = rowsOf(polled, selection, nowMs);
    return listResult({
      names,
      options,
      selection,
      recordedNames: () => automationsIn({ journal: source.journal, baseUrl }),
      matching,
      rows: matching.slice(0, selection.limit),
      unpolled: polled.unpolled,
      canPoll: source.canPoll,
      nowMs,
      context,
    });
  },
});

/**
 * The entries that were asked for. A run is `isOld` if its status may have changed since it was
 * recorded.
 */
function rowsOf({ entries, unpolled }: PolledList, selection: Selection, nowMs: number): ListRow[] {
  const unpolledIds = new Set(unpolled.map(({ entry }) => entry.executionId));
  const isOld = (entry: Entry) =>
    isUnfinished(entry) && (unpolledIds.has(entry.executionId) || !isOpen(entry, nowMs));
  return entries
    .filter((entry) => isSelected(entry, selection))
    .map((entry) => ({ entry, isOld: isOld(entry) }));
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
