import type { Context } from '../context.ts';
import type { JournalEntry } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunReport, StoppedReport } from '../run/report.ts';
import { type Automation, isSameAutomation, type Run } from '../run/run.ts';
import { watchRun } from '../run/watch-run.ts';
import type { Opened } from './open.ts';

/** The flags of commands that follow a run. */
export interface FollowFlags {
  /** 0: never. */
  timeoutMs?: number;
  intervalMs?: number;
  giveUpAfterMs?: number;
}

/** The patience to trigger and to follow. */
export const followPatienceMs = 600_000;
/** The patience of the commands that ask once. */
export const readPatienceMs = 30_000;
const defaultTimeoutMs = 195 * 60_000;

/** When `--timeout` expires, by `clock.elapsedMs`. */
export function deadlineOf({ timeoutMs = defaultTimeoutMs }: FollowFlags, { clock }: Context) {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.elapsedMs() + timeoutMs;
}

/** Follows a run until it finishes. `isAccepted`: this command has just triggered it. */
export function follow(
  run: Run,
  { isAccepted, isRecorded }: { isAccepted: boolean; isRecorded: boolean },
  flags: FollowFlags,
  { ports, journal }: Opened,
  context: Context,
): Promise<RunReport | StoppedReport> {
  context.emit({ type: 'following', run, usualMs: usualMs(run.automation, journal) });
  const { giveUpAfterMs, intervalMs } = flags;
  const options = {
    patienceMs: giveUpAfterMs ?? followPatienceMs,
    isPatienceGiven: giveUpAfterMs !== undefined,
    deadlineMs: deadlineOf(flags, context),
    intervalMs,
    isAccepted,
    isRecorded,
  };
  return watchRun(run, options, ports);
}

const minSamples = 3;
const maxSamples = 9;

/** The median of what the last runs took that completed. Undefined if the journal knows too few. */
export function usualMs(automation: Automation, journal: Journal): number | undefined {
  return usualOf(automation, readableEntries(journal));
}

export function usualOf(
  automation: Automation,
  entries: readonly JournalEntry[],
): number | undefined {
  const took = entries
    .filter((entry) => isSameAutomation(entry.automation, automation))
    .flatMap(({ status }) => (status?.status === 'COMPLETED' ? (tookMs(status) ?? []) : []))
    .slice(-maxSamples)
    .sort((one, other) => one - other);
  return took.length < minSamples ? undefined : took[Math.floor(took.length / 2)];
}

/** How long a run took. Undefined if the service didn't say, or if the times make no sense. */
export function tookMs(times: { startedAtMs?: number; completedAtMs?: number }) {
  const { startedAtMs, completedAtMs } = times;
  if (startedAtMs === undefined || completedAtMs === undefined) return undefined;
  return completedAtMs < startedAtMs ? undefined : completedAtMs - startedAtMs;
}

/** The recent entries, or none if the journal can't be read, for what it only makes nicer. */
export function readableEntries(journal: Journal): JournalEntry[] {
  try {
    return journal.recent();
  } catch {
    return [];
  }
}
