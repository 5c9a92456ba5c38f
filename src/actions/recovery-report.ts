import { exitNameOfRun } from '../problems/exit-codes.ts';
import { inDoubtProblem, type Problem } from '../problems/problem.ts';
import { refusedTriggerProblem } from '../problems/trigger-problems.ts';
import type { DocumentFacts } from '../render/document.ts';
import { defaults } from '../runs/defaults.ts';
import type { allResolutions } from '../runs/events.ts';
import { reasonOf } from '../runs/fault.ts';
import { isFinal, nameOf, type Run } from '../runs/run.ts';
import { utcTime } from '../runs/utc-time.ts';
import type { Connection } from '../session/connection.ts';
import { argumentOf } from '../session/run-to-poll.ts';
import type { RecoverFlags, Recovery } from './recover-triggers.ts';

/** How a trigger was resolved, for people and for programs. */
export interface RecoveryReport {
  sentence: string;
  run?: Run;
  problem?: Problem; // if the trigger stays unresolved
  facts: DocumentFacts;
}

/** A run that was found doesn't change the exit code, whatever its status. */
export function reportOfRecovery(recovery: Recovery, flags: RecoverFlags, connection: Connection): RecoveryReport {
  const { dryRun, resend, maxAgeMs = defaults.recoverMaxAgeMs } = flags;
  const { target, idempotencyKey, at, reason } = recovery.trigger;
  const about = `the trigger of ${nameOf(target)} at ${utcTime(at)}`;
  const untilMs = Date.parse(at) + maxAgeMs;
  const until = recovery.kind === 'unresolved' ? { until: new Date(untilMs).toISOString() } : {};
  const resolution: (typeof allResolutions)[number] = recovery.kind;
  const report = { recover: { at, resolution, reason: reason ?? null, ...until } };
  const facts = { idempotencyKey, safeToRepeat: !resend, reruns: [] };
  const withoutRun = (sentence: string, problem?: Problem): RecoveryReport => {
    const trigger = { how: 'unknown', started: 'unknown', ...facts } as const;
    return { sentence, problem, facts: { target, problem, exitName: dryRun ? 'ok' : undefined, report, trigger } };
  };
  switch (recovery.kind) {
    case 'found': {
      const { execution, how, started } = recovery.start;
      const { executionId, status } = execution;
      const run = { target, executionId };
      // A service may repeat its first response, in which the run is RUNNING.
      const end = isFinal(target, status) ? `, which finished ${status}` : '';
      const sentence =
        how === 'recovered'
          ? `${about} had started run ${executionId}${end}`
          : `${about} was sent again${started === 'yes' ? ` and started run ${executionId}` : `; its run is ${executionId}`}`;
      const outcome = isFinal(target, status) ? exitNameOfRun(run, status) : 'ok';
      const trigger = { how, started, ...facts };
      const argument = argumentOf(run, connection);
      return { sentence, run, facts: { run, execution, outcome, exitName: 'ok', argument, report, trigger } };
    }
    case 'refused': {
      const sentence = `${about} started no run: ${reasonOf(recovery.fault)}`;
      const problem = refusedTriggerProblem(recovery.fault, { target });
      const trigger = { how: 'not_started', started: 'no', ...facts } as const;
      return { sentence, facts: { target, problem, exitName: 'ok', report, trigger } };
    }
    case 'superseded':
      return withoutRun(`${about} isn't sent again: a later trigger of ${nameOf(target)} has a run`);
    case 'unresolved': {
      const why = reason ?? 'its process exited before the response arrived';
      return withoutRun(`${about} would be sent again, until ${utcTime(untilMs)} (${why})`);
    }
    case 'left': {
      const message = `${about} is still being sent by another process`;
      return withoutRun(message, inDoubtProblem({ message }));
    }
    case 'failed':
      return withoutRun(`${about} is unresolved: ${recovery.problem.message}`, recovery.problem);
    default:
      return withoutRun(recovery.problem.message, recovery.problem);
  }
}
