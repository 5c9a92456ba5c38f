import type { Connection } from '../connection/connection.ts';
import { argumentOf } from '../connection/followable.ts';
import type { PolledOnce } from '../connection/poll-once.ts';
import type { ArgumentOutcome, Start } from '../problems/outcome.ts';
import type { RunEvent } from '../run/events.ts';
import { exitNameOfRun, isInterruptName } from '../run/exit-codes.ts';
import type { Problem } from '../run/problem.ts';
import type { Run, Target } from '../run/run.ts';
import type { Execution } from '../run/service.ts';
import { type Evidence, starts } from '../triggering/start-evidence.ts';
import type { Followable } from '../watching/watch-run.ts';
import type { Plan } from './plan.ts';

/** What to trigger. */
export interface StartRequest {
  target: Target;
  body: string; // the exact bytes
  idempotencyKey?: string; // set by the user
}

/** The outcome of a trigger. Its run can be followed as it is. */
export interface StartOutcome extends ArgumentOutcome, Partial<Followable> {
  start: Start;
  pollProblem?: Problem; // why the status of an earlier run isn't known
  isDropped?: true; // the service no longer knows the run, whose end is in the journal
}

/** A trigger that has a run, new or not. */
export type RunStart = StartOutcome & { run: Run };

const startOf = (evidence: Evidence, idempotencyKey: string | null): Start => ({ ...starts[evidence], idempotencyKey });

/** A trigger that was answered with a run. Followed from this answer on, unless the run existed before. */
export function withRun(
  evidence: Evidence,
  idempotencyKey: string,
  { run, ...found }: Pick<RunStart, 'run' | 'execution' | 'known' | 'retryAfterMs' | 'sinceTriggerMs'>,
): StartOutcome {
  const start = startOf(evidence, idempotencyKey);
  return { target: run.target, run, start, ended: endedOf(start, found.execution), ...found };
}

/** How the run that was found ended. A repeated trigger must not turn a failed run into a success. */
const endedOf = ({ how }: Start, execution: Execution | undefined) =>
  execution && (how === 'found' || how === 'replayed') && execution.isFinal ? exitNameOfRun(execution) : 'ok';

/** A trigger whose run existed before, and was polled. */
export function withEarlierRun(
  evidence: Evidence,
  idempotencyKey: string,
  { polled, ...followable }: Followable & { polled: PolledOnce<Execution> },
): StartOutcome {
  if (polled.kind === 'ok') return withRun(evidence, idempotencyKey, { ...followable, execution: polled.value });
  const { problem } = polled;
  const { name } = problem.facts;
  if (name === 'not_found') return withDroppedRun(evidence, idempotencyKey, followable, problem);
  // Another failed poll doesn't matter, because the run is known anyway. Only a signal ends the command.
  const isEnd = isInterruptName(name);
  return {
    ...withRun(evidence, idempotencyKey, followable),
    pollProblem: problem,
    problem: isEnd ? problem : undefined,
  };
}

/** A trigger whose run the service no longer knows. If the run has finished, the journal says how. */
function withDroppedRun(
  evidence: Evidence,
  idempotencyKey: string,
  followable: Followable,
  problem: Problem,
): StartOutcome {
  const execution = followable.seenBefore?.().execution;
  if (execution?.isFinal)
    return {
      ...withRun(evidence, idempotencyKey, { ...followable, execution }),
      pollProblem: problem,
      isDropped: true,
    };
  const hint = 'if you still want this run, trigger again with a new idempotency key';
  return { ...withRun(evidence, idempotencyKey, followable), problem: problem.with({ hint }) };
}

/** A trigger that started no run, or whose outcome is unknown. */
export function withoutRun(target: Target, problem: Problem, idempotencyKey: string | null): StartOutcome {
  const evidence = problem.facts.started === 'unknown' ? 'in_doubt' : 'refused';
  return { target, problem, start: startOf(evidence, idempotencyKey) };
}

/** A trigger that was left out, because a run is active. */
export const skipped = (target: Target, idempotencyKey: string, activeExecutionId?: string): StartOutcome => ({
  target,
  start: startOf('left_active', idempotencyKey),
  activeExecutionId,
});

export const hasRun = (outcome: StartOutcome): outcome is RunStart => outcome.run !== undefined;

export function triggeredEvent(
  { target, run, execution, start }: StartOutcome,
  { watch: isWatched = false }: Pick<Plan, 'watch'>,
  connection: Connection,
): RunEvent {
  const { how, idempotencyKey } = start;
  if (!run) return { event: 'triggered', how, target, isWatched };
  const argument = argumentOf(run, connection);
  return {
    ...{ event: 'triggered', how, run, execution, argument, isWatched },
    idempotencyKey: idempotencyKey ?? undefined,
  };
}
