import { type Connection, outageOf } from '../connection/connection.ts';
import type { UnresolvedTrigger } from '../journal/journal.ts';
import { triggerProblem } from '../problems/trigger-problems.ts';
import type { UnknownTrigger } from '../problems/unknown-outcome.ts';
import type { Problem } from '../run/problem.ts';
import type { FailedTrigger, TriggerIdentity } from '../triggering/send-until-known.ts';

/** Why a trigger has no known run, and what to do about it. */
export function problemOfTrigger(result: FailedTrigger, identity: TriggerIdentity, connection: Connection): Problem {
  const { journal, ignoresKeys, context } = connection;
  // `recover` can only resolve what is in the journal.
  const recorded = mayHaveStarted(result) ? journal.findKey(identity) : undefined;
  const unknown =
    recorded?.state === 'open' ? unknownTriggerOf(recorded.trigger, connection) : { ...identity, ignoresKeys };
  const problem = triggerProblem(result, unknown, context.signal);
  const outage = result.kind === 'refused' && outageOf(result.fault, connection);
  return outage ? problem.with({ hint: `${outage}; \`runctl doctor\` finds the cause` }) : problem;
}

const mayHaveStarted = (result: FailedTrigger) =>
  result.kind === 'interrupted' ? result.mayHaveStarted : result.kind === 'unknown';

/** The facts for messages about a trigger without a known outcome. */
export function unknownTriggerOf(
  trigger: UnresolvedTrigger,
  { journal, baseUrl, ignoresKeys }: Connection,
): UnknownTrigger {
  const { target, idempotencyKey, at, ageMs, conflict } = trigger;
  const active = conflict?.activeExecutionId && journal.find(conflict.activeExecutionId, { baseUrl });
  return {
    ...{ target, idempotencyKey, ...conflict },
    isOthersRun: Boolean(active && active.idempotencyKey !== null && active.idempotencyKey !== idempotencyKey),
    recorded: { atMs: Number.isFinite(ageMs) ? Date.parse(at) : undefined, ageMs },
    hasMetConflict: conflict !== undefined,
    ignoresKeys,
  };
}
