import type { Context } from '../context.ts';
import { exitCodeOf } from '../problems/exit-codes.ts';
import { documentOf } from '../render/document.ts';
import { linesOf, type OutputOptions, printDocuments, themeOf, wantsData } from '../render/output.ts';
import { statusBlock } from '../render/status-block.ts';
import { endingOf, isFinal, type Run } from '../runs/run.ts';
import { parseRunArgument } from '../session/arguments.ts';
import { type Connection, type ConnectOptions, connect } from '../session/connect.ts';
import { findRun, type KnownRun, type RunFlags } from '../session/find-run.ts';
import { lookAt } from '../session/poll-once.ts';

export interface StatusOptions extends ConnectOptions, RunFlags, OutputOptions {
  giveUpAfterMs?: number;
  exitStatus?: boolean;
}

/** `runctl status [run]`: one look at a run. */
export async function status(runArgument: string, options: StatusOptions, context: Context): Promise<number> {
  const named = parseRunArgument(runArgument);
  const connection = await connect(options, context, { needed: named.kind === 'last' });
  const known = findRun(named, options, connection);
  return showStatus(known, options, connection, context);
}

export async function showStatus(
  known: KnownRun,
  options: StatusOptions,
  connection: Connection,
  context: Context,
): Promise<number> {
  const execution = await lookAt('status', known, options, connection, context);
  connection.journal.recordStatus(connection.baseUrl, known.run, execution);
  if (wantsData(options)) printDocuments([documentOf({ ...known, execution })], options, context);
  else if (!options.quiet || (options.exitStatus && exitStatusOf(known.run, execution.status) !== 0)) {
    const theme = await themeOf(context.stdout, context);
    context.stdout.write(statusBlock(known.run, execution, context.clock.nowMs(), theme, linesOf(context.stdout)));
  }
  return options.exitStatus ? exitStatusOf(known.run, execution.status) : 0;
}

/** `--exit-status`: the run's own code, and 124 for a run still going. */
export function exitStatusOf({ target }: Run, state: string): number {
  return exitCodeOf(isFinal(target, state) ? endingOf(state) : 'watch_timeout');
}
