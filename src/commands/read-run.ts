import type { Connection } from '../connection/connection.ts';
import { interruptNameOf } from '../run/exit-codes.ts';
import { type Fault, isInterruption } from '../run/fault.ts';
import type { FoundRun, Operation, Outcome } from '../run/outcome.ts';
import { isNowForgotten, isOutage } from '../watch/ask.ts';

// What `status` and `result` share.

/** The outcome if the status or the result of a run couldn't be read. */
export async function unreadOutcome(
  operation: Operation,
  { run, seen }: FoundRun,
  fault: Fault,
  connection: Connection,
): Promise<Outcome> {
  const about = { target: run.target, run };
  if (isInterruption(fault)) {
    const interruptedBy = interruptNameOf(connection.signal);
    return { kind: 'stopped', ...about, end: { kind: 'interrupted' }, interruptedBy };
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
