import type { Context } from '../context.ts';
import type { Report } from '../core/report.ts';
import { isSameAutomation } from '../core/run.ts';
import { startRun, unknownReport } from '../core/start-run.ts';
import { dayMs, hourMs } from '../core/time.ts';
import { isUnknown, isUnreported, type JournalEntry } from '../journal/entries.ts';
import { parseAutomation, recordedEntries } from './arguments.ts';
import type { CommandResult } from './command.ts';
import { type Opened, open } from './open.ts';
import { type Unsent, whyNotSent } from './unsent.ts';
import { type CommonWatchFlags, deadlineOf, readPatienceMs, watchTriggered } from './watch-one.ts';

const maxAgeMs = 4 * hourMs;
/** How far back unknown triggers are searched for. */
const searchedMs = 7 * dayMs;

/**
 * Sends unknown triggers again, which finds the run, or starts it if the request never arrived. Of
 * those that it doesn't send it says what to look for.
 */
export async function recover(
  name: string | undefined,
  flags: CommonWatchFlags,
  context: Context,
): Promise<CommandResult> {
  const opened = await open(context);
  const { journal, settings, ports } = opened;
  const nowMs = context.clock.nowMs();
  const entries =
    name === undefined
      ? journal.recent(nowMs - searchedMs)
      : recordedEntries(parseAutomation(name, settings), journal);
  // Whoever names the automation hears again of what was reported within its day.
  const wanted = entries.filter(
    (entry) =>
      isUnreported(entry) ||
      (name !== undefined && isUnknown(entry) && ageMs(entry, nowMs) < dayMs),
  );
  if (wanted.length === 0) {
    context.emit({ type: 'note', text: 'nothing is left to recover' });
  }
  const reports = await Promise.all(
    wanted.map((entry) => recoverOne(entry, entries, flags, opened, context)),
  );
  return {
    reports: reports.filter((report) => report !== undefined),
    show: flags.watch ? 'summaries' : 'ids',
    afterPrint() {
      // What has been printed counts no more, until it is sent again.
      for (const [index, { trigger }] of wanted.entries()) {
        const report = reports[index];
        if (!trigger || report?.kind !== 'unknown' || !report.remedy) continue;
        const sentIds = trigger.openSents.map(({ id }) => id);
        ports.recorder.appendReported(trigger, sentIds);
      }
    },
  };
}

/** Forward or back, because clocks are set both ways. */
const ageMs = ({ atMs }: JournalEntry, nowMs: number) => Math.abs(nowMs - atMs);

/** Undefined if another command has resolved it meanwhile, and no run was started. */
async function recoverOne(
  entry: JournalEntry,
  entries: readonly JournalEntry[],
  flags: CommonWatchFlags,
  opened: Opened,
  context: Context,
): Promise<Report | undefined> {
  const { trigger, atMs } = entry;
  if (!trigger) return undefined;
  const unsent = whyNotRecovered(entry, entries, opened, context.clock.nowMs());
  if (unsent) return { ...unknownReport(trigger), atMs, ...unsent };

  const options = {
    patienceMs: flags.giveUpAfterMs ?? readPatienceMs,
    deadlineMs: deadlineOf(flags, context),
    ifActive: 'fail' as const,
    areKeysIgnored: false,
    unknownSinceAtMs: atMs,
  };
  const report = await startRun(trigger, options, opened.ports);
  if (report.kind === 'not_started') return undefined;
  if (report.kind === 'unknown') return { ...report, atMs };
  return watchTriggered(report, flags, opened, context);
}

/** Why `recover` doesn't send an unknown trigger. Undefined if it may. */
function whyNotRecovered(
  entry: JournalEntry,
  entries: readonly JournalEntry[],
  opened: Opened,
  nowMs: number,
): Unsent | undefined {
  const later = entries.filter(
    ({ automation, trigger, place }) =>
      trigger && place > entry.place && isSameAutomation(automation, entry.automation),
  );
  if (later.some(({ executionId }) => executionId !== undefined)) {
    return { notSentBecause: 'a later trigger has a run', remedy: 'look' };
  }
  const unsent = whyNotSent(entry, opened);
  const remedy = !unsent && ageMs(entry, nowMs) < dayMs ? 'repeat' : 'look';
  if (later.some(isUnknown)) return { notSentBecause: 'a later trigger is unknown, too', remedy };
  if (ageMs(entry, nowMs) > maxAgeMs) return { notSentBecause: 'it is more than 4h old', remedy };
  return unsent;
}
