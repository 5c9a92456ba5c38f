import type { Context } from '../context.ts';
import { readResult, readStatus } from '../core/watch-run.ts';
import { findRun } from './arguments.ts';
import type { CommandResult } from './command.ts';
import { open } from './open.ts';
import { readPatienceMs } from './watch-one.ts';

export interface ResultFlags {
  giveUpAfterMs?: number;
}

/** Prints the output of a run, and exits with the run's code. */
export async function result(
  name: string,
  { giveUpAfterMs: patienceMs = readPatienceMs }: ResultFlags,
  context: Context,
): Promise<CommandResult> {
  const opened = await open(context);
  const { run, isRecorded } = findRun(name, opened, context.emit);
  const report = await readStatus(run, { patienceMs, isRecorded }, opened.ports);
  const { status } = report;
  if (!status?.isFinal) return { reports: [report], show: 'outputs' };
  const finished = await readResult(run, status, { patienceMs }, opened.ports);
  return { reports: [finished], show: 'outputs' };
}
