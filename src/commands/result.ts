import type { Context } from '../context.ts';
import type { Report } from '../run/report.ts';
import { readResult } from '../run/watch-run.ts';
import type { CommandResult } from './command.ts';
import { findRun } from './find-run.ts';
import { readPatienceMs } from './follow.ts';
import { open } from './open.ts';
import { readStatus } from './status.ts';

export interface ResultFlags {
  giveUpAfterMs?: number;
}

/** Prints the output of a run, and exits with the run's code. */
export async function result(
  name: string,
  { giveUpAfterMs = readPatienceMs }: ResultFlags,
  context: Context,
): Promise<CommandResult> {
  const { ports, journal, settings } = await open(context);
  const { run, note, isLastRun } = findRun(name, journal, settings);
  if (note) context.emit({ type: 'note', text: note });
  const report: Report = { ...(await readStatus(run, giveUpAfterMs, ports)), isLastRun };
  if (report.kind !== 'run' || !report.status?.isFinal)
    return { reports: [report], show: 'outputs' };
  const limits = { patienceMs: giveUpAfterMs, deadlineMs: Number.POSITIVE_INFINITY };
  const read = await readResult(run, report.status, limits, ports);
  return { reports: [{ ...read, isLastRun }], show: 'outputs' };
}
