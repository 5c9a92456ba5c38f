import { valueIfGiven } from '../config/setting-table.ts';
import { resolveWithoutApiKey } from '../config/settings.ts';
import { parseAutomationNames } from '../connection/arguments.ts';
import { journalOf } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { isUnfinished } from '../journal/fold.ts';
import { isOpen, type Journal, type JournalRun, openMs } from '../journal/journal.ts';
import type { CommandResult } from '../render/output.ts';
import type { runTable } from '../render/tables.ts';
import { renderMarkup, type Theme } from '../render/theme.ts';
import type { WrapOptions } from '../render/wrap.ts';
import { fullNameOf } from '../runs/run.ts';
import { endedWell } from '../runs/statuses.ts';
import { dayMs } from '../runs/time-text.ts';
import { triggersBeingSent } from './list-notes.ts';

/** What needs attention, from the journal alone. */
interface Standing {
  unresolved: JournalRun[];
  unfinished: JournalRun[];
  failed: JournalRun[]; // in the last 24 hours, of automations that have not completed since
  isEmpty: boolean;
}

/** A bare `runctl` on a terminal: where things stand, with the commands for it. Undefined where the help says more. */
export async function showOverview(context: Invocation): Promise<CommandResult | undefined> {
  const { env, stdout, clock } = context;
  if (!context.stdin().isTTY || !stdout.isTTY) return undefined;
  const settings = resolveWithoutApiKey({}, env);
  const baseUrl = valueIfGiven(settings.baseUrl);
  if (baseUrl === undefined) return undefined;
  const nowMs = clock.nowMs();
  const journal = journalOf(context, { needed: true });
  const automations = parseAutomationNames([], valueIfGiven(settings.project));
  const standing = whatStands(journal, { baseUrl, automations }, nowMs);
  if (standing.isEmpty) return { next: 'start a first run: `runctl trigger <automation> --watch`' };
  const { runTable } = await import('../render/tables.ts');
  return {
    text: (theme, lines) => overviewText(standing, { nowMs, runTable }, theme, lines),
    next: '`runctl list` shows every run, `runctl --help` every command',
  };
}

function whatStands(
  journal: Journal,
  filter: { baseUrl: string; automations: ReturnType<typeof parseAutomationNames> },
  nowMs: number,
): Standing {
  const sentKeys = new Set(triggersBeingSent(journal, filter.baseUrl).map(({ idempotencyKey }) => idempotencyKey));
  const settled = new Set<string>(); // automations whose newest finished run completed
  const standing: Standing = { unresolved: [], unfinished: [], failed: [], isEmpty: true };
  for (const run of journal.runs({ ...filter, sinceMs: nowMs - openMs })) {
    standing.isEmpty = false;
    const name = fullNameOf(run.target);
    if (run.executionId === null) {
      const isSent = sentKeys.has(run.idempotencyKey ?? '');
      if (isOpen(run, nowMs) && !isSent && !run.isSuperseded) standing.unresolved.push(run);
    } else if (isUnfinished(run)) {
      if (isOpen(run, nowMs)) standing.unfinished.push(run);
    } else if (run.status !== null && endedWell(run.status)) settled.add(name);
    else if (run.status !== null && !settled.has(name)) {
      if (nowMs - Date.parse(run.completedAt ?? run.at) < dayMs) standing.failed.push(run);
      settled.add(name);
    }
  }
  if (standing.isEmpty) standing.isEmpty = journal.runs(filter).next().done === true;
  return standing;
}

const mostShown = 4;

function overviewText(
  standing: Standing,
  { nowMs, runTable: tableOf }: { nowMs: number; runTable: typeof runTable },
  theme: Theme,
  lines: WrapOptions,
): string {
  const { unresolved, unfinished, failed } = standing;
  const section = (heading: string, runs: readonly JournalRun[]) => {
    if (runs.length === 0) return [];
    const columns = lines.columns && lines.columns - 2;
    const rows = runs.slice(0, mostShown).map((run) => ({ ...run, isOld: isUnfinished(run) }));
    const [, ...shown] = tableOf(rows, nowMs, theme, { columns }).trimEnd().split('\n');
    const more = runs.length > mostShown ? [theme.dim(`and ${runs.length - mostShown} more`)] : [];
    return [renderMarkup(heading, theme, lines), ...[...shown, ...more].map((line) => `  ${line}`)];
  };
  const all = [
    ...section('Triggers without a response: `runctl recover`', unresolved),
    ...section('Not finished when last polled: `runctl watch --all`', unfinished),
    ...section('Failed since yesterday: `runctl result <automation>` says why', failed),
  ];
  if (all.length === 0) all.push('Nothing is unresolved, unfinished or failed since yesterday.');
  return `${all.join('\n')}\n`;
}
