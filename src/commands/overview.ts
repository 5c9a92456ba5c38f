import { isJournalIncomplete, journalOf } from '../connection/open-journal.ts';
import type { CommandContext } from '../context.ts';
import type { Journal } from '../journal/journal.ts';
import { createProcesses, senderOf } from '../journal/processes.ts';
import type { CommandResult } from '../output/command-result.ts';
import { colorOfStatus, shortId, symbolOfStatus } from '../output/status-text.ts';
import type { Theme } from '../output/theme.ts';
import { cutTo, padTo, widthOf } from '../output/width.ts';
import { type Entry, isOpen, isUnfinished, maxOpenAgeMs, statusOf } from '../run/entry.ts';
import { fullNameOf } from '../run/run.ts';
import { isSuccess } from '../run/statuses.ts';
import { resolveForDisplay, resolveWithoutApiKey } from '../settings/resolve.ts';
import { optionalValue } from '../settings/table.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { dayMs, formatAgo } from '../system/time-text.ts';
import { introduce } from './overview-introduction.ts';

/**
 * Answers `runctl` without arguments on a terminal: what needs attention, or how to begin. Returns
 * undefined elsewhere, where the help is shown.
 */
export async function showOverview(
  context: CommandContext,
): Promise<CommandResult | number | undefined> {
  const { env, stdout, stderr, clock } = context;
  if (!context.stdin().isTTY || !stdout.isTTY || !stderr.isTTY) return undefined;
  const baseUrl = optionalValue(resolveWithoutApiKey({}, env).baseUrl);
  if (baseUrl === undefined) return introduce(context);
  const journal = journalOf(context, { needed: true });
  // If records are missing, it isn't known whether something needs attention.
  const isIncomplete = isJournalIncomplete(context);
  if (!isIncomplete && journal.entries({ baseUrl }).next().done)
    return noRuns(await hasApiKey(context));
  const nowMs = clock.nowMs();
  const entries = entriesInNeed(journal, baseUrl, nowMs);
  const nothing = isIncomplete ? '' : allIsWell;
  return {
    forPeople: {
      text: (theme, { columns = 80 }) =>
        entries.length > 0 ? overviewLines(entries, nowMs, theme, columns) : nothing,
      next: '`runctl list` shows every run, `runctl --help` every command',
    },
  };
}

const noRuns = (isSetUp: boolean): CommandResult => ({
  forPeople: {
    text: () => 'No runs yet.\n',
    next: isSetUp
      ? 'start the first one: `runctl trigger <automation> --watch`'
      : 'set the API key first: `runctl config`',
  },
});

/** Whether an API key is set, or a command that prints it. Nothing is sent. */
async function hasApiKey(context: CommandContext): Promise<boolean> {
  const { apiKey } = await resolveForDisplay({}, context);
  return (apiKey.value ?? apiKey.command) !== undefined;
}

const allIsWell = 'Nothing is unresolved or unfinished, and nothing failed in the last 24 hours.\n';

/**
 * Unresolved triggers, unfinished runs, and automations whose newest finished run failed in the
 * last 24 hours.
 */
function entriesInNeed(journal: Journal, baseUrl: string, nowMs: number): Entry[] {
  const entries = [...journal.allEntries({ baseUrl, sinceMs: nowMs - maxOpenAgeMs })];
  const open = entries.filter((entry) => isOpen(entry, nowMs));
  const processes = createProcesses();
  const unresolved = open
    .filter((entry) => entry.kind === 'unresolved')
    .filter((entry) => !entry.isSuperseded && senderOf(entry, processes, nowMs) === undefined);
  const unfinished = open.filter(isUnfinished);
  const failed = newestFinishedRuns(entries).filter((run) => {
    const agoMs = nowMs - Date.parse(run.completedAt ?? run.at);
    return !isSuccess(run.status) && agoMs < dayMs;
  });
  return [...unresolved, ...unfinished, ...failed];
}

/** The newest finished run of each automation. The entries begin with the newest one. */
function newestFinishedRuns(entries: readonly Entry[]) {
  const finished = entries.filter((entry) => entry.kind === 'run').filter(({ isFinal }) => isFinal);
  const names = new Set<string>();
  return finished.filter(({ target }) => {
    const name = fullNameOf(target);
    if (names.has(name)) return false;
    names.add(name);
    return true;
  });
}

const maxLines = 10;

/**
 * Lines such as `✖ FAILED nightly 3h ago: step_failed: Step …  → runctl result 4b7c1234`, where all
 * but the command may be cut.
 */
function overviewLines(
  entries: readonly Entry[],
  nowMs: number,
  theme: Theme,
  columns: number,
): string {
  const shown = entries.slice(0, maxLines);
  const texts = shown.map((entry) => entryText(entry, nowMs));
  const commands = shown.map(nextCommandFor);
  const arrow = `  ${theme.symbols.arrow} `;
  const commandColumns = widest(commands);
  // The symbol and the blank behind it take two columns.
  const textColumns = Math.min(widest(texts), columns - 2 - widthOf(arrow) - commandColumns);
  const lines = shown.map((entry, index) => {
    const text = padTo(cutTo(texts[index] ?? '', textColumns, theme), textColumns);
    return `${symbolOf(entry, theme)} ${text}${arrow}${theme.busy(commands[index] ?? '')}\n`;
  });
  const more = entries.length > maxLines ? `and ${entries.length - maxLines} more\n` : '';
  return lines.join('') + more;
}

const widest = (texts: readonly string[]) => Math.max(...texts.map(widthOf));

function symbolOf(entry: Entry, theme: Theme): string {
  if (entry.kind !== 'run') return theme.warn(theme.symbols.warn);
  return colorOfStatus(entry, theme)(symbolOfStatus(entry, theme));
}

function entryText(entry: Entry, nowMs: number): string {
  const run = entry.kind === 'run' ? entry : undefined;
  const ago = formatAgo(nowMs - Date.parse(run?.completedAt ?? run?.statusAt ?? entry.at));
  // An overview polls nothing, so an unfinished run may have finished since.
  const when = isUnfinished(entry) ? `, last seen ${ago}` : ` ${ago}`;
  const reason = run?.error ? `: ${run.error}` : '';
  return sanitizeLine(`${statusOf(entry)} ${entry.target.automationName}${when}${reason}`);
}

/** What to type next. */
function nextCommandFor(entry: Entry): string {
  if (entry.kind === 'unresolved') return 'runctl recover';
  const command = entry.kind === 'run' && entry.isFinal ? 'result' : 'watch';
  return `runctl ${command} ${entry.executionId.slice(0, shortId)}`;
}
