import { Command } from 'commander';
import { define, type OptionsOf } from '../cli/command.ts';
import { aboutSelection } from '../cli/options.ts';
import { moment, statusWords, whole } from '../cli/values.ts';
import { flawOfSelection, parseAutomationNames } from '../connection/arguments.ts';
import { connectWith } from '../connection/connect.ts';
import { journalOf } from '../connection/open-journal.ts';
import { type Refreshed, refreshRuns } from '../connection/poll-once.ts';
import { isForgotten, isUnfinished } from '../journal/fold.ts';
import { isOpen, type Journal, type JournalRun } from '../journal/journal.ts';
import type { RunFilter } from '../journal/run-filter.ts';
import { documentOf } from '../output/document.ts';
import { wantsData } from '../output/output.ts';
import type { Outcome } from '../problems/outcome.ts';
import { interruptedProblem } from '../problems/watch-problems.ts';
import { exitNameOfRun } from '../run/exit-codes.ts';
import { reasonOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { inDoubtProblem, Problem } from '../run/problem.ts';
import { count } from '../run/quote.ts';
import { nameOf } from '../run/run.ts';
import { lastStatusOf, shownStatuses } from '../run/statuses.ts';
import { resolveSettings, resolveWithoutApiKey } from '../settings/resolve.ts';
import { valueIfGiven } from '../settings/table.ts';
import { dayMs } from '../system/time-text.ts';
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
    const isPollable = (run: JournalRun) => (isUnfinished(run) || isForgotten(run)) && isOpen(run, nowMs);
    const unfinished = connection ? recorded.filter(isPollable) : [];
    const { current, fault }: Refreshed = connection
      ? await refreshRuns(unfinished, connection)
      : { current: new Map() };
    if (signal.aborted) throw interruptedProblem(signal);

    const matching = recorded
      .map((run) => ({
        ...run,
        ...current.get(run.executionId ?? ''),
        isOld: isUnfinished(run) && !current.has(run.executionId ?? ''),
      }))
      .filter((run) => hasStatus(run, options.status));
    const runs = matching.slice(0, limitOf(options));
    if (runs.length === 0) return { omission: emptyNote(names, baseUrl, options, context) };
    const missed = connection ? runs.filter((run) => run.isOld && isPollable(run)) : [];
    const reason = fault ? reasonOf(fault) : 'no response within 3s';
    for (const { target, executionId } of missed) {
      const message = `its status may be out of date because it couldn't be polled: ${reason}`;
      // One sentence says it for all of them on stderr.
      if (executionId !== null)
        context.warnings.push({ event: 'warning', name: 'status_unavailable', message, run: { target, executionId } });
    }
    if (isForIds(options)) return { verbatim: runs.map(({ executionId }) => executionId).join('\n') };
    const { runTable } = await import('../output/tables.ts');
    return {
      documents: runs.map((run) => documentOf(outcomeOfRow(run, nowMs), context)),
      omission: [
        ...(missed.length > 0 ? [`${count(missed.length, 'run')} couldn't be polled: ${reason}`] : []),
        ...(options.quiet ? [] : [omissionNote(names, automations, { matching, runs }, options)].flat()),
      ],
      note: options.quiet ? undefined : unknownNote(runs, nowMs, journal),
      text: (theme, lines) => runTable(runs, nowMs, theme, lines),
    };
  },
});

/** A run in the list. `isOld` if its status couldn't be polled. */
type ListedRow = JournalRun & { isOld: boolean };

/** With `-q` people and their scripts get the ids alone, of all runs. */
const isForIds = ({ quiet, ...output }: Partial<ListOptions>) => quiet === true && !wantsData(output);

const limitOf = ({ limit, since, ...output }: Partial<ListOptions>) =>
  limit ?? (since || isForIds(output) ? Number.POSITIVE_INFINITY : defaults.listLimit);

const hasStatus = (run: JournalRun, statuses: readonly string[] | undefined) =>
  statuses === undefined || statuses.includes(lastStatusOf(run).toUpperCase());

/** As many runs as are shown and one more. With `--status`, unfinished runs are extra, as a poll may change their status. */
function* runsIn(
  journal: Journal,
  filter: RunFilter,
  { status, since, ...options }: ListOptions,
  sinceMs = Number.NEGATIVE_INFINITY,
): Generator<JournalRun> {
  // A run is recorded within moments of its start.
  const recordedMs = sinceMs - dayMs;
  const hasRun = isForIds(options) || (status !== undefined && !status.includes('UNKNOWN'));
  let counted = 0;
  for (const run of journal.runs({ ...filter, hasRun, sinceMs: since && recordedMs })) {
    if (Date.parse(run.at) < recordedMs) return;
    const startedMs = Date.parse(run.startedAt ?? run.at);
    if (startedMs < sinceMs) continue;
    const mayChange = status !== undefined && isUnfinished(run);
    if (!mayChange && !hasStatus(run, status)) continue;
    yield run;
    if (!mayChange && ++counted > limitOf({ since, ...options })) return;
  }
}

/** What the journal knows of a run or an unresolved trigger. None of it changes the exit code of the list. */
function outcomeOfRow(
  { target, executionId, baseUrl, at, idempotencyKey, ...record }: ListedRow,
  nowMs: number,
): Outcome {
  const { status, isFinal, startedAt, completedAt, creditsCharged, isOld, statusAt = at } = record;
  const exit = 'ok';
  const report = { list: { idempotencyKey, at, baseUrl } };
  const given = Object.entries({ status, startedAt, completedAt, creditsCharged }).filter(
    ([, value]) => value !== null,
  );
  const times = { startedAt: startedAt ?? undefined, completedAt: completedAt ?? undefined };
  const execution = { status: status ?? '', isFinal, ...times, document: Object.fromEntries(given) };
  if (executionId === null) {
    const message = `this trigger of ${nameOf(target)} has no recorded response; it may have started a run`;
    const hint = isOpen({ at }, nowMs) && !record.isSuperseded ? '`runctl recover`' : undefined;
    const problem = inDoubtProblem({ message, hint });
    return { target, exit, report, execution, problem };
  }
  const run = { target, executionId };
  if (status === null) {
    const problem = new Problem({ name: 'not_found', message: 'the service no longer knows this run' });
    return { run, exit, report, execution, problem };
  }
  const lastConfirmed = isOld ? { execution, ageMs: nowMs - Date.parse(statusAt) } : undefined;
  const ended = exitNameOfRun(execution);
  return { run, exit, report, execution, ended, argument: executionId, lastConfirmed };
}
