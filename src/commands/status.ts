import type { Context } from '../context.ts';
import { exitCodeOf, exitNameOfStatus } from '../problems/exit-codes.ts';
import { documentOf } from '../render/document.ts';
import { linesOf, type OutputOptions, printDocuments, themeOf, wantsData } from '../render/output.ts';
import { statusBlock } from '../render/status-block.ts';
import { isFinal, type Run } from '../runs/run.ts';
import { parseRunArgument } from '../session/arguments.ts';
import { type ConnectOptions, connect } from '../session/connect.ts';
import { findRun, type KnownRun, type RunFlags } from '../session/find-run.ts';
import { pollOnce } from '../session/poll-once.ts';
import type { Session } from '../session/session.ts';

export interface StatusOptions extends ConnectOptions, RunFlags, OutputOptions {
  giveUpAfterMs?: number;
  exitStatus?: boolean;
}

/** `runctl status [run]`: the current status of a run. */
export async function status(runArgument: string, options: StatusOptions, context: Context): Promise<number> {
  const named = parseRunArgument(runArgument);
  const session = await connect(options, context, { needed: named.kind === 'last' });
  return showStatus(findRun(named, options, session), options, session);
}

/** Polls a run and prints its status. Throws a `Problem` where that fails. */
export async function showStatus(known: KnownRun, options: StatusOptions, session: Session): Promise<number> {
  const { context, journal, baseUrl } = session;
  const polled = await pollOnce('status', known, options, session);
  if (polled.kind === 'failed') throw polled.problem;
  const execution = polled.value;
  journal.recordStatus(baseUrl, known.run, execution);
  if (wantsData(options)) printDocuments([documentOf({ ...known, execution })], options, context);
  else if (!options.quiet || (options.exitStatus && exitStatusOf(known.run, execution.status) !== 0)) {
    const theme = await themeOf(context.stdout, context);
    context.stdout.write(statusBlock(known.run, execution, context.clock.nowMs(), theme, linesOf(context.stdout)));
  }
  return options.exitStatus ? exitStatusOf(known.run, execution.status) : 0;
}

/** `--exit-status`: the run's own code, and 124 for a run that has not finished. */
export function exitStatusOf({ target }: Run, status: string): number {
  return exitCodeOf(isFinal(target, status) ? exitNameOfStatus(status) : 'watch_timeout');
}
