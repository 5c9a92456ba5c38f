import { isJournalIncomplete, journalOf } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import type { Journal } from '../journal/journal.ts';
import type { Result } from '../output/result.ts';
import { colorOfStatus, shortId, symbolOfStatus } from '../output/status-text.ts';
import type { Theme } from '../output/theme.ts';
import { cutTo, padTo, widthOf } from '../output/width.ts';
import { type Entry, isOpen, isUnfinished, openMs, statusOf } from '../run/entry.ts';
import { fullNameOf } from '../run/run.ts';
import { isSuccess } from '../run/statuses.ts';
import { resolveWithoutApiKey, showSettings } from '../settings/resolve.ts';
import { valueIfGiven } from '../settings/table.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { dayMs, formatAgo } from '../system/time-text.ts';
import { introduce } from './introduction.ts';
import { triggersBeingSent } from './list-notes.ts';

/**
 * Answers `runctl` without arguments on a terminal: what needs attention, or how to begin. Returns
 * undefined elsewhere, where the help is shown.
 */
export async function showOverview(context: Invocation): Promise<Result | number | undefined> {
  const { env, stdout, stderr, clock } = context;
  if (!context.stdin().isTTY || !stdout.isTTY || !stderr.isTTY) return undefined;
  const baseUrl = valueIfGiven(resolveWithoutApiKey({}, env).baseUrl);
  if (baseUrl === undefined) return introduce(context);
  const journal = journalOf(context, { needed: true });
  // Nobody knows whether all is well if records are missing.
  const isIncomplete = isJournalIncomplete(context);
  if (!isIncomplete && journal.entries({ baseUrl }).next().done)
    return noRuns(await hasApiKey(context));
  const nowMs = clock.nowMs();
  const entries = entriesInNeed(journal, baseUrl, nowMs);
  const nothing = isIncomplete ? '' : allIsWell;
  return {
    forPeople: {
      text: (theme, { columns = 80 }) =>
        entries.length > 0 ? linesOf(entries, nowMs, theme, columns) : nothing,
      next: '`runctl list` shows every run, `runctl --help` every command',
    },
  };
}

const noRuns = (isSetUp: boolean): Result => ({
  forPeople: {
    text: () => 'No runs yet.\n',
    next: isSetUp
      ? 'start the first one: `runctl trigger <automation> --watch`'
      : 'set the API key first: `runctl config`',
  },
});

/** Is an API key set, or a command that prints it? Nothing is sent. */
async function hasApiKey(context: Invocation): Promise<boolean> {
  const { apiKey } = await showSettings({}, context);
  return (apiKey.value ?? apiKey.command) !== undefined;
}

const allIsWell = 'Nothing is unresolved or unfinished, and nothing failed in the last 24 hours.\n';

/**
 * Unresolved triggers, unfinished runs, and automations whose newest finished run failed in the
 * last 24 hours.
 */
function entriesInNeed(journal: Journal, baseUrl: string, nowMs: number): Entry[] {
  const sentKeys = new Set(
    triggersBeingSent(journal, baseUrl).map(({ idempotencyKey }) => idempotencyKey),
  );
  const finished = new Set<string>(); // automations
  const unresolved: Entry[] = [];
  const unfinished: Entry[] = [];
  const failed: Entry[] = [];
  for (const entry of journal.entries({ baseUrl, sinceMs: nowMs - openMs })) {
    const name = fullNameOf(entry.target);
    if (entry.kind === 'unresolved') {
      const isSent = sentKeys.has(entry.idempotencyKey);
      if (isOpen(entry, nowMs) && !isSent && !entry.isSuperseded) unresolved.push(entry);
    } else if (isUnfinished(entry)) {
      if (isOpen(entry, nowMs)) unfinished.push(entry);
    } else if (entry.kind === 'run' && !finished.has(name)) {
      finished.add(name);
      const isRecent = nowMs - Date.parse(entry.completedAt ?? entry.at) < dayMs;
      if (!isSuccess(entry.status) && isRecent) failed.push(entry);
    }
  }
  return [...unresolved, ...unfinished, ...failed];
}

const maxLines = 10;

/**
 * Such as `✖ FAILED nightly 3h ago: step_failed: Step …  → runctl result 4b7c1234`, where all but
 * the command may be cut.
 */
function linesOf(entries: readonly Entry[], nowMs: number, theme: Theme, columns: number): string {
  const { arrow } = theme.symbols;
  const rows = entries
    .slice(0, maxLines)
    .map((entry) => ({ ...factsOf(entry, nowMs, theme), command: commandFor(entry) }));
  const widest = (cell: 'text' | 'command') => Math.max(...rows.map((row) => widthOf(row[cell])));
  const width = Math.min(widest('text'), columns - widthOf(`  ${arrow} `) - 2 - widest('command'));
  const lines = rows.map(({ symbol, style, text, command }) => {
    const shown = padTo(cutTo(text, width, theme), width);
    return `${style(symbol)} ${shown}  ${arrow} ${theme.busy(command)}\n`;
  });
  const more = entries.length > maxLines ? `and ${entries.length - maxLines} more\n` : '';
  return lines.join('') + more;
}

function factsOf(entry: Entry, nowMs: number, theme: Theme) {
  const run = entry.kind === 'run' ? entry : undefined;
  const { completedAt, statusAt, error } = run ?? {};
  const ago = formatAgo(nowMs - Date.parse(completedAt ?? statusAt ?? entry.at));
  // An overview polls nothing, so an unfinished run may have finished since.
  const when = isUnfinished(entry) ? `, last seen ${ago}` : ` ${ago}`;
  const about = `${statusOf(entry)} ${entry.target.automationName}${when}`;
  return {
    text: sanitizeLine(error ? `${about}: ${error}` : about),
    symbol: run ? symbolOfStatus(run, theme) : theme.symbols.warn,
    style: run ? colorOfStatus(run, theme) : theme.warn,
  };
}

function commandFor(entry: Entry): string {
  if (entry.kind === 'unresolved') return 'runctl recover';
  const isFinal = entry.kind === 'run' && entry.isFinal;
  return `runctl ${isFinal ? 'result' : 'watch'} ${entry.executionId.slice(0, shortId)}`;
}
