import { isFromJournal, parseRunArgument } from '../connection/arguments.ts';
import { type ConnectOptions, connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { findRun } from '../connection/find-run.ts';
import type { CommandContext } from '../context.ts';
import type { OutputOptions } from '../output/command-result.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { type Fault, isInterruption } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Outcome, RunHandle } from '../run/outcome.ts';
import type { RunResource } from '../run/service.ts';
import { recordNotFoundIfOwn } from '../watch/fetch-run.ts';
import { isOutage } from '../watch/outage.ts';
import { namedRuns, printLastRun } from './named-runs.ts';

// Functions that `status` and `result` share.

/**
 * Finds the run that the argument names. Requests of this connection give up after 30 seconds by
 * default, because a person waits for the answer.
 */
export async function findToRead(
  argument: string | undefined,
  flags: ConnectOptions & OutputOptions & { exitStatus?: boolean },
  context: CommandContext,
) {
  const { texts, isDefault } = namedRuns(argument === undefined ? [] : [argument], flags, context);
  const [text = '@last'] = texts;
  const named = parseRunArgument(text);
  const { giveUpAfter = defaults.readGiveUpAfterMs } = flags;
  const connection = await connect({ ...flags, giveUpAfter }, context, {
    needed: isFromJournal(named),
  });
  const handle = await findRun(named, connection);
  if (isDefault) printLastRun(handle.run, context);
  return { handle, connection };
}

/** The outcome if the status or the result of a run couldn't be read. */
export async function requestFailedOutcome(
  resource: RunResource,
  { run, lastConfirmed }: RunHandle,
  fault: Fault,
  connection: Connection,
): Promise<Outcome> {
  if (isInterruption(fault)) {
    const interruptedBy = exitNameOfSignal(connection.signal);
    return { kind: 'request_failed', run, resource, fault, interruptedBy };
  }
  return {
    kind: 'request_failed',
    run,
    resource,
    fault,
    startedWithThisApiKey: await recordNotFoundIfOwn(run, fault, connection),
    lastConfirmed: lastConfirmed?.(),
    isOutage: isOutage(fault, connection),
  };
}
