import type { Context } from '../context.ts';
import { isUnknown, type JournalEntry, stillCounts } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { Report, UnknownReport } from '../run/report.ts';
import { isSameAutomation } from '../run/run.ts';
import { responseLost, startRun, unknownReport } from '../run/start-run.ts';
import { dayMs, hourMs } from '../run/time.ts';
import { parseAutomation } from './automation.ts';
import type { CommandResult } from './command.ts';
import { notRecorded } from './find-run.ts';
import { deadlineOf, type FollowFlags, follow, readPatienceMs } from './follow.ts';
import { type Opened, open } from './open.ts';
import { whyNotSent } from './trigger.ts';

export interface RecoverFlags extends FollowFlags {
  watch?: boolean;
}

const maxAgeMs = 4 * hourMs;
/** How far back unknown triggers are searched for. */
const searchedMs = 7 * dayMs;

/**
 * Sends unknown triggers again, which finds the run, or starts it if the request never arrived. Of
 * those that it doesn't send it says what to look for.
 */
export async function recover(
  name: string | undefined,
  flags: RecoverFlags,
  context: Context,
): Promise<CommandResult> {
  const opened = await open(context);
  const { journal, settings } = opened;
  const nowMs = context.clock.nowMs();
  const automation = name === undefined ? undefined : parseAutomation(name, settings);
  const entries = automation
    ? journal
        .search(automation.name)
        .filter((each) => isSameAutomation(each.automation, automation))
    : journal.recent(nowMs - searchedMs);
  if (automation && entries.length === 0) {
    notRecorded(`this machine has no record of ${automation.name}`);
  }
  // Whoever names the automation hears again of what was reported within its day.
  const isWanted = (entry: JournalEntry) =>
    stillCounts(entry) ||
    (automation !== undefined && isUnknown(entry) && ageMs(entry, nowMs) < dayMs);
  const wanted = entries.filter(isWanted);
  if (wanted.length === 0) {
    context.emit({ type: 'note', text: 'nothing to recover: no trigger is unknown' });
  }
  const reports = await Promise.all(
    wanted.map((entry) => recoverOne(entry, entries, flags, opened, context)),
  );
  return {
    reports: reports.flat(),
    show: flags.watch ? 'summaries' : 'ids',
    afterPrint: () => recordReported(reports.flat(), wanted, journal, context),
  };
}

/** By its first `sent` that wasn't refused, forward or back, because clocks are set both ways. */
const ageMs = ({ trigger }: JournalEntry, nowMs: number) =>
  Math.abs(nowMs - (trigger?.openSents[0]?.atMs ?? 0));

/** Nothing if another command has resolved it meanwhile, and no run was started. */
async function recoverOne(
  entry: JournalEntry,
  entries: readonly JournalEntry[],
  flags: RecoverFlags,
  opened: Opened,
  context: Context,
): Promise<Report[]> {
  const { automation, trigger } = entry;
  if (!trigger) return [];
  const { idempotencyKey, isKeyGiven, openSents } = trigger;
  const sendable = { automation, idempotencyKey, isKeyGiven };
  const atMs = openSents[0]?.atMs ?? entry.atMs;
  const unsent = whyNotRecovered(entry, entries, opened, context);
  if (unsent) return [{ ...unknownReport(sendable, responseLost), atMs, ...unsent }];

  const options = {
    patienceMs: flags.giveUpAfterMs ?? readPatienceMs,
    deadlineMs: deadlineOf(flags, context),
    ifActive: 'fail' as const,
    areKeysIgnored: false,
    unknownSinceMs: atMs,
  };
  const report = await startRun(sendable, options, opened.ports);
  if (report.kind === 'not_started') return [];
  if (report.kind === 'unknown') return [{ ...report, atMs, isRecoverable: true }];
  if (!flags.watch) return [report];
  const run = { automation, executionId: report.executionId };
  const found = { isAccepted: true, isRecorded: true };
  const followed = await follow(run, found, flags, opened, context);
  return [{ ...followed, trigger: report.trigger, isLastRun: true }];
}

type Unsent = Pick<UnknownReport, 'notSentBecause' | 'isRecoverable' | 'isRepeatable'>;

/** Undefined if it may be sent again. */
function whyNotRecovered(
  entry: JournalEntry,
  entries: readonly JournalEntry[],
  opened: Opened,
  { clock }: Context,
): Unsent | undefined {
  const ageNowMs = ageMs(entry, clock.nowMs());
  const later = entries.filter(
    ({ automation, trigger, place }) =>
      trigger && place > entry.place && isSameAutomation(automation, entry.automation),
  );
  const told = { isRecoverable: false };
  const unsent = whyNotSent(entry, opened);
  const isRepeatable = !unsent && ageNowMs < dayMs;
  if (later.some(({ executionId }) => executionId !== undefined)) {
    return { notSentBecause: 'a later trigger has a run', ...told };
  }
  if (later.some(isUnknown)) {
    return { notSentBecause: 'a later trigger is unknown, too', ...told, isRepeatable };
  }
  if (ageNowMs > maxAgeMs) {
    return { notSentBecause: 'it is more than 4h old', ...told, isRepeatable };
  }
  return unsent;
}

/** What has been printed counts no more, until it is sent again. */
function recordReported(
  reports: readonly Report[],
  wanted: readonly JournalEntry[],
  journal: Journal,
  { emit }: Context,
): void {
  const told = reports.flatMap((report) =>
    report.kind === 'unknown' && report.isRecoverable === false
      ? (report.trigger?.idempotencyKey ?? [])
      : [],
  );
  for (const { automation, trigger } of wanted) {
    if (!trigger || !told.includes(trigger.idempotencyKey)) continue;
    const sentIds = trigger.openSents.map(({ id }) => id);
    const record = { type: 'reported' as const, automation, key: trigger.idempotencyKey, sentIds };
    try {
      journal.append(record, { isDurable: true });
    } catch (error) {
      emit({ type: 'warning', text: `the journal can't be written: ${(error as Error).message}` });
    }
  }
}
