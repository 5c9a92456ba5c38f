import { defineCommand, type OptionValues } from '../cli/define-command.ts';
import { outputOptions, periodOptions, selectedAutomations, settingOptions } from '../cli/options.ts';
import { periodOf } from '../cli/values.ts';
import { valueIfGiven } from '../config/setting-table.ts';
import { resolveWithoutApiKey } from '../config/settings.ts';
import { parseAutomationNames } from '../connection/arguments.ts';
import { journalOf } from '../connection/open-journal.ts';
import { nothingRecorded } from '../connection/other-base-url.ts';
import type { Invocation } from '../context.ts';
import type { JournalRun } from '../journal/fold.ts';
import { openMs } from '../journal/journal.ts';
import { pathOf } from '../journal/records.ts';
import { isAmong } from '../journal/run-filter.ts';
import type { Outcome } from '../problems/outcome.ts';
import { count } from '../problems/quote.ts';
import { documentOf } from '../render/document.ts';
import type { CommandResult } from '../render/output.ts';
import { nameOf } from '../runs/run.ts';
import { type PastRuns, type RecordedRun, type Statistics, statisticsOf, unfinishedOf } from '../runs/statistics.ts';
import { dayMs } from '../runs/time-text.ts';

const usualPeriodMs = 30 * dayMs;

const options = {
  ...periodOptions('only runs that started', ' (default: 30d)'),
  ...outputOptions,
  ...settingOptions,
};

type StatsOptions = OptionValues<typeof options>;

export const stats = defineCommand({
  name: 'stats',
  about: 'show success rates, durations and credits',
  arguments: { automations: selectedAutomations },
  options,
  examples: [
    ['runctl stats', 'the last 30 days'],
    ['runctl stats nightly --since 7d', 'one automation in the last week'],
    ['runctl stats --since 2026-11-16 --until 2026-11-23', 'one week, in local time'],
  ],
  run: ({ automations }, options, context) => showStatistics(automations, options, context),
});

/** Sends nothing, and needs no setting: without a base URL, the runs of every base URL count. */
async function showStatistics(names: string[], options: StatsOptions, context: Invocation): Promise<CommandResult> {
  const settings = resolveWithoutApiKey(options, context.env);
  const baseUrl = valueIfGiven(settings.baseUrl);
  const automations = parseAutomationNames(names, valueIfGiven(settings.project));
  const nowMs = context.clock.nowMs();
  const { sinceMs, untilMs, when } = periodOf(options, nowMs, usualPeriodMs);
  const journal = journalOf(context, { needed: true });
  const period = { sinceMs, untilMs, nowMs };
  // The end of a run may be in the period, and its trigger in an older file.
  const all = runsByTarget(journal.runs({ baseUrl, automations, sinceMs: sinceMs - openMs, hasRun: true }))
    .flatMap((past) => statisticsOf(past, period) ?? [])
    .sort((one, other) => compare(nameOf(one.target), nameOf(other.target)));

  const missing = automations
    .map((automation, index) => ({ automation, name: names[index] ?? '' }))
    .filter(({ automation }) => !all.some(({ target }) => isAmong([automation], target)));
  const nothing = () =>
    nothingRecorded(
      'runs',
      { names: missing.map(({ name }) => name), when: when() },
      { journal, baseUrl, context },
      { automations: missing.map(({ automation }) => automation), hasRun: true },
    );

  const { statisticsTable } = await import('../render/tables.ts');
  return {
    documents: all.map((statistics) => documentOf(outcomeOfStatistics(statistics, sinceMs), context)),
    text: (theme, lines) => (all.length > 0 ? statisticsTable(all, theme, lines) : ''),
    omission: options.quiet
      ? undefined
      : [unfinishedNote(all) ?? [], all.length === 0 || missing.length > 0 ? nothing() : []].flat(),
  };
}

function outcomeOfStatistics({ target, lastCompletedMs, ...statistics }: Statistics, sinceMs: number): Outcome {
  const lastCompletedAt = lastCompletedMs === null ? null : isoOf(lastCompletedMs);
  return { target, report: { stats: { ...statistics, since: isoOf(sinceMs), lastCompletedAt } } };
}

const isoOf = (ms: number) => new Date(ms).toISOString();

const compare = (one: string, other: string) => Number(one > other) - Number(one < other);

/** What the numbers leave out: runs that had not finished when this machine last polled them. */
function unfinishedNote(all: readonly Statistics[]): string | undefined {
  const unfinished = all.filter((each) => unfinishedOf(each) > 0);
  if (unfinished.length === 0) return undefined;
  const runs = unfinished.reduce((total, each) => total + unfinishedOf(each), 0);
  const names = unfinished.map((each) => `${nameOf(each.target)}: ${unfinishedOf(each)}`).join(', ');
  return `${count(runs, 'run')} had not finished when last polled (${names}). \`runctl list\` polls unfinished runs.`;
}

/** The runs by base URL and target. */
function runsByTarget(runs: Iterable<JournalRun>): PastRuns[] {
  const groups = new Map<string, PastRuns>();
  for (const run of runs) {
    const { baseUrl, target } = run;
    if (run.executionId === null) continue;
    const id = `${baseUrl}\n${pathOf(target)}`;
    const group = groups.get(id) ?? { baseUrl, target, runs: [] };
    groups.set(id, group);
    group.runs.push(recordedRunOf(run));
  }
  return [...groups.values()];
}

const recordedRunOf = ({ startedAt, completedAt, creditsCharged: credits, at, ...run }: JournalRun): RecordedRun => ({
  ...{ status: run.status, isFinal: run.isFinal, credits, atMs: Date.parse(at) },
  ...{ startedMs: timeOf(startedAt), endedMs: timeOf(completedAt) },
});

function timeOf(time: string | null): number | null {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? null : ms;
}
