import type { Context } from '../context.ts';
import { type Failure, rowOf } from '../run/failure.ts';
import type { Ports } from '../run/ports.ts';
import type { RunReport, UnreadableReport } from '../run/report.ts';
import { retry } from '../run/retry.ts';
import type { Run } from '../run/run.ts';
import type { CommandResult } from './command.ts';
import { findRun } from './find-run.ts';
import { readPatienceMs, usualMs } from './follow.ts';
import { open } from './open.ts';

export interface StatusFlags {
  exitStatus?: boolean;
  giveUpAfterMs?: number;
}

/** Prints the current status of a run. */
export async function status(
  name: string,
  { exitStatus = false, giveUpAfterMs = readPatienceMs }: StatusFlags,
  context: Context,
): Promise<CommandResult> {
  const { ports, journal, settings } = await open(context);
  const { run, note, isLastRun } = findRun(name, journal, settings);
  if (note) context.emit({ type: 'note', text: note });
  const report = { ...(await readStatus(run, giveUpAfterMs, ports)), isLastRun };
  if (report.kind === 'unreadable') return { reports: [report], show: 'status' };
  const usual = usualMs(run.automation, journal);
  return { reports: [{ ...report, decidesExitCode: exitStatus, usualMs: usual }], show: 'status' };
}

/** Asks for the status of a run until there is a valid answer, and records it. */
export async function readStatus(
  run: Run,
  patienceMs: number,
  ports: Ports,
): Promise<RunReport | UnreadableReport> {
  const { automation } = run;
  const answer = await retry(
    (timeoutMs) => ports.service.status(run, timeoutMs),
    {
      patienceMs,
      deadlineMs: Number.POSITIVE_INFINITY,
      mayRetry: (failed: Failure) => rowOf(failed).retry,
      onRetry: (failed, times) =>
        ports.emit({ type: 'retry', automation, failure: failed, ...times }),
    },
    ports,
  );
  if (!answer.ok) return { kind: 'unreadable', ...run, failure: answer.failure };
  ports.journal.appendStatus(run, answer.value);
  return { kind: 'run', ...run, status: answer.value };
}
