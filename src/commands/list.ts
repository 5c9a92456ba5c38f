import type { Context } from '../context.ts';
import { isUnknown, type JournalEntry } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { Ports } from '../run/ports.ts';
import type { Report, RunReport } from '../run/report.ts';
import { type Automation, isSameAutomation, type RunStatus } from '../run/run.ts';
import { responseLost, unknownReport } from '../run/start-run.ts';
import { dayMs } from '../run/time.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { parseAutomation } from './automation.ts';
import type { CommandResult } from './command.ts';
import { notRecorded } from './find-run.ts';
import { readableEntries, usualOf } from './follow.ts';
import { open, openJournal } from './open.ts';
import { readStatus } from './status.ts';

export interface ListFlags {
  limit?: number;
  /** The statuses to show, in capitals. */
  statuses?: readonly string[];
  /** In milliseconds since 1970. */
  sinceMs?: number;
  latest?: boolean;
  offline?: boolean;
  giveUpAfterMs?: number;
}

const defaultLimit = 20;
const listPatienceMs = 5000;

/** Lists triggers and runs of this machine, newest first. */
export async function list(
  name: string | undefined,
  flags: ListFlags,
  context: Context,
): Promise<CommandResult> {
  const settings = resolveSettings(context);
  const journal = openJournal(context, settings);
  const automation = name === undefined ? undefined : parseAutomation(name, settings);
  const hasSettings = settings.baseUrl !== undefined && settings.apiKey !== undefined;
  const ports = flags.offline || !hasSettings ? undefined : (await open(context)).ports;
  const entries = selectEntries(automation, flags, journal, context.clock.nowMs());
  const {
    statuses,
    sinceMs,
    limit = sinceMs === undefined ? defaultLimit : Number.POSITIVE_INFINITY,
  } = flags;
  if (entries.length === 0 && context.stderr.isTTY) {
    const next = hasSettings ? 'runctl trigger <automation> --watch' : 'runctl config';
    context.emit({ type: 'note', text: `nothing to list, next: ${next}` });
  }
  const recent = readableEntries(journal);
  const report = (entry: JournalEntry) =>
    reportOf(entry, recent, ports, flags.giveUpAfterMs ?? listPatienceMs, context);
  if (!statuses) {
    const shown = entries.slice(0, limit);
    return { reports: await Promise.all(shown.map(report)), show: 'rows' };
  }
  // The status of an unfinished run has to be asked for before it can be compared.
  const compared = entries.filter(
    (entry) => isUnfinished(entry) || statuses.includes(recordedWord(entry)),
  );
  const reports = await Promise.all(
    compared.map(async (entry) => ({ entry, row: await report(entry) })),
  );
  const rows = reports.flatMap(({ row }) => (isWanted(row, statuses) ? [row] : []));
  return { reports: rows.slice(0, limit), show: 'rows' };
}

/** A run that couldn't be polled is shown, because it may be one that is asked for. */
const isWanted = (row: Report, statuses: readonly string[]) =>
  statuses.includes(statusWordOf(row)) ||
  (row.kind === 'unreadable' && row.decidesExitCode !== false);

/** Newest first. Throws a `Problem` if the journal doesn't know the automation. */
function selectEntries(
  automation: Automation | undefined,
  { limit = defaultLimit, sinceMs, latest, statuses }: ListFlags,
  journal: Journal,
  nowMs: number,
): JournalEntry[] {
  const isSelected = (entry: JournalEntry) => entry.atMs >= (sinceMs ?? 0);
  if (automation) {
    const entries = journal
      .search(automation.name)
      .filter((entry) => isSameAutomation(entry.automation, automation));
    if (entries.length === 0) {
      notRecorded(`this machine has no record of ${automation.name}`);
    }
    const selected = entries.filter(isSelected).toReversed();
    return latest ? latestOf(selected, nowMs) : selected;
  }
  if (sinceMs !== undefined) {
    const selected = journal.recent(sinceMs).filter(isSelected).toReversed();
    return latest ? latestOf(selected, nowMs) : selected;
  }
  if (latest) return latestOf(journal.ofEachAutomation().toReversed(), nowMs);
  const countsForLimit = (entry: JournalEntry) =>
    !statuses || statuses.includes(recordedWord(entry));
  return journal
    .recentUntil((entries) => entries.filter(countsForLimit).length >= limit)
    .toReversed();
}

/** Of each automation the newest run of the last day that is unfinished, else the newest entry. */
function latestOf(entries: readonly JournalEntry[], nowMs: number): JournalEntry[] {
  const isActive = (entry: JournalEntry) => isUnfinished(entry) && entry.atMs > nowMs - dayMs;
  const latest = new Map<string, JournalEntry>();
  for (const entry of entries) {
    const id = `${entry.automation.projectId}/${entry.automation.name}`;
    const other = latest.get(id);
    if (!other || (!isActive(other) && isActive(entry))) latest.set(id, entry);
  }
  return [...latest.values()];
}

const isUnfinished = ({ executionId, status }: JournalEntry) =>
  executionId !== undefined && !status?.isFinal;

/** The word of the status column, as far as the journal knows. */
function recordedWord(entry: JournalEntry): string {
  if (isUnknown(entry)) return 'UNKNOWN';
  if (entry.notStarted) return 'NOT_STARTED';
  return entry.status?.status ?? 'RUNNING';
}

/** The word of the status column. */
export function statusWordOf(report: Report): string {
  switch (report.kind) {
    case 'run':
      return report.status?.status ?? 'RUNNING';
    case 'unknown':
      return 'UNKNOWN';
    case 'not_started':
      return 'NOT_STARTED';
    case 'unreadable':
      return report.failure.kind === 'not_found'
        ? 'NOT_FOUND'
        : (report.recorded?.status.status ?? 'RUNNING');
    default:
      return '-';
  }
}

async function reportOf(
  entry: JournalEntry,
  recent: readonly JournalEntry[],
  ports: Ports | undefined,
  patienceMs: number,
  { clock }: Context,
): Promise<Report> {
  const { automation, executionId, trigger, atMs, notStarted } = entry;
  if (executionId === undefined) {
    const facts = { automation, atMs, decidesExitCode: false };
    if (notStarted) return { kind: 'not_started', ...facts, failure: notStarted };
    const { idempotencyKey = '', isKeyGiven = false } = trigger ?? {};
    return { ...unknownReport({ automation, idempotencyKey, isKeyGiven }, responseLost), ...facts };
  }
  const row = {
    automation,
    executionId,
    atMs,
    decidesExitCode: false,
    reason: entry.status?.reason,
  };
  const status = recordedStatus(entry);
  if (status.isFinal) return { kind: 'run', ...row, status };
  const usualMs = usualOf(automation, recent);
  const recorded: RunReport = { kind: 'run', ...row, status, usualMs };
  const ageMs = clock.nowMs() - (entry.status?.atMs ?? atMs);
  const aged = { recorded: { status, ageMs } };
  if (!ports || clock.nowMs() - atMs > dayMs) return { ...recorded, ...aged };
  const polled = await readStatus({ automation, executionId }, patienceMs, ports);
  if (polled.kind === 'run') return { ...polled, ...row, usualMs };
  // That the service doesn't know the run is an answer.
  const decidesExitCode = polled.failure.kind !== 'not_found';
  return { ...polled, ...aged, decidesExitCode };
}

/** What the journal has, in the shape that the service would send. */
function recordedStatus(entry: JournalEntry): RunStatus {
  const { automation, executionId, status, atMs } = entry;
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
    ...(creditsCharged === undefined ? {} : { creditsCharged }),
    ...(reason === undefined ? {} : { error: { message: reason } }),
  };
  return { status: word, isFinal, startedAtMs, completedAtMs, creditsCharged, document };
}
