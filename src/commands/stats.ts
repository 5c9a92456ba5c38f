import { argument, defineCommand, type OptionValues, option } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { positiveDuration } from '../cli/values.ts';
import { valueIfGiven } from '../config/setting.ts';
import { resolveWithoutApiKey } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { openMs } from '../journal/journal.ts';
import { runsByTarget } from '../journal/runs-by-target.ts';
import { type DocumentFacts, documentOf } from '../render/document.ts';
import type { CommandResult } from '../render/output.ts';
import { formatDuration } from '../runs/duration.ts';
import { nameOf, type Target } from '../runs/run.ts';
import { type Statistics, statisticsOf } from '../runs/statistics.ts';
import { parseAutomationName } from '../session/arguments.ts';
import { journalOf } from '../session/open-journal.ts';

const usualPeriodMs = 30 * 86_400_000;

const options = {
  sinceMs: option('--since <duration>', 'the runs that finished within this time (default: 30d)', positiveDuration),
  ...outputOptions,
  ...settingOptions,
};

type StatsOptions = OptionValues<typeof options>;

export const stats = defineCommand({
  name: 'stats',
  about: 'show success rate, durations and credits of each automation, from the journal',
  arguments: { automations: argument('[automation...]', 'name, or <projectId>/<name> (default: all)') },
  options,
  examples: [
    ['runctl stats', 'the last 30 days'],
    ['runctl stats nightly --since 7d', 'one automation in the last week'],
  ],
  run: ({ automations }, options, context) => showStatistics(automations, options, context),
});

/** Sends nothing, and needs no setting: without a base URL, the runs of every base URL count. */
async function showStatistics(names: string[], options: StatsOptions, context: Context): Promise<CommandResult> {
  const settings = resolveWithoutApiKey(options, context.env);
  const baseUrl = valueIfGiven(settings.baseUrl);
  const project = valueIfGiven(settings.project);
  const named = names.map((name) => ({ projectId: project, ...parseAutomationName(name) }));
  const nowMs = context.clock.nowMs();
  const sinceMs = nowMs - (options.sinceMs ?? usualPeriodMs);
  const journal = journalOf(context, { needed: true });
  const period = { sinceMs, nowMs };
  // A run of the period may have begun before it.
  const all = runsByTarget(journal.runs({ baseUrl, sinceMs: sinceMs - openMs, hasRun: true }))
    .filter(({ target }) => isAmong(named, target))
    .flatMap((past) => statisticsOf(past, period) ?? [])
    .sort((one, other) => compare(nameOf(one.target), nameOf(other.target)));

  const { statisticsTable } = await import('../render/tables.ts');
  return {
    documents: all.map((statistics) => documentOf(documentFactsOf(statistics, sinceMs), context)),
    text: (theme, lines) => (all.length > 0 ? statisticsTable(all, theme, lines) : ''),
    note: options.quiet ? undefined : noteOf(all, names, nowMs - sinceMs),
  };
}

/** Is the target one of those that were named, or was none named? */
function isAmong(named: readonly { projectId?: string; automationName: string }[], target: Target): boolean {
  if (named.length === 0) return true;
  return named.some(
    ({ projectId, automationName }) =>
      target.family === 'automation' &&
      target.automationName === automationName &&
      (projectId === undefined || target.projectId === projectId),
  );
}

function documentFactsOf({ target, lastCompletedMs, ...statistics }: Statistics, sinceMs: number): DocumentFacts {
  const lastCompletedAt = lastCompletedMs === null ? null : isoOf(lastCompletedMs);
  return { target, report: { stats: { ...statistics, since: isoOf(sinceMs), lastCompletedAt } } };
}

const isoOf = (ms: number) => new Date(ms).toISOString();

const compare = (one: string, other: string) => Number(one > other) - Number(one < other);

function noteOf(all: readonly Statistics[], asked: readonly string[], periodMs: number): string | undefined {
  const ofThese = asked.length > 0 ? ` of ${asked.join(', ')}` : '';
  if (all.length === 0)
    return `No run${ofThese} finished in the last ${formatDuration(periodMs)}, as far as this machine knows.`;
  const unseen = all.filter((each) => each.unseen > 0);
  if (unseen.length === 0) return undefined;
  const count = unseen.reduce((total, each) => total + each.unseen, 0);
  const names = unseen.map((each) => `${nameOf(each.target)}: ${each.unseen}`).join(', ');
  return `How ${count} ${count === 1 ? 'run' : 'runs'} finished is not known yet (${names}); \`runctl watch --all\` finds out.`;
}
