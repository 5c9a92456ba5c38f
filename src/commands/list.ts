import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { aboutSelection, giveUpListingAfter } from '../cli/options.ts';
import { moment, statusWords, whole } from '../cli/values.ts';
import { flawOfSelection, parseAutomationNames } from '../connection/arguments.ts';
import { automationsIn } from '../connection/known-automations.ts';
import { journalOf } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { statusIn } from '../journal/run-handle.ts';
import { plainHintContext } from '../messages/hint-context.ts';
import { wantsData } from '../output/print.ts';
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
} from '../run/entry.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { defaults } from '../run/limits.ts';
import type { Outcome } from '../run/outcome.ts';
import { interruptedProblem, Problem } from '../run/problem.ts';
import { shownStatuses } from '../run/statuses.ts';
import { resolveSettings, resolveWithoutApiKey } from '../settings/resolve.ts';
import { valueIfGiven } from '../settings/table.ts';
import {
  checkStatuses,
  doubtOf,
  emptyNote,
  offlineNote,
  omissionNote,
  reasonFor,
  unknownNote,
  unpolledNote,
} from './list-notes.ts';
import { connectToPoll, pollAll } from './list-polls.ts';
import { isPollable, isSelected, recordedIn, type Selection } from './list-runs.ts';

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
  .option('--offline', "don't poll; show what the journal has")
  .addOption(giveUpListingAfter);

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
    const { offline, quiet } = options;
    const settings = offline ? undefined : await resolveSettings(options, context);
    const inForce = settings ?? resolveWithoutApiKey(options, env);
    const baseUrl = valueIfGiven(inForce.baseUrl);
    const automations = parseAutomationNames(names, valueIfGiven(inForce.project));
    const reached = settings ? await connectToPoll(settings, options, context) : notAsked;
    const connection = reached instanceof Problem ? undefined : reached;
    const journal = connection?.journal ?? journalOf(context, { needed: true });
    const nowMs = clock.nowMs();
    const selection: Selection = {
      filter: { baseUrl, automations, projectId: options.project && valueIfGiven(inForce.project) },
      statuses: options.status,
      sinceMs: options.since?.(nowMs),
      limit: limitOf(options),
      isForIds: isForIds(options),
    };

    const known = () => automationsIn({ journal, baseUrl });
    const recorded = recordedIn(journal, selection, nowMs);
    checkStatuses(options.status, recorded);
    const pollable = recorded.filter((entry) => isPollable(entry, options.status, nowMs));
    const { entries, missed } = await pollAll(recorded, pollable, reached, options, context);
    if (signal.aborted) throw interruptedProblem(exitNameOfSignal(signal));

    const missedIds = new Set(missed.map(({ entry }) => entry.executionId));
    const isOld = (entry: Entry) => isUnfinished(entry) && (missedIds.has(entry.executionId) || !isOpen(entry, nowMs));
    const matching = entries
      .filter((entry) => isSelected(entry, selection))
      .map((entry): ListRow => ({ entry, isOld: isOld(entry) }));
    const rows = matching.slice(0, selection.limit);
    const inDoubt = options.status && missed.length > 0 ? options.status : undefined;
    const doubts = inDoubt && !offline ? [{ kind: 'problem', problem: doubtOf(missed, inDoubt) } as const] : [];
    const doubtNote = inDoubt && offline ? [offlineNote(missed, inDoubt)] : [];
    if (rows.length === 0)
      return { outcomes: doubts, notice: inDoubt ? doubtNote : emptyNote(names, baseUrl, options, known, context) };
    const shownMissed = connection ? missed.filter(({ entry }) => rows.some((row) => isSameRun(row.entry, entry))) : [];
    for (const { entry, why } of shownMissed) warnOfOld(entry, reasonFor(why), context);
    if (selection.isForIds)
      return {
        outcomes: doubts,
        raw: rows.map(({ entry }) => executionIdOf(entry) ?? '').join('\n'),
        notice: doubtNote,
      };
    const { runTable } = await import('../output/tables.ts');
    const unpolled = !inDoubt && shownMissed.length > 0 ? [unpolledNote(shownMissed)] : [];
    const leftOut = quiet ? [] : [omissionNote(names, automations, { matching, rows }, options, known)].flat();
    return {
      outcomes: [...rows.map((row) => outcomeOf(row, nowMs)), ...doubts],
      hintContext: { ...plainHintContext, argumentOf: ({ executionId }) => executionId },
      notice: [...doubtNote, ...unpolled, ...leftOut],
      note: quiet ? undefined : unknownNote(rows, nowMs, journal),
      text: (theme, lines) => runTable(rows, nowMs, theme, lines),
    };
  },
});

const notAsked = new Problem({ name: 'usage', message: 'with `--offline` nothing is polled' });

const isSameRun = (one: Entry, other: RunEntry) => executionIdOf(one) === other.executionId;

/** For the documents. One sentence says it for all of them on stderr. */
function warnOfOld(entry: RunEntry, reason: string, { warnings }: Invocation): void {
  const message = `its status may be out of date because it couldn't be polled: ${reason}`;
  warnings.push({ event: 'warning', name: 'status_unavailable', message, run: runOf(entry) });
}

/** With `-q` people and their scripts get the ids alone, of all runs. */
const isForIds = ({ quiet, ...output }: ListOptions) => quiet === true && !wantsData(output);

const limitOf = ({ limit, since, ...output }: ListOptions) =>
  limit ?? (since || isForIds(output) ? Number.POSITIVE_INFINITY : defaults.listLimit);

/** What the journal knows of a run or an unresolved trigger. None of it changes the exit code of the list. */
function outcomeOf({ entry, isOld }: ListRow, nowMs: number): Outcome {
  const { target, at, baseUrl, idempotencyKey = null } = entry;
  const about = { target, exitsZero: true, fields: { list: { idempotencyKey, at, baseUrl } } } as const;
  if (entry.kind === 'unresolved') {
    const isRecoverable = isOpen(entry, nowMs) && !entry.isSuperseded;
    const recorded = { at, ageMs: ageOf(entry, nowMs) };
    const { ifActive } = entry;
    const conflict = entry.conflict && { ...entry.conflict, isOthers: false };
    return {
      kind: 'in_doubt',
      ...about,
      inDoubt: { reason: { kind: 'listed', isRecoverable }, recorded, conflict, ifActive, ignoresKeys: false },
    };
  }
  const run = runOf(entry);
  if (entry.kind === 'not_found') return { kind: 'not_found', ...about, run, document: documentOfEntry(entry) };
  const statusAgeMs = isOld ? nowMs - Date.parse(entry.statusAt) : undefined;
  return { kind: 'status', ...about, run, status: statusIn(entry), statusAgeMs };
}
