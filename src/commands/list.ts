import { defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { moment, nonEmpty, whole } from '../cli/values.ts';
import { valueIfGiven } from '../config/setting.ts';
import { resolveSettings, resolveWithoutApiKey } from '../config/settings.ts';
import { isUnfinished } from '../journal/fold.ts';
import { isOpen, type Journal, type JournalRun } from '../journal/journal.ts';
import type { RunFilter } from '../journal/run-filter.ts';
import { exitNameOfRun } from '../problems/exit-codes.ts';
import { inDoubtProblem, Problem } from '../problems/problem.ts';
import { interruptedProblem } from '../problems/watch-problems.ts';
import { type DocumentFacts, documentOf } from '../render/document.ts';
import { defaults } from '../runs/defaults.ts';
import { reasonOf } from '../runs/fault.ts';
import { lastStatusOf, nameOf, statuses } from '../runs/run.ts';
import { connectWith } from '../session/connect.ts';
import { journalOf } from '../session/open-journal.ts';
import { type Refreshed, refreshRuns } from '../session/refresh-runs.ts';

const options = {
  limit: option('-n, --limit <n>', `show at most this many (default: ${defaults.listLimit})`, whole(1, 1_000_000)),
  automation: option('-a, --automation <name>', 'only runs of this automation'),
  status: option('--status <status>', 'only runs with this status', nonEmpty),
  since: option('--since <time>', 'only runs that started after this: a duration ago (2d), or a time', moment),
  offline: flag('--offline', 'do not poll: show what the journal holds'),
  ...outputOptions,
  ...settingOptions,
};

type ListOptions = OptionValues<typeof options>;

export const list = defineCommand({
  name: 'list',
  alias: 'ls',
  about: 'list runs started or watched on this machine, newest first',
  options,
  examples: [
    ['runctl list', `the last ${defaults.listLimit} runs`],
    ['runctl list --status FAILED --automation nightly', 'the runs of nightly that failed'],
    ['runctl list --since 2d --json', 'the runs of the last two days, for a script'],
  ],
  async run(_, options, context) {
    const { clock, env, signal } = context;
    const settings = options.offline ? undefined : await resolveSettings(options, context);
    const baseUrl = valueIfGiven((settings ?? resolveWithoutApiKey(options, env)).baseUrl);
    const session =
      settings && baseUrl !== undefined && settings.apiKey.value !== undefined
        ? await connectWith(settings, options, context, { needed: true })
        : undefined;
    const journal = session?.journal ?? journalOf(context, { needed: true });

    const ofTheseFilters = {
      baseUrl,
      automation: options.automation,
      projectId: options.project,
      hasRun: options.status !== undefined && options.status.toLowerCase() !== 'unknown',
    };
    const found = [...runsIn(journal, ofTheseFilters, options, clock.nowMs())];
    const mayBeRunning = (run: JournalRun) =>
      isUnfinished(run) && run.baseUrl === baseUrl && isOpen(run, clock.nowMs());
    const unfinished = session ? found.filter(mayBeRunning) : [];
    const { current, fault }: Refreshed = session ? await refreshRuns(unfinished, session) : { current: new Map() };
    if (signal.aborted) throw interruptedProblem(signal);

    const runs = found
      .map((run) => ({
        ...run,
        ...current.get(run.executionId ?? ''),
        isOld: isUnfinished(run) && !current.has(run.executionId ?? ''),
      }))
      .filter((run) => hasStatus(run, options.status))
      .slice(0, limitOf(options));
    const documents = runs.map((run) => documentOf(documentFactsOf(run, clock.nowMs()), context));
    const missed = runs.filter(({ isOld }) => isOld).length;
    const note =
      fault && missed > 0
        ? `${missed === 1 ? '1 run' : `${missed} runs`} could not be polled: ${reasonOf(fault)}`
        : undefined;
    if (runs.length === 0) return { documents, note: options.quiet ? undefined : emptyNote(options) };
    const { runTable } = await import('../render/tables.ts');
    return { documents, note, text: (theme, lines) => runTable(runs, clock.nowMs(), theme, lines) };
  },
});

/** A run as it is listed; `isOld` if its status could not be polled. */
type ListedRow = JournalRun & { isOld: boolean };

const limitOf = ({ limit = defaults.listLimit }: ListOptions) => limit;

const hasStatus = (run: JournalRun, status: string | undefined) =>
  status === undefined || lastStatusOf(run).toUpperCase() === status.toUpperCase();

/** As many runs as are needed. With `--status`, unfinished runs are extra, as a poll may change their status. */
function* runsIn(
  journal: Journal,
  filter: RunFilter,
  { status, since, ...options }: ListOptions,
  nowMs: number,
): Generator<JournalRun> {
  const timeOf = (time: typeof since) => time && ('atMs' in time ? time.atMs : nowMs - time.agoMs);
  const sinceMs = timeOf(since) ?? Number.NEGATIVE_INFINITY;
  // A run is recorded within moments of its start.
  const recordedMs = sinceMs - dayMs;
  let counted = 0;
  for (const run of journal.runs({ ...filter, sinceMs: since && recordedMs })) {
    if (Date.parse(run.at) < recordedMs) return;
    const startedMs = Date.parse(run.startedAt ?? run.at);
    if (startedMs < sinceMs) continue;
    const mayChange = status !== undefined && isUnfinished(run);
    if (!mayChange && !hasStatus(run, status)) continue;
    yield run;
    if (!mayChange && ++counted >= limitOf(options)) return;
  }
}

const dayMs = 86_400_000;

function emptyNote({ automation, status, since }: ListOptions): string {
  const filters = [automation && ` of ${automation}`, status && ` with the status ${status}`].filter(Boolean).join('');
  if (status && !statuses.some((known) => known === status.toUpperCase()))
    return `No runs${filters} here; statuses are ${statuses.join(', ')}.`;
  if (filters || since) return `No runs${filters} here${since ? ' at that time' : ''}; \`runctl list\` shows all.`;
  return 'No runs here yet. Start one with `runctl trigger <automation>`.';
}

/** What the journal knows of a run or an unresolved trigger. None of it changes the exit code of the list. */
function documentFactsOf(
  { target, executionId, baseUrl, at, idempotencyKey, ...record }: ListedRow,
  nowMs: number,
): DocumentFacts {
  const { status, startedAt, completedAt, creditsCharged, isOld, statusAt = at } = record;
  const exitName = 'ok';
  const report = { list: { idempotencyKey, at, baseUrl } };
  const given = Object.entries({ status, startedAt, completedAt, creditsCharged }).filter(
    ([, value]) => value !== null,
  );
  const times = { startedAt: startedAt ?? undefined, completedAt: completedAt ?? undefined };
  const execution = { status: status ?? '', ...times, document: Object.fromEntries(given) };
  if (executionId === null) {
    const message = `this trigger of ${nameOf(target)} got no answer, and may have started a run`;
    const problem = inDoubtProblem({ message, hint: '`runctl recover`' });
    return { target, exitName, report, execution, problem };
  }
  const run = { target, executionId };
  if (status === null) {
    const problem = new Problem({ name: 'not_found', message: 'the service no longer knows this run' });
    return { run, exitName, report, execution, problem };
  }
  const lastConfirmed = isOld ? { execution, ageMs: nowMs - Date.parse(statusAt) } : undefined;
  const outcome = exitNameOfRun(run, status);
  return { run, exitName, report, execution, outcome, argument: executionId, lastConfirmed };
}
