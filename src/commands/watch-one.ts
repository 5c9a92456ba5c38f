import type { Context } from '../context.ts';
import type { Report, RunReport, StoppedReport } from '../core/report.ts';
import { type Automation, isSameAutomation, type Run } from '../core/run.ts';
import type { StartReport } from '../core/start-run.ts';
import { minuteMs } from '../core/time.ts';
import { watchRun } from '../core/watch-run.ts';
import type { JournalEntry } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { Opened } from './open.ts';

/** The flags of commands that watch a run. */
export interface CommonWatchFlags {
  /** Of `trigger` and `recover`. */
  watch?: boolean;
  /** 0: never. */
  timeoutMs?: number;
  intervalMs?: number;
  giveUpAfterMs?: number;
}

/** The patience to trigger and to watch. */
export const watchPatienceMs = 10 * minuteMs;
/** The patience of the commands that ask once. */
export const readPatienceMs = 30_000;
const defaultTimeoutMs = 195 * minuteMs;

/** When `--timeout` expires, by `clock.elapsedMs`. */
export function deadlineOf({ timeoutMs = defaultTimeoutMs }: CommonWatchFlags, { clock }: Context) {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.elapsedMs() + timeoutMs;
}

/** Watches a run until it finishes. `isAccepted`: this command has just triggered it. */
export function watchOne(
  run: Run,
  { isAccepted, isRecorded }: { isAccepted: boolean; isRecorded: boolean },
  flags: CommonWatchFlags,
  { ports, journal }: Opened,
  context: Context,
): Promise<RunReport | StoppedReport> {
  context.emit({ type: 'watching', run, usualMs: usualMs(run.automation, journal) });
  const { giveUpAfterMs, intervalMs } = flags;
  const options = {
    patienceMs: giveUpAfterMs ?? watchPatienceMs,
    isPatienceGiven: giveUpAfterMs !== undefined,
    deadlineMs: deadlineOf(flags, context),
    intervalMs,
    isAccepted,
    isRecorded,
  };
  return watchRun(run, options, ports);
}

/** With `--watch`, watches the run that a trigger has, if it has one. */
export async function watchTriggered(
  report: StartReport,
  flags: CommonWatchFlags,
  opened: Opened,
  context: Context,
): Promise<Report> {
  if (report.kind !== 'run' || !flags.watch) return report;
  const { automation, executionId, trigger } = report;
  const isAccepted = trigger?.started !== 'no';
  // The run of a key that was sent long ago may not be the last one.
  const run = { automation, executionId, isLastRun: isAccepted };
  const watched = await watchOne(run, { isAccepted, isRecorded: true }, flags, opened, context);
  return { ...watched, trigger };
}

const minSamples = 3;
const maxSamples = 9;

/** The median of what the last runs took that completed. Undefined if the journal knows too few. */
export function usualMs(automation: Automation, journal: Journal): number | undefined {
  const took = entriesOrNone(journal.recent)
    .filter((entry) => isSameAutomation(entry.automation, automation))
    .flatMap(({ status }) => {
      const { startedAtMs = Number.NaN, completedAtMs = Number.NaN } = status ?? {};
      const tookMs = completedAtMs - startedAtMs;
      // The service's times may make no sense.
      return status?.status === 'COMPLETED' && tookMs >= 0 ? tookMs : [];
    })
    .slice(-maxSamples)
    .sort((one, other) => one - other);
  return took.length < minSamples ? undefined : took[Math.floor(took.length / 2)];
}

/** Entries, or none if the journal can't be read, which keeps nobody from starting a run. */
export function entriesOrNone(
  read: () => JournalEntry[],
  tell: (why: string) => void = () => {},
): JournalEntry[] {
  try {
    return read();
  } catch (error) {
    tell((error as Error).message);
    return [];
  }
}
