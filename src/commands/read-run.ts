import { isFromJournal, parseRunArgument } from '../connection/arguments.ts';
import { type ConnectOptions, connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { findRun } from '../connection/find-run.ts';
import type { Invocation } from '../context.ts';
import type { OutputOptions } from '../output/print.ts';
import { interruptNameOf } from '../run/exit-codes.ts';
import { type Fault, isInterruption } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { FoundRun, Operation, Outcome } from '../run/outcome.ts';
import { isNowForgotten, isOutage } from '../watch/ask.ts';
import { namedRuns, sayLastRun } from './named-runs.ts';

// What `status` and `result` share.

/** Finds the run that the argument names. Its connection gives up soon, because somebody waits. */
export async function findToRead(
  argument: string | undefined,
  flags: ConnectOptions & OutputOptions & { exitStatus?: boolean },
  context: Invocation,
) {
  const { texts, isDefault } = namedRuns(argument === undefined ? [] : [argument], flags, context);
  const [text = '@last'] = texts;
  const named = parseRunArgument(text);
  const { giveUpAfter = defaults.readGiveUpAfterMs } = flags;
  const connection = await connect({ ...flags, giveUpAfter }, context, { needed: isFromJournal(named) });
  const found = await findRun(named, connection);
  if (isDefault) sayLastRun(found.run, context);
  return { found, connection };
}

/** The outcome if the status or the result of a run couldn't be read. */
export async function unreadOutcome(
  operation: Operation,
  { run, seen }: FoundRun,
  fault: Fault,
  connection: Connection,
): Promise<Outcome> {
  const about = { target: run.target, run };
  if (isInterruption(fault)) {
    return { kind: 'unread', ...about, operation, fault, interruptedBy: interruptNameOf(connection.signal) };
  }
  const isRecorded = await isNowForgotten(run, fault, connection);
  return {
    kind: 'unread',
    ...about,
    operation,
    fault,
    seen: seen?.(),
    isRecorded,
    isOutage: isOutage(fault, connection),
  };
}
