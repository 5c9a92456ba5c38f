import type { Context } from '../context.ts';
import type { Report, RunReport, StoppedReport } from '../core/report.ts';
import type { Run } from '../core/run.ts';
import type { StartReport } from '../core/start-run.ts';
import { minuteMs } from '../core/time.ts';
import { watchRun } from '../core/watch-run.ts';
import { usualDurationMs } from '../journal/history.ts';
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
  context.emit({ type: 'watching', run, usualMs: usualDurationMs(run.automation, journal) });
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
