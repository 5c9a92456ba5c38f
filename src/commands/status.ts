import type { Context } from '../context.ts';
import { readStatus } from '../core/watch-run.ts';
import { usualDurationMs } from '../journal/history.ts';
import { findRun } from './arguments.ts';
import type { CommandResult } from './command.ts';
import { open } from './open.ts';
import { readPatienceMs } from './watch-one.ts';

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
  const opened = await open(context);
  const { run, isRecorded } = findRun(name, opened, context.emit);
  // A service may not find a run that it has just started.
  const report = await readStatus(run, { patienceMs: giveUpAfterMs, isRecorded }, opened.ports);
  if (report.kind === 'unreadable') return { reports: [report], show: 'status' };
  const usualMs = usualDurationMs(run.automation, opened.journal);
  return { reports: [{ ...report, decidesExitCode: exitStatus, usualMs }], show: 'status' };
}
