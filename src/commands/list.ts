import type { Context } from '../context.ts';
import { failureOf } from '../core/failure.ts';
import type { Ports } from '../core/ports.ts';
import type { RunOrTriggerReport } from '../core/report.ts';
import type { Automation, RunStatus } from '../core/run.ts';
import { unknownReport } from '../core/start-run.ts';
import { dayMs } from '../core/time.ts';
import { readStatus } from '../core/watch-run.ts';
import { isUnknown, type JournalEntry } from '../journal/entries.ts';
import { usualDurationMs } from '../journal/history.ts';
import type { Journal } from '../journal/journal.ts';
import { stateOf } from '../output/state.ts';
import { resolveSettings } from '../settings/settings.ts';
import { parseAutomation, recordedEntries } from './arguments.ts';
import type { CommandResult } from './command.ts';
import { open, openJournal } from './open.ts';

export interface ListFlags {
  limit?: number;
  /** The statuses to show, in capitals. */
  statuses?: readonly string[];
  /** In milliseconds since 1970. */
  sinceAtMs?: number;
  latest?: boolean;
  offline?: boolean;
  giveUpAfterMs?: number;
}

const listPatienceMs = 5000;

/** Lists triggers and runs of this machine, newest first. */
export async function list(
  name: string | undefined,
  flags: ListFlags,
  context: Context,
): Promise<CommandResult> {
  const { statuses, sinceAtMs, latest, offline, giveUpAfterMs = listPatienceMs } = flags;
  const limit = flags.limit ?? (sinceAtMs === undefined ? 20 : Number.POSITIVE_INFINITY);
  const settings = resolveSettings(context);
  const journal = openJournal(context, settings);
  const automation = name === undefined ? undefined : parseAutomation(name, settings);
  const hasSettings = settings.baseUrl !== undefined && (offline || settings.apiKey !== undefined);
  const ports = offline || !hasSettings ? undefined : (await open(context)).ports;
  const nowMs = context.clock.nowMs();
  const isWanted = (row: RunOrTriggerReport) =>
    !statuses || statuses.includes(stateOf(row, nowMs).word);
  const hasEnough = (all: readonly JournalEntry[]) =>
    (statuses ? all.filter((entry) => isWanted(entryRow(entry, nowMs))) : all).length >= limit;
  const entries = selectEntries(automation, flags, journal, hasEnough)
    .filter(({ atMs }) => atMs >= (sinceAtMs ?? 0))
    .toReversed();
  if (entries.length === 0 && context.stderr.isTTY) {
    const next = hasSettings ? 'runctl trigger <automation> --watch' : 'runctl config';
    context.emit({ type: 'note', text: `nothing to list, next: ${next}` });
  }
  const rows = (latest ? latestOf(entries, nowMs) : entries).map((entry) => entryRow(entry, nowMs));
  const pollAll = (some: readonly RunOrTriggerReport[]) =>
    Promise.all(some.map((row) => pollRow(row, giveUpAfterMs, { ports, journal, nowMs })));
  if (!statuses) return { reports: await pollAll(rows.slice(0, limit)), show: 'rows' };

  // The status of an unfinished run has to be asked for before it can be compared.
  const polled = await pollAll(rows.filter((row) => isUnfinished(row) || isWanted(row)));
  // A run that couldn't be polled is shown, because it may be one that is asked for.
  const shown = polled.filter((row) => isWanted(row) || isUnpolled(row));
  return { reports: shown.slice(0, limit), show: 'rows' };
}

/** Oldest first. Throws a `Problem` if the journal doesn't know the automation. */
function selectEntries(
  automation: Automation | undefined,
  { sinceAtMs, latest }: ListFlags,
  journal: Journal,
  hasEnough: (entries: readonly JournalEntry[]) => boolean,
): JournalEntry[] {
  if (automation) return recordedEntries(automation, journal);
  if (sinceAtMs !== undefined) return journal.recent(sinceAtMs);
  if (latest) return journal.ofEachAutomation();
  return journal.recentUntil(hasEnough);
}

/** Of each automation the newest run of the last day that is unfinished, else the newest entry. */
function latestOf(entries: readonly JournalEntry[], nowMs: number): JournalEntry[] {
  const isActive = ({ executionId, status, atMs }: JournalEntry) =>
    executionId !== undefined && !status?.isFinal && atMs > nowMs - dayMs;
  const latest = new Map<string, JournalEntry>();
  for (const entry of entries) {
    const id = `${entry.automation.projectId}/${entry.automation.name}`;
    const other = latest.get(id);
    if (!other || (!isActive(other) && isActive(entry))) latest.set(id, entry);
  }
  return [...latest.values()];
}

/** That the service doesn't know the run is an answer. */
const isUnpolled = (row: RunOrTriggerReport) =>
  row.kind === 'unreadable' && row.failure.kind !== 'not_found';

const isUnfinished = (row: RunOrTriggerReport) => row.kind === 'run' && !row.status?.isFinal;

/** What the journal alone says. */
function entryRow(entry: JournalEntry, nowMs: number): RunOrTriggerReport {
  const { automation, executionId, trigger, atMs, notStarted = failureOf('rejected') } = entry;
  const facts = { automation, atMs, decidesExitCode: false };
  if (trigger && isUnknown(entry)) return { ...unknownReport(trigger), ...facts };
  if (executionId === undefined) return { kind: 'not_started', ...facts, failure: notStarted };
  const status = recordedStatus(entry);
  const ageMs = Math.max(0, nowMs - (entry.status?.atMs ?? atMs)); // clocks are set back, too
  const statusAgeMs = status.isFinal ? undefined : ageMs;
  const { reason } = entry.status ?? {};
  return { kind: 'run', ...facts, executionId, status, statusAgeMs, reason };
}

/** What the journal has, in the shape that the service would send. */
function recordedStatus({ automation, executionId, status, atMs }: JournalEntry): RunStatus {
  const { status: word = 'RUNNING', isFinal = false, startedAtMs = atMs } = status ?? {};
  const { completedAtMs, creditsCharged, reason } = status ?? {};
  const iso = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const document = {
    executionId,
    projectId: automation.projectId,
    automationName: automation.name,
    status: word,
    startedAt: iso(startedAtMs),
    completedAt: iso(completedAtMs),
    creditsCharged,
    error: reason === undefined ? undefined : { message: reason },
  };
  return { status: word, isFinal, startedAtMs, completedAtMs, creditsCharged, document };
}

/** Asks for the status of a run of the last day that is unfinished. */
async function pollRow(
  row: RunOrTriggerReport,
  patienceMs: number,
  { ports, journal, nowMs }: { ports: Ports | undefined; journal: Journal; nowMs: number },
): Promise<RunOrTriggerReport> {
  const { automation, atMs = 0 } = row;
  if (row.kind !== 'run' || !isUnfinished(row) || atMs < nowMs - dayMs) return row;
  const unfinished = { ...row, usualMs: usualDurationMs(automation, journal) };
  if (!ports) return unfinished;
  const { executionId } = row;
  const answer = await readStatus({ automation, executionId }, { patienceMs }, ports);
  if (answer.kind === 'run') return { ...unfinished, ...answer, statusAgeMs: undefined };
  const unread = { ...row, ...answer };
  return { ...unread, decidesExitCode: isUnpolled(unread) };
}
