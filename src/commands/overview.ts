import { journalOf } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { isUnfinished } from '../journal/fold.ts';
import { isOpen, type Journal, type JournalRun, openMs } from '../journal/journal.ts';
import type { CommandResult } from '../output/output.ts';
import { colorOfStatus, shortId, symbolOfStatus } from '../output/status-text.ts';
import type { Theme } from '../output/theme.ts';
import { cutTo, padTo, widthOf } from '../output/width.ts';
import { fullNameOf, nameOf } from '../run/run.ts';
import { endedWell, lastStatusOf } from '../run/statuses.ts';
import { resolveWithoutApiKey } from '../settings/resolve.ts';
import { valueIfGiven } from '../settings/table.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { dayMs, formatAgo } from '../system/time-text.ts';
import { introduce } from './introduction.ts';
import { triggersBeingSent } from './list-notes.ts';

/** A bare `runctl` on a terminal: what needs attention, or how to begin. Undefined elsewhere, where the help is shown. */
export async function showOverview(context: Invocation): Promise<CommandResult | number | undefined> {
  const { env, stdout, stderr, clock } = context;
  if (!context.stdin().isTTY || !stdout.isTTY || !stderr.isTTY) return undefined;
  const baseUrl = valueIfGiven(resolveWithoutApiKey({}, env).baseUrl);
  if (baseUrl === undefined) return introduce(context);
  const journal = journalOf(context, { needed: true });
  if (journal.runs({ baseUrl }).next().done)
    return { next: 'start a first run: `runctl trigger <automation> --watch`' };
  const nowMs = clock.nowMs();
  const runs = runsInNeed(journal, baseUrl, nowMs);
  return {
    text: (theme, { columns = 80 }) => (runs.length > 0 ? linesOf(runs, nowMs, theme, columns) : allIsWell),
    next: '`runctl list` shows every run, `runctl --help` every command',
  };
}

const allIsWell = 'Nothing is unresolved or unfinished, and nothing failed in the last 24 hours.\n';

/** Unresolved triggers, unfinished runs, and automations whose newest finished run failed in the last 24 hours. */
function runsInNeed(journal: Journal, baseUrl: string, nowMs: number): JournalRun[] {
  const sentKeys = new Set(triggersBeingSent(journal, baseUrl).map(({ idempotencyKey }) => idempotencyKey));
  const finished = new Set<string>(); // automations
  const unresolved: JournalRun[] = [];
  const unfinished: JournalRun[] = [];
  const failed: JournalRun[] = [];
  for (const run of journal.runs({ baseUrl, sinceMs: nowMs - openMs })) {
    const name = fullNameOf(run.target);
    if (run.executionId === null) {
      const isSent = sentKeys.has(run.idempotencyKey ?? '');
      if (isOpen(run, nowMs) && !isSent && !run.isSuperseded) unresolved.push(run);
    } else if (isUnfinished(run)) {
      if (isOpen(run, nowMs)) unfinished.push(run);
    } else if (run.status !== null && !finished.has(name)) {
      finished.add(name);
      const isRecent = nowMs - Date.parse(run.completedAt ?? run.at) < dayMs;
      if (!endedWell(run.status) && isRecent) failed.push(run);
    }
  }
  return [...unresolved, ...unfinished, ...failed];
}

const mostLines = 10;

/** Such as `✖ FAILED nightly 3h ago: step_failed: Step …  → runctl result 4b7c1234`, where all but the command may be cut. */
function linesOf(runs: readonly JournalRun[], nowMs: number, theme: Theme, columns: number): string {
  const { arrow } = theme.symbols;
  const rows = runs.slice(0, mostLines).map((run) => ({ ...factsOf(run, nowMs, theme), command: commandFor(run) }));
  const widest = (cell: 'text' | 'command') => Math.max(...rows.map((row) => widthOf(row[cell])));
  const width = Math.min(widest('text'), columns - widthOf(`  ${arrow} `) - 2 - widest('command'));
  const lines = rows.map(({ symbol, style, text, command }) => {
    const shown = padTo(cutTo(text, width, theme), width);
    return `${style(symbol)} ${shown}  ${arrow} ${theme.busy(command)}\n`;
  });
  const more = runs.length > mostLines ? `and ${runs.length - mostLines} more\n` : '';
  return lines.join('') + more;
}

function factsOf(run: JournalRun, nowMs: number, theme: Theme) {
  const { target, status, isFinal, completedAt, statusAt, at, error } = run;
  const ago = formatAgo(nowMs - Date.parse(completedAt ?? statusAt ?? at));
  const text = `${lastStatusOf(run)} ${nameOf(target)} ${ago}${error ? `: ${error}` : ''}`;
  const shown = status === null ? undefined : { status, isFinal };
  return {
    text: sanitizeLine(text),
    symbol: shown ? symbolOfStatus(shown, theme) : theme.symbols.warn,
    style: shown ? colorOfStatus(shown, theme) : theme.warn,
  };
}

function commandFor({ executionId, isFinal }: JournalRun): string {
  if (executionId === null) return 'runctl recover';
  return `runctl ${isFinal ? 'result' : 'watch'} ${executionId.slice(0, shortId)}`;
}
